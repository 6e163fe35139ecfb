import type { IncomingMessage } from 'node:http';
import { ARTIFACT_NAME, mayHaveArtifact } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { scannedKind } from '@adsweep/shared/capture/scanned-kind.ts';
import {
  CAPTURE_WITH_FILES_BYTES_MAX,
  ENVELOPE_BYTES,
  filesIn,
  SENT_FILES_BYTES_MAX,
  type SentFile,
  unpackCapture,
} from '@adsweep/shared/lease/capture-with-files.ts';
import { JOB_LIMITS, SHARED_JOBS } from '@adsweep/shared/lease/job-limits.ts';
import {
  type Complete,
  CompleteSchema,
  type CompleteWithFiles,
  CompleteWithFilesSchema,
  type Fail,
  FailSchema,
  UploadedSchema,
} from '@adsweep/shared/lease/messages.ts';
import { CAPTURE_VALUES_MAX } from '@adsweep/shared/limits.ts';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { type TSchema, Type } from 'typebox';
import { ApiError, refused } from '../../http/api-error.ts';
import type { ErrorCode } from '../../http/errors.ts';
import { type BodyBounds, parseJson, refusedBody } from '../../http/read-body.ts';
import { type Answer, noContent, ok, type Route, route } from '../../http/route.ts';
import type { WorkMetrics } from '../../metrics.ts';
import type { DiskSpace } from '../../platform/disk-space.ts';
import { isStorageProblem } from '../../platform/objects/object-store.ts';
import { PerOwnerLimit } from '../../platform/per-owner-limit.ts';
import { runsUnder } from '../../scan/advance.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { ArtifactKept, ArtifactRefused } from '../../scanning/artifacts/artifact.ts';
import { type AcceptDependencies, acceptCapture } from '../captures/accept-capture.ts';
import { captureIdOf } from '../captures/capture-record.ts';
import type { Attempt } from '../captures/store-evidence.ts';
import { closeLease } from '../leases/close-lease.ts';
import { type EndDependencies, endAttempt } from '../leases/end-attempt.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import {
  CAPTURE_BODY,
  leaseLost,
  leaseOf,
  memberOf,
  memberParams,
  type NodeCaller,
  refuseLarger,
  resultsOf,
} from './admit-node.ts';

export type UploadDependencies = AcceptDependencies &
  EndDependencies & {
    scans: Pick<ScanStore, 'setLoaded'>;
    disk: DiskSpace;
    metrics: EndDependencies['metrics'] & Pick<WorkMetrics, 'leases' | 'lateResults' | 'uploadedBytes'>;
  };

/**
 * Routes by which a node reports on one member: that its target was requested, then the files, then the capture that
 * names them, or the failure.
 */
export function uploadRoutes(dependencies: UploadDependencies): Route<NodeCaller>[] {
  return [
    reportLoaded(dependencies),
    uploadArtifact(dependencies),
    completeMember(dependencies),
    completeWithFiles(dependencies),
    failMember(dependencies),
  ];
}

/**
 * A scan whose target was requested stays charged if it is cancelled, although its attempt has no result: it was
 * released, or its node lost.
 */
function reportLoaded(dependencies: UploadDependencies): Route<NodeCaller> {
  return route({
    method: 'POST',
    path: '/node/v1/leases/{id}/scans/{scan}/loaded',
    group: 'Leases',
    summary: 'Report that a request to the target was sent',
    permission: 'lease',
    params: memberParams,
    replies: { 204: { description: 'Done, now or before.' } },
    errors: ['not_found', 'lease.lost'],
    handle: async ({ caller, params }: { caller: NodeCaller; params: { scan: string } }) => {
      const lease = leaseOf(caller);
      if (!(await dependencies.scans.setLoaded(lease, params.scan, lease.fence))) {
        await memberOf(dependencies, lease, params.scan);
        throw leaseLost(dependencies.metrics, 'loaded');
      }
      return noContent();
    },
  });
}

/** Files of a node that are received at once: further ones wait for those of the same node alone. */
const FILES_AT_ONCE = 32;

function uploadArtifact(dependencies: UploadDependencies): Route<NodeCaller> {
  // Files on their way fill the disk, and for a bucket the memory, before those of their attempt are counted; and each
  // is inspected.
  const arriving = new PerOwnerLimit(FILES_AT_ONCE);
  return route({
    method: 'PUT',
    path: '/node/v1/leases/{id}/scans/{scan}/artifacts/{name}',
    group: 'Leases',
    summary: 'Upload a file of the attempt',
    permission: 'lease',
    params: Type.Object({ ...memberParams.properties, name: Type.String({ pattern: ARTIFACT_NAME }) }),
    replies: { 200: { description: 'The stored file.', schema: UploadedSchema } },
    errors: ['not_found', 'lease.lost', 'request_too_large', 'storage.full', 'unavailable', 'validation_error'],
    handle: async ({
      caller,
      params,
      stream,
    }: {
      caller: NodeCaller;
      params: { scan: string; name: string };
      stream: IncomingMessage;
    }) => {
      const lease = leaseOf(caller);
      const scan = await memberOf(dependencies, lease, params.scan);
      const sender = await admitUpload(dependencies, lease, scan, params.name, stream);
      const { name, sha256, bytes } = await arriving.run(sender, () =>
        receive(dependencies, lease, scan, params.name, stream),
      );
      dependencies.metrics.uploadedBytes.inc(bytes);
      return ok({ name, sha256, bytes });
    },
  });
}

