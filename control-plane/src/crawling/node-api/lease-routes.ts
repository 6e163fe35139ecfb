import type { IncomingMessage } from 'node:http';
import {
  type Acquire,
  type Acquired,
  AcquiredSchema,
  AcquireSchema,
  AddedMembersSchema,
  type AddMembers,
  AddMembersSchema,
  type Lease,
  NODE_ID,
  type NodeReport,
  NodeReportSchema,
  RegisteredSchema,
  RenewedSchema,
} from '@adsweep/shared/lease/messages.ts';
import { routerPass } from '@adsweep/shared/lease/router-pass.ts';
import { RequestRate } from '@adsweep/shared/service/request-rate.ts';
import { Type } from 'typebox';
import { ApiError } from '../../http/api-error.ts';
import { noContent, ok, type Route, route } from '../../http/route.ts';
import type { WorkMetrics } from '../../metrics.ts';
import type { DiskSpace } from '../../platform/disk-space.ts';
import { runsUnder } from '../../scan/advance.ts';
import { type NodeIdentity, newIdentity, nodeCredential, parseLeaseId } from '../fleet/credentials.ts';
import type { Enrolments } from '../fleet/enrolments.ts';
import { type MarkedNodes, NODES_MAX, type Nodes, PROCESSES_OF_ENROLLED_MAX } from '../fleet/nodes.ts';
import { type AcquireDependencies, acquire, QueueUnavailable, type WorkRequest } from '../leases/acquire.ts';
import { type AddDependencies, addMembers } from '../leases/add-members.ts';
import type { EndDependencies } from '../leases/end-attempt.ts';
import { beginAlone, releaseLease } from '../leases/release-lease.ts';
import { type RenewDependencies, renew } from '../leases/renew.ts';
import {
  blockedError,
  isAdmitted,
  leaseLost,
  leaseOf,
  leaseParams,
  NODE_BODY,
  type NodeCaller,
  nodeOf,
  notValid,
  resultsOf,
  sentByNode,
  tooManyCalls,
} from './admit-node.ts';

export type NodeApiDependencies = AcquireDependencies &
  RenewDependencies &
  EndDependencies & {
    nodes: Pick<Nodes, 'report'>;
    blocked: Pick<MarkedNodes, 'has'>;
    draining: Pick<MarkedNodes, 'has' | 'hasLately'>;
    enrolments: Pick<Enrolments, 'isCurrent' | 'isEnrolledLately'>;
    /** Signs the passes with which enrolled nodes call the proxy-router. */
    routerSecret: string;
    /** Calls `ordered` when the operator drains, blocks or revokes the node, until `stop` is called. */
    watchOrders: (nodeId: string, ordered: () => void) => Promise<{ stop: () => void }>;
    disk: DiskSpace;
    /** Rejects while files cannot be stored. */
    requireFiles: () => Promise<void>;
    /** Aborts when the process closes its listeners: polls that wait are answered then. */
    closing: AbortSignal;
    metrics: EndDependencies['metrics'] & Pick<WorkMetrics, 'leases' | 'lateResults'>;
  };

const done = { 204: { description: 'Done.' } };

/** Routes about nodes and about leases as a whole (shared/src/lease/PROTOCOL.md). */
export function leaseRoutes(dependencies: NodeApiDependencies): Route<NodeCaller>[] {
  return [reportNode(dependencies), acquireLeases(dependencies), ...routesOfOneLease(dependencies)];
}

function reportNode({ nodes, draining, leaseSecret, routerSecret }: NodeApiDependencies) {
  return route({
    method: 'PUT',
    path: '/node/v1/nodes/{id}',
    group: 'Nodes',
    summary: 'Register a node and report its load, every five seconds',
    permission: 'join',
    isUrgent: true,
    params: Type.Object({ id: Type.String({ pattern: NODE_ID }) }),
    body: NodeReportSchema,
    bodyBounds: NODE_BODY,
    beforeBody: sentByNode,
    replies: {
      200: {
        description: 'The credential of this process of the node, and whether it is to drain.',
        schema: RegisteredSchema,
      },
    },
    errors: ['node.blocked', 'rate_limited', 'unavailable'],
    handle: async ({ caller, params, body }: { caller: NodeCaller; params: { id: string }; body: NodeReport }) => {
      const node = caller.node ?? newIdentity(params.id, body.slots_max ?? body.slots, caller.enrolled?.enrolment);
      if (!(await nodes.report(node, body).catch(unavailable))) throw tooManyNodes(node);
      const drain = await draining.hasLately(node.nodeId);
      const pass = node.enrolment === '' ? {} : { router_pass: routerPass(routerSecret, node.nodeId, new Date()) };
      return ok({ credential: nodeCredential(leaseSecret, node), drain, ...pass });
    },
  });
}

