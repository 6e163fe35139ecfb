import { CAPTURE_BYTES_MAX, CAPTURE_VALUES_MAX } from '@adsweep/shared/limits.ts';
import { bearerCredential, sameSecret } from '@adsweep/shared/service/bearer.ts';
import { Type } from 'typebox';
import type { LeaseRef } from '../crawl-jobs/queue.ts';
import { ApiError } from '../http/api-error.ts';
import type { BodyBounds } from '../http/read-body.ts';
import type { Admit } from '../http/serve-routes.ts';
import type { FarmMetrics, LateCall } from '../metrics.ts';
import { openLease } from './lease-token.ts';

/** Room beside the capture for its artifacts and a failure's cause. */
const ENVELOPE_BYTES = 64 * 1024;

/** A capture in a request. */
export const CAPTURE_BODY: BodyBounds = { bytes: CAPTURE_BYTES_MAX + ENVELOPE_BYTES, values: CAPTURE_VALUES_MAX };

/** Path parameters of a route about one lease; the id was checked with the token. */
export const leaseParams = Type.Object({ id: Type.String() });

/** Who speaks to the node API: a node (`lease` null), or the holder of one lease. */
export type NodeCaller = { lease: LeaseRef | null };

/**
 * Lets requests of nodes in. Permission `node` asks for the token that all nodes share, `lease` for the token of the lease that the
 * path names. A node runs hostile code all day: with a lease's token it can do nothing about any other lease.
 */
export function admitNode(nodeToken: string, leaseSecret: string): Admit<NodeCaller> {
  return async (authorization, permission, params) => {
    const credential = bearerCredential(authorization);
    if (permission === 'node') {
      if (sameSecret(credential, nodeToken)) return { lease: null };
      throw unauthorized('The node token is not valid.');
    }
    const { id = '' } = params as { id?: string };
    const lease = openLease(leaseSecret, id, credential);
    if (!lease) throw unauthorized('The token is not that of this lease.');
    return { lease };
  };
}

/** The lease that a route with permission `lease` was called for. */
export function leaseOf({ lease }: NodeCaller): LeaseRef {
  if (!lease) throw new Error('a route of a lease let someone in without one');
  return lease;
}

/** The refusal of a late call, counted. */
export function leaseLost({ lateResults }: Pick<FarmMetrics, 'lateResults'>, call: LateCall): ApiError {
  lateResults.inc({ call });
  return new ApiError('lease.lost', 'This lease may not write the scan any more.');
}

function unauthorized(detail: string): ApiError {
  return new ApiError('unauthorized', detail, { headers: { 'WWW-Authenticate': 'Bearer realm="adsweep node API"' } });
}
