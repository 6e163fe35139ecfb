import { thisMachine } from '../machine/default-slots.ts';
import { sumOf } from './renderer-memory.ts';

const { cores: CORES } = thisMachine();
/**
 * So many busy renderers, or threads of their workers, for each core leave little of it to the pages of other captures:
 * they take half longer.
 */
export const CROWD = 6 * CORES;
/** Below this share of the machine, renderers leave enough CPU to others. */
const MACHINE_SHARE = 0.5;
/** Pages that load have many busy frames for a moment. */
const CROWDED_MS = 1_000;
/** A context is taken for the cause of a crowd if its documents and workers may be this part of it. */
const CAUSE_SHARE = 0.25;

/**
 * How many renderers compete for the CPU: so many would be equally busy (the inverse of Simpson's index of their
 * shares), if they use much of the machine; otherwise 0. `used`: seconds of CPU that each used within `seconds`. Pure.
 */
export function competing(used: readonly number[], seconds: number, cores = CORES): number {
  const sum = sumOf(used);
  return sum === 0 || sum < MACHINE_SHARE * cores * seconds ? 0 : sum ** 2 / sumOf(used.map((cpu) => cpu ** 2));
}

/**
 * Tells when renderers or their workers have crowded the CPU for a second: each renderer uses too little to get a lower
 * priority soon, and all together leave the others nothing.
 */
export class RendererCrowd {
  readonly #least: number;
  #at: number | null = null;
  #since: number | null = null;

  /** `least`: how many are a crowd. */
  constructor(least = CROWD) {
    this.#least = least;
  }

  /**
   * To be called with how many renderers compete for the CPU, how many of their workers are busy, and the time
   * (`performance.now()`). How many documents and workers a context must have to be taken for the cause of a crowd; 0:
   * there is none.
   */
  sizeOfCause(renderers: number, workers: number, now: number): number {
    const since = this.#at ?? now;
    this.#at = now;
    const crowd = Math.max(renderers, workers);
    if (crowd < this.#least) this.#since = null;
    else this.#since ??= since;
    if (this.#since === null || now - this.#since < CROWDED_MS) return 0;
    // The context that leaves takes a moment to end.
    this.#since = null;
    return Math.ceil(Math.max(this.#least, crowd * CAUSE_SHARE));
  }
}
