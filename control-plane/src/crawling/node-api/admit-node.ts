import type { IncomingMessage } from 'node:http';
import { CAPTURE_BYTES_MAX, CAPTURE_VALUES_MAX } from '@adsweep/shared/limits.ts';
import { bearerCredential, isOneOfSecrets } from '@adsweep/shared/service/bearer.ts';
import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import type { BodyBounds } from '../../http/read-body.ts';
import type { Admit } from '../../http/serve-routes.ts';
import type { LateCall, WorkMetrics } from '../../metrics.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { type NodeIdentity, openLease, openNodeCredential } from '../fleet/credentials.ts';
import type { MarkedNodes } from '../fleet/nodes.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';

/** Bytes for the fields of a request beside the capture. */
export const ENVELOPE_BYTES = 64 * 1024;

/** Limits of a request body with a capture. */
export const CAPTURE_BODY: BodyBounds = { bytes: CAPTURE_BYTES_MAX + ENVELOPE_BYTES, values: CAPTURE_VALUES_MAX };

/** Path parameters of a route about one lease; the id was checked with the token. */
export const leaseParams = Type.Object({ id: Type.String() });
/** Path parameters of a route about one member of a lease's job. */
export const memberParams = Type.Object({ ...leaseParams.properties, scan: Type.String() });

/** The caller of the node API: a node with its credential, the holder of a lease token or, if both are null, of a join token. */
export type NodeCaller = { node: NodeIdentity | null; lease: LeaseRef | null };

export type AdmitDependencies = {
  /** Join tokens, separated by commas. */
  joinTokens: string;
  /** Signs the credentials of nodes and of leases. */
  leaseSecret: string;
  blocked: Pick<MarkedNodes, 'hasLately'>;
};

/**
 * Authenticates requests of nodes. Permission `join` requires a join token or the credential of the node in the path, `node` a node's own
 * credential, `lease` the token of the lease in the path. Nodes run hostile code: their credentials must not affect other nodes or leases.
 */
export function admitNode({ joinTokens, leaseSecret, blocked }: AdmitDependencies): Admit<NodeCaller> {
  return async (authorization, permission, params) => {
    const credential = bearerCredential(authorization);
    const { id = '' } = params as { id?: string };
    if (permission === 'lease') {
      const lease = openLease(leaseSecret, id, credential);
      if (lease) return { node: null, lease };
      throw unauthorized('The token is not that of this lease.');
    }
    const node = openNodeCredential(leaseSecret, credential);
    const mayJoin = permission === 'join' && isOneOfSecrets(credential, joinTokens);
    if (!node && !mayJoin) throw unauthorized(NOT_VALID[permission === 'join' ? 'join' : 'node']);
    if (node && permission === 'join' && node.nodeId !== id) throw otherNodesCredential(node.nodeId);
    if (await blocked.hasLately(node?.nodeId ?? id)) throw blockedError(node?.nodeId ?? id);
    return { node, lease: null };
  };
}

const NOT_VALID = {
  join: 'This is neither a join token nor the credential of a node.',
  node: 'This is not the credential of a node: register first, with the join token.',
};

/** The calling node of a route with permission `node`. Throws 403 if the request names another node. */
export function nodeOf({ node }: NodeCaller, nodeId: string): NodeIdentity {
  if (!node) throw new Error('a route with permission node was called without a credential');
  if (node.nodeId !== nodeId) throw otherNodesCredential(node.nodeId);
  return node;
}

/** The 403 for a blocked node. */
export const blockedError = (nodeId: string): ApiError =>
  new ApiError('node.blocked', `The operator has blocked the node ${nodeId}.`);

const otherNodesCredential = (nodeId: string) =>
  new ApiError('forbidden', `This is the credential of the node ${nodeId}.`);

/** The lease of a route with permission `lease`. */
export function leaseOf({ lease }: NodeCaller): LeaseRef {
  if (!lease) throw new Error('a route with permission lease was called without a lease');
  return lease;
}

/** The member that a request names. Throws 404 for any scan that is not a member of the lease's job. */
export async function memberOf(
  { scans }: { scans: Pick<ScanStore, 'findMember'> },
  lease: LeaseRef,
  scanId: string,
): Promise<ScanRecord> {
  const scan = await scans.findMember(lease, scanId);
  if (!scan) throw notFound('scan in the job of this lease');
  return scan;
}

/** Throws 413 if the declared size of a request exceeds the limit of its job. */
export function refuseLarger({ headers }: IncomingMessage, bytesMax: number, what: string): void {
  if (Number(headers['content-length'] ?? 0) > bytesMax)
    throw new ApiError('request_too_large', `${what} has at most ${bytesMax} bytes.`);
}

/** The 409 for a call under a lost lease; also counts it. */
export function leaseLost({ lateResults }: Pick<WorkMetrics, 'lateResults'>, call: LateCall): ApiError {
  lateResults.inc({ call });
  return new ApiError('lease.lost', 'This lease may no longer write the scan.');
}

function unauthorized(detail: string): ApiError {
  return new ApiError('unauthorized', detail, { headers: { 'WWW-Authenticate': 'Bearer realm="adsweep node API"' } });
}