function acquireLeases(dependencies: NodeApiDependencies) {
  return route({
    method: 'POST',
    path: '/node/v1/leases/acquire',
    group: 'Leases',
    summary: 'Acquire leases (long poll)',
    permission: 'node',
    body: AcquireSchema,
    bodyBounds: NODE_BODY,
    beforeBody: sentByNode,
    replies: { 200: { description: 'Leases, possibly none.', schema: AcquiredSchema } },
    errors: ['node.blocked', 'rate_limited', 'storage.full', 'unavailable'],
    handle: async ({ caller, body, stream }: { caller: NodeCaller; body: Acquire; stream: IncomingMessage }) => {
      const node = nodeOf(caller, body.node_id);
      const acquired = await acquireWhileConnected(dependencies, { ...body, node }, stream);
      const { leases } = acquired;
      dependencies.metrics.leases.inc({ outcome: 'granted' }, leases.length);
      const unsent = () => {
        dependencies.metrics.leases.inc({ outcome: 'released' }, leases.length);
        void giveBack(dependencies, leases);
      };
      return { ...ok(acquired), unsent };
    },
  });
}

/** Renewals of a lease in a second, on average. */
const RENEWALS_PER_SECOND = 2;

function routesOfOneLease(dependencies: NodeApiDependencies): Route<NodeCaller>[] {
  const { metrics } = dependencies;
  const rate = new RequestRate();
  return [
    route({
      method: 'POST',
      path: '/node/v1/leases/{id}/renew',
      group: 'Leases',
      summary: 'Renew a lease, every three seconds',
      permission: 'lease',
      isUrgent: true,
      params: leaseParams,
      replies: { 200: { description: 'The lease was renewed, or why not.', schema: RenewedSchema } },
      errors: ['rate_limited'],
      handle: async ({ caller, params }: { caller: NodeCaller; params: { id: string } }) => {
        if (!rate.admits(params.id, RENEWALS_PER_SECOND, performance.now()))
          throw tooManyCalls('The node of this lease');
        return ok(await renew(dependencies, leaseOf(caller)));
      },
    }),
    route({
      method: 'POST',
      path: '/node/v1/leases/{id}/alone',
      group: 'Leases',
      summary: 'Start a job of isolation `node`: nothing else runs on the node until it ends',
      permission: 'lease',
      params: leaseParams,
      replies: done,
      errors: ['lease.lost'],
      handle: async ({ caller }: { caller: NodeCaller }) => {
        if (!(await beginAlone(dependencies, leaseOf(caller), new Date()))) throw leaseLost(metrics, 'alone');
        return noContent();
      },
    }),
    route({
      method: 'POST',
      path: '/node/v1/leases/{id}/release',
      group: 'Leases',
      summary: 'Release a lease: its job was not started, or the node stops',
      permission: 'lease',
      params: leaseParams,
      replies: done,
      errors: ['lease.lost'],
      handle: async ({ caller }: { caller: NodeCaller }) => {
        const end = await releaseLease(dependencies, leaseOf(caller), new Date());
        if (end === 'lost') throw leaseLost(metrics, 'release');
        metrics.leases.inc({ outcome: 'released' });
        return noContent();
      },
    }),
  ];
}

/**
 * Leases for a node that is neither blocked, revoked nor drained. Releases what was acquired if the node disconnected
 * during the poll, or if the operator blocked, revoked or drained it: the marks are read after the leases were taken,
 * so that no lease is granted once a drain is acknowledged.
 */