function completeMember(dependencies: UploadDependencies): Route<NodeCaller> {
  return endOfAttempt<Complete>(dependencies, {
    verb: 'complete',
    summary: 'Submit the capture, which ends the attempt',
    body: CompleteSchema,
    done: 'Accepted, now or before.',
    errors: ['validation_error'],
    async end(attempt, { capture }, now) {
      const outcome = await acceptCapture(dependencies, attempt, { capture }, now);
      return outcome === 'accepted' ? 'completed' : outcome;
    },
  });
}

function completeWithFiles(dependencies: UploadDependencies): Route<NodeCaller> {
  const { disk, metrics } = dependencies;
  return endOfAttempt<CaptureWithFiles>(dependencies, {
    verb: 'complete',
    path: 'complete-with-files',
    summary: 'Submit the capture with its files, which ends the attempt',
    body: CAPTURE_WITH_FILES,
    parseBody: parseCaptureWithFiles,
    bodyBounds: { bytes: CAPTURE_WITH_FILES_BYTES_MAX, values: CAPTURE_VALUES_MAX },
    filesBytesMax: SENT_FILES_BYTES_MAX,
    done: 'Accepted, now or before.',
    errors: ['validation_error', 'storage.full'],
    async end(attempt, { capture, files: listed, content }, now) {
      const files = filesIn(listed, content);
      if (!files) throw refusedArtifact('The files are not as long as their sizes say.');
      requireFiles(attempt.scan, capture, files);
      await disk.requireFree();
      const outcome = await acceptCapture(dependencies, attempt, { capture, files }, now).catch(refuseArtifact);
      if (outcome !== 'accepted') return outcome;
      metrics.uploadedBytes.inc(content.length);
      return 'completed';
    },
  });
}

/** A capture and the content of its files. */
type CaptureWithFiles = CompleteWithFiles & { content: Buffer };
const CAPTURE_WITH_FILES = Type.Object(
  { ...CompleteWithFilesSchema.properties, content: Type.Unknown() },
  { additionalProperties: false },
);

/** The JSON is bounded and parsed like that of a capture without files. */
async function parseCaptureWithFiles(body: Buffer, bounds: BodyBounds): Promise<unknown> {
  const parts = unpackCapture(body);
  if (!parts) throw refusedBody('json_invalid', 'The body is shorter than it says.');
  if (parts.json.length > CAPTURE_BODY.bytes) throw new ApiError('request_too_large', 'The capture is too large.');
  const value = await parseJson(parts.json, bounds);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ...value, content: parts.content }
    : value;
}

/** Throws if the scan may not have such files, or so many or so large ones. */
function requireFiles(scan: ScanRecord, { artifacts }: Capture, sent: readonly SentFile[]): void {
  const limits = JOB_LIMITS[scan.job_kind];
  for (const { name } of sent) requireArtifact(scan, name);
  if (new Set(sent.map(({ name }) => name)).size < sent.length) throw refusedArtifact('A file was sent twice.');
  if (Math.max(sent.length, artifacts.length) > limits.artifacts) throw tooManyArtifacts(limits.artifacts);
  if (sent.some(({ bytes }) => bytes.length > limits.artifact_bytes))
    throw new ApiError('request_too_large', `An artifact has at most ${limits.artifact_bytes} bytes.`);
}

/** Throws if the scan has no file of this name. */
function requireArtifact(scan: ScanRecord, name: string): void {
  const kind = scannedKind(scan);
  if (!mayHaveArtifact(kind, name)) throw refusedArtifact(`A scan of kind ${kind} has no ${name}.`);
}

const tooManyArtifacts = (max: number): ApiError => refusedArtifact(`An attempt has at most ${max} artifacts.`);

function failMember(dependencies: UploadDependencies): Route<NodeCaller> {
  return endOfAttempt<Fail>(dependencies, {
    verb: 'fail',
    summary: 'End an attempt that failed, with the evidence so far',
    body: FailSchema,
    done: 'Done.',
    async end(attempt, failure, now) {
      return (await endAttempt(dependencies, attempt, failure, now)) === 'lost' ? 'lost' : 'failed';
    },
  });
}

type AttemptEnd<Body> = {
  verb: 'complete' | 'fail';
  /** The last segment of its path; absent: the verb. */
  path?: string;
  summary: string;
  body: TSchema;
  parseBody?: Route['parseBody'];
  bodyBounds?: BodyBounds;
  /** The most bytes of the files in the body. */
  filesBytesMax?: number;
  /** Describes the response, which has no body. */
  done: string;
  errors?: ErrorCode[];
  /**
   * Ends the attempt. `lost`: the scan is not leased under this fence; `repeated`: it had ended before and is not
   * counted again.
   */
  end(attempt: Attempt, body: Body, now: Date): Promise<'lost' | 'completed' | 'failed' | 'repeated'>;
};

