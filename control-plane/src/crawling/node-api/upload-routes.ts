import type { IncomingMessage } from 'node:http';
import { ARTIFACT_NAME, mayHaveArtifact } from '@adsweep/shared/capture/artifacts.ts';
import { scannedKind } from '@adsweep/shared/capture/scanned-kind.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import {
  type Complete,
  CompleteSchema,
  type Fail,
  FailSchema,
  UploadedSchema,
} from '@adsweep/shared/lease/messages.ts';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { type TSchema, Type } from 'typebox';
import { ApiError, refused } from '../../http/api-error.ts';
import type { ErrorCode } from '../../http/errors.ts';
import { noContent, ok, type Route, route } from '../../http/route.ts';
import type { WorkMetrics } from '../../metrics.ts';
import type { DiskSpace } from '../../platform/disk-space.ts';
import { isStorageProblem } from '../../platform/objects/object-store.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { ArtifactKept, ArtifactRefused } from '../../scanning/artifacts/artifact.ts';
import { type AcceptDependencies, acceptCapture } from '../captures/accept-capture.ts';
import { closeLease } from '../leases/close-lease.ts';
import { type EndDependencies, endAttempt } from '../leases/end-attempt.ts';
import { isOnlyMember, runsUnder } from '../leases/job-members.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import {
  CAPTURE_BODY,
  ENVELOPE_BYTES,
  leaseLost,
  leaseOf,
  memberOf,
  memberParams,
  type NodeCaller,
  refuseLarger,
} from './admit-node.ts';

export type UploadDependencies = AcceptDependencies &
  EndDependencies & {
    scans: Pick<ScanStore, 'setLoaded'>;
    disk: DiskSpace;
    metrics: EndDependencies['metrics'] & Pick<WorkMetrics, 'leases' | 'lateResults' | 'uploadedBytes'>;
  };

/** Routes by which a node reports on one member: that its target was requested, then the files, then the capture that names them, or the failure. */
export function uploadRoutes(dependencies: UploadDependencies): Route<NodeCaller>[] {
  return [
    reportLoaded(dependencies),
    uploadArtifact(dependencies),
    completeMember(dependencies),
    failMember(dependencies),
  ];
}

/** A scan whose target was requested stays charged if it is cancelled, although its attempt has no result: it was released, or its node lost. */
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

function uploadArtifact(dependencies: UploadDependencies): Route<NodeCaller> {
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
      await mayUpload(dependencies, lease, scan, params.name, stream);
      const { name, sha256, bytes } = await receive(dependencies, lease, scan, params.name, stream);
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
    async end(scan, fence, { capture }, now) {
      const outcome = await acceptCapture(dependencies, scan, fence, capture, now);
      return outcome === 'accepted' ? 'completed' : outcome;
    },
  });
}

function failMember(dependencies: UploadDependencies): Route<NodeCaller> {
  return endOfAttempt<Fail>(dependencies, {
    verb: 'fail',
    summary: 'End an attempt that failed, with the evidence so far',
    body: FailSchema,
    done: 'Done.',
    async end(scan, fence, failure, now) {
      return (await endAttempt(dependencies, scan, fence, failure, now)) === 'lost' ? 'lost' : 'failed';
    },
  });
}

type AttemptEnd<Body> = {
  verb: 'complete' | 'fail';
  summary: string;
  body: TSchema;
  /** Describes the response, which has no body. */
  done: string;
  errors?: ErrorCode[];
  /** Ends the attempt. `lost`: the scan is not leased under this fence; `repeated`: it had ended before and is not counted again. */
  end(scan: ScanRecord, fence: number, body: Body, now: Date): Promise<'lost' | 'completed' | 'failed' | 'repeated'>;
};

/** The common part of complete and fail: each ends a member, and closes the lease if it was the last one. */
function endOfAttempt<Body>(dependencies: UploadDependencies, about: AttemptEnd<Body>): Route<NodeCaller> {
  const { verb, summary, body: schema, done, errors = [], end } = about;
  const { metrics } = dependencies;
  return route({
    method: 'POST',
    path: `/node/v1/leases/{id}/scans/{scan}/${verb}`,
    group: 'Leases',
    summary,
    permission: 'lease',
    params: memberParams,
    body: schema,
    bodyBounds: CAPTURE_BODY,
    replies: { 204: { description: done } },
    errors: ['not_found', 'lease.lost', 'request_too_large', ...errors],
    handle: async ({ caller, params, body, stream }) => {
      const lease = leaseOf(caller);
      const scan = await memberOf(dependencies, lease, params.scan);
      refuseLarger(stream, JOB_LIMITS[scan.job_kind].capture_bytes + ENVELOPE_BYTES, 'A capture');
      const outcome = await end(scan, lease.fence, body as Body, new Date());
      const isOver = outcome === 'completed' && isOnlyMember(scan);
      await closeLease(dependencies, lease, new Date(), isOver ? [] : null);
      if (outcome === 'lost') throw leaseLost(metrics, verb);
      if (outcome !== 'repeated') metrics.leases.inc({ outcome });
      return noContent();
    },
  });
}

/** Refuses an upload before reading it: a lease that has ended must not replace files that were accepted under it. */
async function mayUpload(
  { artifacts, disk, metrics }: UploadDependencies,
  { fence }: LeaseRef,
  scan: ScanRecord,
  name: string,
  stream: IncomingMessage,
): Promise<void> {
  const limits = JOB_LIMITS[scan.job_kind];
  refuseLarger(stream, limits.artifact_bytes, 'An artifact');
  const kind = scannedKind(scan);
  if (!mayHaveArtifact(kind, name)) throw refusedArtifact(`A scan of kind ${kind} has no ${name}.`);
  if (!runsUnder(scan, fence)) throw leaseLost(metrics, 'upload');
  await disk.requireFree();
  const names = (await artifacts.listOf({ scanId: scan._id, fence })).map((artifact) => artifact.name);
  if (names.length >= limits.artifacts && !names.includes(name))
    throw refusedArtifact(`An attempt has at most ${limits.artifacts} artifacts.`);
}

async function receive(
  { artifacts, metrics }: UploadDependencies,
  { fence }: LeaseRef,
  { _id, job_kind }: ScanRecord,
  name: string,
  stream: IncomingMessage,
) {
  try {
    const { artifact_bytes: bytesMax, artifacts: filesMax } = JOB_LIMITS[job_kind];
    return await artifacts.receive({ scanId: _id, fence }, name, stream, { bytesMax, filesMax }, new Date());
  } catch (error) {
    if (error instanceof ArtifactRefused && error.tooLarge) throw new ApiError('request_too_large', error.message);
    if (error instanceof ArtifactRefused) throw refusedArtifact(error.message);
    if (error instanceof ArtifactKept) throw leaseLost(metrics, 'upload');
    throw stream.readableAborted && !isStorageProblem(error) ? new ConnectionLost(error) : error;
  }
}

function refusedArtifact(msg: string): ApiError {
  return refused([{ loc: ['body'], msg, type: 'artifact_refused', ctx: {} }]);
}