async function acquireWhileConnected(
  dependencies: NodeApiDependencies,
  request: WorkRequest,
  { socket }: IncomingMessage,
): Promise<Acquired> {
  // On a full disk, or while the bucket cannot be reached, the results could not be stored.
  await dependencies.disk.requireFree();
  await dependencies.requireFiles();
  const { nodeId } = request.node;
  const over = new AbortController();
  const end = () => over.abort();
  socket.once('close', end);
  dependencies.closing.addEventListener('abort', end);
  if (dependencies.closing.aborted) end();
  const orders = await dependencies.watchOrders(nodeId, end);
  const isStillAdmitted = () => isAdmitted(dependencies.enrolments, request.node, new Date());
  try {
    // It may have been revoked since its credential was read and before its orders were watched.
    if (!(await isStillAdmitted())) throw notValid('node');
    if (await dependencies.draining.hasLately(nodeId)) return DRAIN;
    const leases = await acquire(dependencies, request, over.signal).catch((error: unknown) => {
      throw error instanceof QueueUnavailable ? unavailableError(error) : error;
    });
    if (leases.length === 0 && !over.signal.aborted) return { leases };
    const [isBlocked, isDrained, isAllowed] = await Promise.all([
      dependencies.blocked.has(nodeId),
      dependencies.draining.has(nodeId),
      isStillAdmitted(),
    ]).catch(async (cause: unknown) => {
      await giveBack(dependencies, leases);
      throw cause;
    });
    if (isAllowed && !isBlocked && !isDrained && !socket.destroyed) return { leases };
    await giveBack(dependencies, leases);
    if (!isAllowed) throw notValid('node');
    if (isBlocked) throw blockedError(nodeId);
    return isDrained ? DRAIN : { leases: [] };
  } finally {
    orders.stop();
    socket.off('close', end);
    dependencies.closing.removeEventListener('abort', end);
  }
}

/** Releases leases that their node does not get. What cannot be released is left to the reaper. */
async function giveBack(dependencies: EndDependencies, leases: Lease[]): Promise<void> {
  for (const { lease_id, job } of leases)
    await releaseLease(dependencies, parseLeaseId(lease_id)!, new Date()).catch((cause: unknown) => {
      dependencies.logger.debug({ job_id: job.job_id, cause }, 'a lease is left to the reaper');
    });
}

const DRAIN: Acquired = { leases: [], drain: true };

const unavailableError = (cause: unknown) =>
  new ApiError('unavailable', 'The queue is temporarily unavailable.', { cause, headers: { 'Retry-After': '1' } });

const tooManyNodes = ({ nodeId, enrolment }: NodeIdentity) => {
  const headers = { 'Retry-After': '30' };
  const orOwn = enrolment === '' ? '' : `, or ${PROCESSES_OF_ENROLLED_MAX} processes of ${nodeId}`;
  return new ApiError('unavailable', `There are ${NODES_MAX} nodes already${orOwn}.`, { headers });
};

function unavailable(cause: unknown): never {
  throw unavailableError(cause);
}

export type MemberDependencies = AddDependencies & {
  metrics: AddDependencies['metrics'] & Pick<WorkMetrics, 'lateResults'>;
};

/** The route by which a node adds the scans that it found to a leased job. */
export function memberRoutes(dependencies: MemberDependencies): Route<NodeCaller>[] {
  return [
    route({
      method: 'POST',
      path: '/node/v1/leases/{id}/members',
      group: 'Leases',
      summary: 'Add the ads that a sweep found to its job; can be repeated',
      permission: 'lease',
      params: leaseParams,
      body: AddMembersSchema,
      beforeBody: async ({ caller }: { caller: NodeCaller }) => {
        const lease = leaseOf(caller);
        const sweep = await dependencies.scans.findMember(lease, lease.jobId);
        if (!sweep || !runsUnder(sweep, lease.fence)) throw leaseLost(dependencies.metrics, 'members');
        return { sender: resultsOf(sweep.lease.node_id) };
      },
      replies: { 200: { description: 'The state of each ad.', schema: AddedMembersSchema } },
      errors: ['lease.lost', 'validation_error'],
      handle: async ({ caller, body }: { caller: NodeCaller; body: AddMembers }) => {
        const members = await addMembers(dependencies, leaseOf(caller), body.members, new Date());
        if (members === 'lost') throw leaseLost(dependencies.metrics, 'members');
        return ok({ members });
      },
    }),
  ];
}
