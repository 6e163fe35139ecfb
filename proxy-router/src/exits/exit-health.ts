import { setNewest } from '@adsweep/shared/service/set-newest.ts';
import type { ConnectionFailure } from '../providers/connection-failure.ts';
import type { Exit } from '../providers/exit.ts';
import { accusationOf, type ExitState, OUTAGE_MAX_MS, Outages, SCORE_MIN } from './outages.ts';
import type { TicketHolder } from './ticket-counts.ts';

/** Limit of exits and accounts of which each kind of failure is kept. */
const EXITS_MAX = 10_000;
/** The same of those that one enrolled node has seen, and how many nodes are remembered. */
const EXITS_OF_NODE_MAX = 1_000;
const NODES_MAX = 1_000;
/** How long the accusation of one node waits for that of another one, unless the exit works meanwhile. */
const AGREE_WITHIN_MS = OUTAGE_MAX_MS;

/**
 * What a connection was for: the scan, and the target's host; absent: the service that checks exits, which the operator
 * has chosen. `node`: the enrolled node that it was made for; absent: one of the operator's own.
 */
export type Purpose = { scan: string; host?: string | undefined; node?: TicketHolder };

type Known = Pick<Exit, 'id' | 'account'>;

/** What outages of an exit are known by: the exit, and the account that it needs. */
const keysOf = ({ id, account }: Known): string[] => (account === undefined ? [id] : [id, account]);

/**
 * Which exits and accounts are unavailable. What fails for one of the operator's nodes is unavailable to all. An
 * enrolled node chooses the hosts and the ids of scans that it names, so that it can provoke any refusal: what fails
 * for it is unavailable to it alone, until another enrolled node has found the same. Times are monotonic, in ms.
 */
export class ExitHealth {
  readonly #common = new Outages(EXITS_MAX);
  readonly #ofNodes = new Map<string, Outages>();
  /** The enrolled nodes that have found an exit or account out of service since it last worked, each with the time. */
  readonly #accusers = new Map<string, Map<string, number>>();
  /** How often in a row exits and accounts could not be verified. */
  readonly #distrusted = new Map<string, number>();

  /** Of the exit itself, or of the account that it needs, as it is for this node. */
  state(exit: Known, now: number, node: TicketHolder = null): ExitState {
    const own = this.#seenBy(node)?.state(exit, now) ?? 'available';
    return own === 'available' ? this.#common.state(exit, now) : own;
  }

  /** From 0 to 1: how often the exit should be chosen for this node, in proportion to its size. */
  score({ id, account = id }: Known, node: TicketHolder = null): number {
    const trust = 2 ** -(this.#distrusted.get(account) ?? 0);
    const seen = Math.min(this.#common.score(id), this.#seenBy(node)?.score(id) ?? 1);
    return Math.max(SCORE_MIN, seen * trust);
  }

  /**
   * A check through the exit brought an answer that is not the service's: each halves the share of the exit, or of all
   * exits of its account. Its connections work, so that there is no outage, and the service itself may be broken.
   */
  distrusted({ id, account = id }: Known): void {
    setNewest(this.#distrusted, account, (this.#distrusted.get(account) ?? 0) + 1, EXITS_MAX);
  }

  verified({ id, account = id }: Known): void {
    this.#distrusted.delete(account);
  }

  /**
   * A ticket for the exit was issued: during an outage, that is the probe. That of an enrolled node keeps no other from
   * probing too.
   */
  assigned(exit: Known, now: number, node: TicketHolder = null): void {
    for (const key of keysOf(exit)) {
      if (node === null) this.#common.probe(key, now);
      else if (this.#common.knows(key) || this.#seenBy(node)?.knows(key)) {
        const own = this.#openFor(node);
        own.learn(key, this.#common);
        own.probe(key, now);
      }
    }
  }

  /** The exit works: that ends its outages, also those that only one node has seen. */
  succeeded(exit: Known, node: TicketHolder = null): void {
    this.#common.succeeded(exit);
    this.#seenBy(node)?.succeeded(exit);
    for (const key of keysOf(exit)) {
      for (const accuser of this.#accusers.get(key)?.keys() ?? []) this.#seenBy(accuser)?.succeeded(exit);
      this.#accusers.delete(key);
    }
  }

  /**
   * Takes the exit or its account out of service where the failure is theirs; returns whether it is, or may be. One
   * that may be the target's counts only with others of its kind; without a `purpose`, the target is one that the
   * operator has chosen.
   */
  failed(
    exit: Exit,
    failure: ConnectionFailure,
    now: number,
    { host, scan = '', node = null }: Partial<Purpose> = {},
  ): boolean {
    const accusation = accusationOf(exit, failure, host === undefined ? undefined : { host, scan });
    if (accusation === null) return false;
    if (node === null) this.#common.failed(accusation, now);
    else if (this.#openFor(node).failed(accusation, now) && this.#isAgreed(accusation.key, node, now))
      this.#common.failed({ ...accusation, tolerated: 0, target: undefined }, now);
    return true;
  }

  /** Forgets the failures of an exit, or of an account at all of its places: it is another one from now on. */
  forget(key: string): void {
    for (const seen of [this.#common, ...this.#ofNodes.values()]) seen.forget(key);
    for (const known of [...this.#accusers.keys(), ...this.#distrusted.keys()])
      if (known === key || known.startsWith(`${key}/`)) {
        this.#accusers.delete(known);
        this.#distrusted.delete(known);
      }
  }

  /** Notes that a node has found the exit or account out of service; returns whether another one has too. */
  #isAgreed(key: string, node: string, now: number): boolean {
    const accusers = this.#accusers.get(key) ?? new Map<string, number>();
    setNewest(this.#accusers, key, accusers.set(node, now), EXITS_MAX);
    return [...accusers].some(([other, at]) => other !== node && now - at < AGREE_WITHIN_MS);
  }

  #seenBy = (node: TicketHolder): Outages | undefined => (node === null ? undefined : this.#ofNodes.get(node));

  #openFor(node: string): Outages {
    const seen = this.#ofNodes.get(node) ?? new Outages(EXITS_OF_NODE_MAX);
    setNewest(this.#ofNodes, node, seen, NODES_MAX);
    return seen;
  }
}