/**
 * The common part of complete and fail: each ends a member, and closes the lease if it was the last one. Once the lease
 * has ended, the body is not read: its token stays valid, and a capture costs more than anything else that a node
 * sends.
 */
function endOfAttempt<Body>(dependencies: UploadDependencies, about: AttemptEnd<Body>): Route<NodeCaller> {
  const { verb, path = verb, summary, body: schema, parseBody, bodyBounds = CAPTURE_BODY, filesBytesMax = 0 } = about;
  const { done, errors = [], end } = about;
  const { metrics } = dependencies;
  return route({
    method: 'POST',
    path: `/node/v1/leases/{id}/scans/{scan}/${path}`,
    group: 'Leases',
    summary,
    permission: 'lease',
    params: memberParams,
    body: schema,
    bodyBounds,
    ...(parseBody && { parseBody }),
    beforeBody: async ({ caller, params, stream }) => {
      const lease = leaseOf(caller);
      const scan = await memberOf(dependencies, lease, params.scan);
      if (!runsUnder(scan, lease.fence)) return { answer: await answerAfterEnd(dependencies, lease, scan, verb) };
      refuseLarger(stream, JOB_LIMITS[scan.job_kind].capture_bytes + ENVELOPE_BYTES + filesBytesMax, 'A capture');
      return { sender: resultsOf(scan.lease.node_id), about: scan };
    },
    replies: { 204: { description: done } },
    errors: ['not_found', 'lease.lost', 'request_too_large', ...errors],
    handle: async ({ caller, body, about }) => {
      const lease = leaseOf(caller);
      const scan = about as ScanRecord;
      const outcome = await end({ scan: scan, fence: lease.fence }, body as Body, new Date());
      const isOver = outcome === 'completed' && !SHARED_JOBS.has(scan.job_kind);
      await closeLease(dependencies, lease, new Date(), { open: isOver ? [] : null });
      if (outcome === 'lost') throw leaseLost(metrics, verb);
      if (outcome !== 'repeated') metrics.leases.inc({ outcome });
      return noContent();
    },
  });
}

/**
 * The answer to a report on a member that does not run under this lease any more: 204 where its capture was accepted
 * and this repeats it. Closes the lease, as the process that ended the member may have failed before that.
 */
async function answerAfterEnd(
  dependencies: UploadDependencies,
  lease: LeaseRef,
  scan: ScanRecord,
  verb: AttemptEnd<unknown>['verb'],
): Promise<Answer> {
  await closeLease(dependencies, lease, new Date());
  const isAccepted = scan.capture?.id === captureIdOf({ scanId: scan._id, fence: lease.fence });
  if (verb === 'complete' && isAccepted) return noContent();
  throw leaseLost(dependencies.metrics, verb);
}

/**
 * Refuses an upload before reading it: a lease that has ended must not replace files that were accepted under it.
 * Returns the name of the node that has the lease.
 */
async function admitUpload(
  { artifacts, disk, metrics }: UploadDependencies,
  { fence }: LeaseRef,
  scan: ScanRecord,
  name: string,
  stream: IncomingMessage,
): Promise<string> {
  const limits = JOB_LIMITS[scan.job_kind];
  refuseLarger(stream, limits.artifact_bytes, 'An artifact');
  requireArtifact(scan, name);
  if (!runsUnder(scan, fence)) throw leaseLost(metrics, 'upload');
  await disk.requireFree();
  const names = (await artifacts.listOf({ scanId: scan._id, fence })).map((artifact) => artifact.name);
  if (names.length >= limits.artifacts && !names.includes(name)) throw tooManyArtifacts(limits.artifacts);
  return scan.lease.node_id;
}

async function receive(
  { artifacts, metrics }: UploadDependencies,
  { fence }: LeaseRef,
  { _id, job_kind }: ScanRecord,
  name: string,
  stream: IncomingMessage,
) {
  if (stream.destroyed) throw new ConnectionLost(undefined);
  try {
    const { artifact_bytes: bytesMax, artifacts: filesMax } = JOB_LIMITS[job_kind];
    return await artifacts.receive({ scanId: _id, fence }, name, stream, { bytesMax, filesMax }, new Date());
  } catch (error) {
    if (error instanceof ArtifactRefused) refuseArtifact(error);
    if (error instanceof ArtifactKept) throw leaseLost(metrics, 'upload');
    throw stream.readableAborted && !isStorageProblem(error) ? new ConnectionLost(error) : error;
  }
}

/** Throws the response for a refused artifact, or any other error as it is. */
function refuseArtifact(error: unknown): never {
  if (!(error instanceof ArtifactRefused)) throw error;
  throw error.tooLarge ? new ApiError('request_too_large', error.message) : refusedArtifact(error.message);
}

function refusedArtifact(msg: string): ApiError {
  return refused([{ loc: ['body'], msg, type: 'artifact_refused', ctx: {} }]);
}
