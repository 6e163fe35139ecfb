import type { IncomingMessage } from 'node:http';
import { ENVELOPE_BYTES } from '@adsweep/shared/lease/capture-with-files.ts';
import { CAPTURE_BYTES_MAX, CAPTURE_VALUES_MAX } from '@adsweep/shared/limits.ts';
import { bearerCredential, isOneOfSecrets } from '@adsweep/shared/service/bearer.ts';
import { RequestRate } from '@adsweep/shared/service/request-rate.ts';
import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import type { BodyBounds, BodyOwner } from '../../http/read-body.ts';
import type { Admit } from '../../http/serve-routes.ts';
import type { LateCall, WorkMetrics } from '../../metrics.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { leaseHolderOf, type NodeIdentity, openLease, openNodeCredential } from '../fleet/credentials.ts';
import { type EnrolledNode, type Enrolments, hashCredential } from '../fleet/enrolments.ts';
import type { MarkedNodes } from '../fleet/nodes.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';

/** Limits of a request body about a node itself. */
export const NODE_BODY: BodyBounds = { bytes: ENVELOPE_BYTES, values: 1_000 };

/** Limits of a request body with a capture. */
export const CAPTURE_BODY: BodyBounds = { bytes: CAPTURE_BYTES_MAX + ENVELOPE_BYTES, values: CAPTURE_VALUES_MAX };

/** Path parameters of a route about one lease; the id was checked with the token. */
export const leaseParams = Type.Object({ id: Type.String() });
/** Path parameters of a route about one member of a lease's job. */
export const memberParams = Type.Object({ ...leaseParams.properties, scan: Type.String() });

/**
 * The caller of the node API: a node with its credential, the holder of a lease token, an enrolled node with its own
 * credential or, if all are null, the holder of a join token.
 */
export type NodeCaller = { node: NodeIdentity | null; lease: LeaseRef | null; enrolled: EnrolledNode | null };

export type AdmitDependencies = {
  /** Join tokens, separated by commas. */
  joinTokens: string;
  /** Signs the credentials of nodes and of leases. */
  leaseSecret: string;
  blocked: Pick<MarkedNodes, 'hasLately'>;
  enrolments: Pick<Enrolments, 'isInvited' | 'findNode' | 'isCurrent' | 'isEnrolled' | 'isEnrolledLately'>;
};

/**
 * Authenticates requests of nodes. Permission `join` requires a join token, the own credential of the enrolled node in
 * the path, or that of its process; `node` the credential of a process, `lease` the token of the lease in the path,
 * `enrol` a one-time token for the name in the path, `enrolled` the enrolled node's own. Nodes run hostile code: their
 * credentials must not affect other nodes or leases.
 */
export function admitNode(dependencies: AdmitDependencies): Admit<NodeCaller> {
  const { leaseSecret, blocked } = dependencies;
  const rate = new RequestRate();
  return async (authorization, permission, params) => {
    const credential = bearerCredential(authorization);
    const { id = '' } = params as { id?: string };
    if (permission === 'lease') {
      const lease = openLease(leaseSecret, id, credential);
      if (lease) return { ...NOBODY, lease };
      throw unauthorized('The token is not that of this lease.');
    }
    const kind = permission === 'join' || permission === 'enrol' || permission === 'enrolled' ? permission : 'node';
    const caller = await findCaller({ ...dependencies, rate }, kind, id, credential);
    if (!caller) throw notValid(kind);
    const named = caller.node?.nodeId ?? id;
    if (await blocked.hasLately(named)) throw blockedError(named);
    return caller;
  };
}

/**
 * Calls of an enrolled node in a second, of all its processes, on average: a node with 256 slots makes about half as
 * many.
 */
const CALLS_PER_SECOND = 50;

function requireRate(rate: RequestRate, node: NodeIdentity): void {
  if (!rate.admits(leaseHolderOf(node), CALLS_PER_SECOND, performance.now())) throw tooManyCalls('This node');
}

/** The 429 for calls of `who` that come too fast. */
export const tooManyCalls = (who: string): ApiError =>
  new ApiError('rate_limited', `${who} makes too many calls.`, { headers: { 'Retry-After': '1' } });

