import type { IncomingMessage } from 'node:http';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import { OwnPlaces } from '../platform/own-places.ts';
import type { Route } from './route.ts';

/** Requests of an organization that are worked on at once. A large answer is 20 MB in memory until it is written. */
const AT_ONCE = {
  reads: 16,
  /** Few of them are large, and some wait for a model. */
  writes: 64,
  /** Of its own, so that a stolen key can be revoked whatever it asks for. */
  account: 16,
};

/**
 * The order in which requests are worked on: each in a turn of its own, and of an organization only so many at once, since all of them share the
 * memory and the turns of the process with those of others.
 */
export class InTurn {
  readonly #reads = new OwnPlaces(AT_ONCE.reads);
  readonly #writes = new OwnPlaces(AT_ONCE.writes);
  readonly #account = new OwnPlaces(AT_ONCE.account);

  async run<T>(
    route: Pick<Route, 'method' | 'permission' | 'isUrgent'>,
    caller: unknown,
    { socket }: IncomingMessage,
    work: () => Promise<T>,
  ): Promise<T> {
    if (route.isUrgent) return work();
    const inTurn = async () => {
      // Requests that arrive together would otherwise be handled in one piece.
      await awaitTurn();
      return work();
    };
    const { organizationId } = (caller ?? {}) as { organizationId?: string };
    if (organizationId === undefined) return inTurn();
    return this.#placesOf(route).run(organizationId, async () => {
      if (socket?.destroyed) throw new ConnectionLost(undefined);
      return inTurn();
    });
  }

  #placesOf({ method, permission }: Pick<Route, 'method' | 'permission'>): OwnPlaces {
    if (permission === 'account.manage') return this.#account;
    return method === 'GET' || permission.endsWith('.read') ? this.#reads : this.#writes;
  }
}
