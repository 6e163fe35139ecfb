import type { IncomingMessage } from 'node:http';
import { ARTIFACT_BYTES_MAX, ARTIFACT_NAME } from '@adsweep/shared/capture/artifact.ts';
import { type Complete, CompleteSchema, UploadedSchema } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { Type } from 'typebox';
import { ApiError, refused } from '../../http/api-error.ts';
import { noContent, ok, type Route, route } from '../../http/route.ts';
import type { FarmMetrics } from '../../metrics.ts';
import { ARTIFACTS_MAX, ArtifactKept, ArtifactRefused } from '../../scanning/artifacts/artifact.ts';
import { type AcceptDependencies, acceptCapture } from '../captures/accept-capture.ts';
import { forgetJob } from '../leases/mend-queue.ts';
import type { CrawlQueue, LeaseRef } from '../queue/queue.ts';
import { CAPTURE_BODY, leaseLost, leaseOf, leaseParams, type NodeCaller } from './admit-node.ts';

export type UploadDependencies = AcceptDependencies & {
  queue: Pick<CrawlQueue, 'end'>;
  metrics: Pick<FarmMetrics, 'leases' | 'lateResults' | 'uploadedBytes'>;
  logger: Logger;
};

/** How a node hands in what it saw: the files first, the capture that names them last. */
export function uploadRoutes(dependencies: UploadDependencies): Route<NodeCaller>[] {
  return [uploadArtifact(dependencies), completeLease(dependencies)];
}

function uploadArtifact(dependencies: UploadDependencies): Route<NodeCaller> {
  return route({
    method: 'PUT',
    path: '/node/v1/leases/{id}/artifacts/{name}',
    group: 'Leases',
    summary: 'Upload a file of the attempt',
    permission: 'lease',
    params: Type.Object({ ...leaseParams.properties, name: Type.String({ pattern: ARTIFACT_NAME }) }),
    replies: { 200: { description: 'What arrived.', schema: UploadedSchema } },
    errors: ['lease.lost', 'request_too_large', 'validation_error'],
    handle: async ({
      caller,
      params,
      stream,
    }: {
      caller: NodeCaller;
      params: { name: string };
      stream: IncomingMessage;
    }) => {
      const lease = leaseOf(caller);
      await mayUpload(dependencies, lease, params.name, stream);
      const { name, sha256, bytes } = await receive(dependencies, lease, params.name, stream);
      dependencies.metrics.uploadedBytes.inc(bytes);
      return ok({ name, sha256, bytes });
    },
  });
}

function completeLease(dependencies: UploadDependencies): Route<NodeCaller> {
  const { metrics } = dependencies;
  return route({
    method: 'POST',
    path: '/node/v1/leases/{id}/complete',
    group: 'Leases',
    summary: 'Hand in the capture: the attempt is over',
    permission: 'lease',
    params: leaseParams,
    body: CompleteSchema,
    bodyBounds: CAPTURE_BODY,
    replies: { 204: { description: 'Accepted, now or before.' } },
    errors: ['lease.lost', 'validation_error'],
    handle: async ({ caller, body }: { caller: NodeCaller; body: Complete }) => {
      const lease = leaseOf(caller);
      const outcome = await acceptCapture(dependencies, lease, body.capture, new Date());
      await forgetJob(dependencies, lease);
      if (outcome === 'lost') throw leaseLost(metrics, 'complete');
      if (outcome === 'accepted') metrics.leases.inc({ outcome: 'completed' });
      return noContent();
    },
  });
}

/** Refuses before a byte is read: a lease that is over must not replace what was accepted under it. */
async function mayUpload(
  { scans, artifacts, metrics }: UploadDependencies,
  lease: LeaseRef,
  name: string,
  { headers }: IncomingMessage,
): Promise<void> {
  if (Number(headers['content-length'] ?? 0) > ARTIFACT_BYTES_MAX)
    throw new ApiError('request_too_large', `An artifact has at most ${ARTIFACT_BYTES_MAX} bytes.`);
  const scan = await scans.findForWork(lease.scanId);
  if (scan?.status !== 'running' || scan.lease?.fence !== lease.fence) throw leaseLost(metrics, 'upload');
  const names = (await artifacts.listOf(lease)).map((artifact) => artifact.name);
  if (names.length >= ARTIFACTS_MAX && !names.includes(name))
    throw refusedArtifact(`An attempt has at most ${ARTIFACTS_MAX} artifacts.`);
}

async function receive(
  { artifacts, metrics }: UploadDependencies,
  lease: LeaseRef,
  name: string,
  stream: IncomingMessage,
) {
  try {
    return await artifacts.receive(lease, name, stream, new Date());
  } catch (error) {
    if (error instanceof ArtifactRefused && error.tooLarge) throw new ApiError('request_too_large', error.message);
    if (error instanceof ArtifactRefused) throw refusedArtifact(error.message);
    if (error instanceof ArtifactKept) throw leaseLost(metrics, 'upload');
    throw stream.readableAborted ? new ConnectionLost(error) : error;
  }
}

function refusedArtifact(msg: string): ApiError {
  return refused([{ loc: ['body'], msg, type: 'artifact_refused', ctx: {} }]);
}
