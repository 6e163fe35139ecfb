import { RE2Set } from 're2js';
import type { ExpressionConfig } from '../rule.ts';

/**
 * Expressions in one automaton. Larger sets need fewer passes over a text, and more states: at this size 5,000 URLs against 1,000
 * patterns keep within the memory of each (loadtest/bench/rules.ts).
 */
const SET_SIZE = 128;

/** Says which of many expressions a text contains, by a few passes over it instead of one for each. */
export class ExpressionSet {
  readonly #sets: RE2Set[];

  constructor(configs: ExpressionConfig[]) {
    const groups = Array.from({ length: Math.ceil(configs.length / SET_SIZE) }, (_, at) =>
      configs.slice(at * SET_SIZE, (at + 1) * SET_SIZE),
    );
    this.#sets = groups.map((group) => {
      const set = new RE2Set();
      // A group of its own, so that the flag ends with its pattern.
      for (const { pattern, flags } of group) set.add(flags === 'i' ? `(?i:${pattern})` : pattern);
      set.compile();
      return set;
    });
  }

  /** The places of the expressions that match, in the order they were given. */
  match(text: string): number[] {
    return this.#sets.flatMap((set, at) => set.match(text).map((index: number) => at * SET_SIZE + index));
  }
}
