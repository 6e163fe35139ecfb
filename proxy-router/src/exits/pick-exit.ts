import { createHash } from 'node:crypto';
import { setNewest } from '@adsweep/shared/service/set-newest.ts';
import type { ExitRefusal } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { Exit } from '../providers/exit.ts';
import type { Selection } from './exit-index.ts';
import type { ExitState } from './outages.ts';

/** The exit to use, or a refusal. */
export type Pick = { exit: Exit } | { refusal: ExitRefusal };

/** The state of an exit (`full`: at its ticket limit) and its score from 0 to 1. */
export type ExitConditions = { stateOf: (exit: Exit) => ExitState | 'full'; scoreOf: (exit: Exit) => number };

/** Draws before the exits are tried one by one, which happens only if most have failed or are full. */
const DRAWS = 8;

/**
 * Picks an exit for a session. A session yields the same draws each time, so it keeps its exit for as long as that is
 * available, and only the sessions of an exit that becomes unavailable move. Sessions are distributed in proportion to
 * `pool_size` and score. The exit with the id `preferred` is tried first.
 */
export function pickExit(
  { exits, upTo }: Selection,
  session: string,
  { stateOf, scoreOf }: ExitConditions,
  preferred?: string,
): Pick {
  if (exits.length === 0) return { refusal: 'NODE_NOT_FOUND' };
  const isAvailable = (exit: Exit) => stateOf(exit) === 'available';
  const before = preferred === undefined ? undefined : findById(exits, preferred);
  if (before && isAvailable(before)) return { exit: before };
  let at = 0;
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const { position, acceptance } = drawn(session, draw);
    const wanted = position * upTo[upTo.length - 1]!;
    at = firstIndex(upTo.length, (index) => upTo[index]! > wanted);
    const exit = exits[at]!;
    if (isAvailable(exit) && acceptance < scoreOf(exit)) return { exit };
  }
  const states = new Set<ExitState | 'full'>();
  for (let step = 0; step < exits.length; step += 1) {
    const exit = exits[(at + step) % exits.length]!;
    const state = stateOf(exit);
    if (state === 'available') return { exit };
    states.add(state);
  }
  return { refusal: refusalOf(states) };
}

/** Refusals by priority: a temporary one, then one that needs the operator, then one that is permanent. */
function refusalOf(states: Set<ExitState | 'full'>): ExitRefusal {
  const lasting = [...states].filter((state) => state === 'account_refused' || state === 'no_exit');
  if (lasting.length < states.size) return 'NODE_BUSY';
  return states.has('account_refused') ? 'ACCOUNT_REFUSED' : 'NODE_NOT_FOUND';
}

/** Two numbers in [0, 1), uniformly distributed over sessions. */
function drawn(session: string, draw: number): { position: number; acceptance: number } {
  const hash = createHash('sha256').update(`${session}\n${draw}`).digest();
  return { position: hash.readUIntBE(0, 6) / 2 ** 48, acceptance: hash.readUIntBE(6, 6) / 2 ** 48 };
}

/** The first of `length` indexes from which on `matches` is true; the last one if it is true for none. */
function firstIndex(length: number, matches: (index: number) => boolean): number {
  let [low, high] = [0, length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (matches(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function findById(exits: readonly Exit[], id: string): Exit | undefined {
  const exit = exits[firstIndex(exits.length, (index) => exits[index]!.id >= id)];
  return exit?.id === id ? exit : undefined;
}

const SESSIONS_MAX = 50_000;

/**
 * The last exit of each session, so that it keeps it while other exits fail and recover. Times are monotonic, in ms.
 */
export class SessionExits {
  readonly #exits = new Map<string, { exitId: string; expires: number }>();

  find(session: string, now: number): string | undefined {
    const known = this.#exits.get(session);
    return known && now < known.expires ? known.exitId : undefined;
  }

  remember(session: string, exitId: string, expires: number): void {
    setNewest(this.#exits, session, { exitId, expires }, SESSIONS_MAX);
  }
}
