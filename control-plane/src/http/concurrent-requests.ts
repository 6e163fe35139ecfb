import type { IncomingMessage } from 'node:http';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import { PerOwnerLimit } from '../platform/per-owner-limit.ts';
import type { Route } from './route.ts';

/**
 * Requests of an organization, of a lease or of a node, that are worked on at once. A large body or answer is 20 MB in
 * memory meanwhile.
 */
const AT_ONCE = {
  reads: 16,
  /** Few of them are large, and some wait for a model. */
  writes: 64,
  /** Of a lease: captures and other reports. An honest node sends one of each member. */
  results: 4,
  /** Of a lease, which are written to the disk while they arrive. An honest node sends one after the other. */
  files: 4,
  /** Of a process of a node, of an enrolled node: requests for work, which wait. An honest one has one of them. */
  polls: 8,
  /** Of its own, so that a stolen key can be revoked whatever it asks for. */
  account: 16,
};

type LimitedRoute = Pick<Route, 'method' | 'permission' | 'isUrgent'>;
/** A caller as far as it matters here: of the API, or of the node API. */
type OwnedCaller = {
  organizationId?: string;
  lease?: { jobId: string; fence: number } | null;
  node?: { nodeId: string; instance: string; enrolment: string } | null;
};

/**
 * Limits how many requests of an organization, of a lease or of a node are worked on at once, because they share memory
 * and event loop with those of others. Each begins in a turn of the event loop of its own.
 */
export class ConcurrentRequests {
  readonly #reads = new PerOwnerLimit(AT_ONCE.reads);
  readonly #writes = new PerOwnerLimit(AT_ONCE.writes);
  readonly #results = new PerOwnerLimit(AT_ONCE.results);
  readonly #files = new PerOwnerLimit(AT_ONCE.files);
  readonly #polls = new PerOwnerLimit(AT_ONCE.polls);
  readonly #account = new PerOwnerLimit(AT_ONCE.account);

  async run<T>(route: LimitedRoute, caller: unknown, { socket }: IncomingMessage, work: () => Promise<T>): Promise<T> {
    if (route.isUrgent) return work();
    const inTurn = async () => {
      // Requests that arrive together would otherwise be handled in one piece.
      await awaitTurn();
      return work();
    };
    const limit = this.#limitOf(route, (caller ?? {}) as OwnedCaller);
    if (!limit) return inTurn();
    return limit.of.run(limit.owner, async () => {
      if (socket?.destroyed) throw new ConnectionLost(undefined);
      return inTurn();
    });
  }

  /** The limit of a request, and by whom it is counted; null: it has none. */
  #limitOf(
    route: LimitedRoute,
    { organizationId, lease, node }: OwnedCaller,
  ): { of: PerOwnerLimit; owner: string } | null {
    if (organizationId !== undefined) return { of: this.#limitOfOrganization(route), owner: organizationId };
    // An enrolled node can register any number of processes.
    if (node) return { of: this.#polls, owner: `${node.nodeId} ${node.enrolment || node.instance}` };
    const ofLease = route.method === 'PUT' ? this.#files : this.#results;
    return lease ? { of: ofLease, owner: `${lease.jobId} ${lease.fence}` } : null;
  }

  #limitOfOrganization({ method, permission }: LimitedRoute): PerOwnerLimit {
    if (permission === 'account.manage') return this.#account;
    return method === 'GET' || permission.endsWith('.read') ? this.#reads : this.#writes;
  }
}
