import type { IncomingMessage } from 'node:http';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import { OwnPlaces } from '../platform/own-places.ts';
import type { Route } from './route.ts';

/** Requests of an organization, of a lease or of a node, that are worked on at once. A large body or answer is 20 MB in memory meanwhile. */
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

type InTurnRoute = Pick<Route, 'method' | 'permission' | 'isUrgent'>;
/** A caller as far as it matters here: of the API, or of the node API. */
type OwnedCaller = {
  organizationId?: string;
  lease?: { jobId: string; fence: number } | null;
  node?: { nodeId: string; instance: string; enrolment: string } | null;
};

/**
 * The order in which requests are worked on: each in a turn of its own, and of an organization, of a lease or of a node, only so many at once, since
 * all of them share the memory and the turns of the process with those of others.
 */
export class InTurn {
  readonly #reads = new OwnPlaces(AT_ONCE.reads);
  readonly #writes = new OwnPlaces(AT_ONCE.writes);
  readonly #results = new OwnPlaces(AT_ONCE.results);
  readonly #files = new OwnPlaces(AT_ONCE.files);
  readonly #polls = new OwnPlaces(AT_ONCE.polls);
  readonly #account = new OwnPlaces(AT_ONCE.account);

  async run<T>(route: InTurnRoute, caller: unknown, { socket }: IncomingMessage, work: () => Promise<T>): Promise<T> {
    if (route.isUrgent) return work();
    const inTurn = async () => {
      // Requests that arrive together would otherwise be handled in one piece.
      await awaitTurn();
      return work();
    };
    const place = this.#placeOf(route, (caller ?? {}) as OwnedCaller);
    if (!place) return inTurn();
    return place.among.run(place.owner, async () => {
      if (socket?.destroyed) throw new ConnectionLost(undefined);
      return inTurn();
    });
  }

  /** The places of a request, and whose they are; null: it needs none. */
  #placeOf(
    route: InTurnRoute,
    { organizationId, lease, node }: OwnedCaller,
  ): { among: OwnPlaces; owner: string } | null {
    if (organizationId !== undefined) return { among: this.#placesOf(route), owner: organizationId };
    // An enrolled node can register any number of processes.
    if (node) return { among: this.#polls, owner: `${node.nodeId} ${node.enrolment || node.instance}` };
    const among = route.method === 'PUT' ? this.#files : this.#results;
    return lease ? { among, owner: `${lease.jobId} ${lease.fence}` } : null;
  }

  #placesOf({ method, permission }: InTurnRoute): OwnPlaces {
    if (permission === 'account.manage') return this.#account;
    return method === 'GET' || permission.endsWith('.read') ? this.#reads : this.#writes;
  }
}