const NOBODY: NodeCaller = { node: null, lease: null, enrolled: null };

type CallerKind = keyof typeof NOT_VALID;

const NOT_VALID = {
  join: 'This is neither a join token nor the credential of a node, or it has ended.',
  node: 'This is not the credential of a node, or it has ended: register first.',
  enrol: 'This is not a token for this node, or it has expired or was used.',
  enrolled: 'This is not the credential of this node, or it has ended.',
};

/** The 401 for a credential that is not valid, or no more. */
export const notValid = (kind: CallerKind): ApiError => unauthorized(NOT_VALID[kind]);

async function findCaller(
  { joinTokens, leaseSecret, enrolments, rate }: AdmitDependencies & { rate: RequestRate },
  kind: CallerKind,
  id: string,
  credential: string,
): Promise<NodeCaller | null> {
  const now = new Date();
  const node = kind === 'join' || kind === 'node' ? openNodeCredential(leaseSecret, credential) : null;
  const ofProcess = async () => {
    if (node?.enrolment) requireRate(rate, node);
    return node && (await isAdmitted(enrolments, node, now)) ? { ...NOBODY, node } : null;
  };
  const ofEnrolled = async () => {
    const enrolled = await enrolments.findNode(id, hashCredential(credential), now);
    if (enrolled) requireRate(rate, { ...enrolled, instance: '', slots: 0 });
    return enrolled && { ...NOBODY, enrolled };
  };
  switch (kind) {
    case 'node':
      return ofProcess();
    case 'join':
      if (node && node.nodeId !== id) throw otherNodesCredential(node.nodeId);
      if (node) return ofProcess();
      // The name of an enrolled node opens to that node alone, also when it was revoked.
      if (isOneOfSecrets(credential, joinTokens)) return (await enrolments.isEnrolled(id)) ? null : NOBODY;
      return ofEnrolled();
    case 'enrolled':
      return ofEnrolled();
    case 'enrol': {
      const hash = hashCredential(credential);
      const isInvited = await enrolments.isInvited(id, hash, now);
      return isInvited ? { ...NOBODY, enrolled: { nodeId: id, enrolment: '', hash } } : null;
    }
  }
}

/**
 * Whether the credential of a process is still valid: that of an enrolled node as long as its enrolment, any other
 * while nobody has enrolled under its name.
 */
export async function isAdmitted(
  enrolments: Pick<Enrolments, 'isCurrent' | 'isEnrolledLately'>,
  node: NodeIdentity,
  now: Date,
): Promise<boolean> {
  if (node.enrolment !== '') return enrolments.isCurrent(node, now);
  return !(await enrolments.isEnrolledLately(node.nodeId));
}

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

/*
 * Bodies are counted by the name of the node that sends them, whichever of its processes does: no node uses up what
 * another one may send, also behind the same address.
 */

/** The results of a node's leases: a node with 32 slots that sends the largest ones at once is a little above. */
export const resultsOf = (nodeId: string): BodyOwner => ({
  id: `node ${nodeId}`,
  bytesMax: 128 * 1024 * 1024,
  refusedMax: 64 * 1024 * 1024,
  tooMany: 'This node is sending too many large bodies at once, or too many that are refused.',
});

/**
 * What a node says of itself, also while many results are on their way. One that registers with a join token has no
 * name yet that is its own.
 */
export const sentByNode = async ({ caller: { node, enrolled } }: { caller: NodeCaller }) => {
  const nodeId = node?.nodeId ?? enrolled?.nodeId;
  const sender: BodyOwner | null =
    nodeId === undefined
      ? null
      : { ...resultsOf(nodeId), id: `requests of node ${nodeId}`, bytesMax: 64 * NODE_BODY.bytes };
  return { sender };
};

/** The node of a route with permission `enrol` or `enrolled`. */
export function enrolledOf({ enrolled }: NodeCaller): EnrolledNode {
  if (!enrolled) throw new Error('a route about an enrolment was called without one');
  return enrolled;
}

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
