/** An occurrence of a word in a text: the word's index, and the offsets of its beginning and end. */
export type WordHit = { word: number; start: number; end: number };

const CODE_UNITS = 0x10000;
const ROOT = 0;
/** Steps on these code units are cached, for as many states as fit in 20 MB. */
const CACHED_CODES = 128;
const CACHED_STATES_MAX = 40_000;
const UNKNOWN = -1;

/** Words and texts are compared after Unicode NFKC, without letter case. */
export const foldText = (text: string): string => text.normalize('NFKC').toLowerCase();

/**
 * Finds any number of words in one pass over a text (Aho and Corasick, "Efficient string matching", 1975). The cost of a step does not depend
 * on the number of words.
 */
export class WordAutomaton {
  /** By `state * CODE_UNITS + code unit`: the next state of a word that continues. */
  readonly #next = new Map<number, number>();
  /** By state: that of the longest proper suffix that begins a word. */
  readonly #fallback: number[] = [ROOT];
  /** By state: the words that end there, and the state of the longest suffix at which others end. */
  readonly #ends: number[][] = [[]];
  readonly #shorter: number[] = [ROOT];
  readonly #lengths: number[];
  /** By state and code unit: the next state, once it is known. */
  readonly #steps: Int32Array;

  constructor(words: string[]) {
    const folded = words.map(foldText);
    this.#lengths = folded.map((word) => word.length);
    for (const [index, word] of folded.entries()) this.#insert(word, index);
    this.#link();
    const cached = Math.min(this.#ends.length, CACHED_STATES_MAX);
    this.#steps = new Int32Array(cached * CACHED_CODES).fill(UNKNOWN);
  }

  /** Calls `found` for each occurrence in a folded text, in the order of their ends. */
  search(folded: string, found: (hit: WordHit) => void): void {
    let state = ROOT;
    for (let at = 0; at < folded.length; at++) {
      state = this.#cachedStep(state, folded.charCodeAt(at));
      for (let ending = state; ending !== ROOT; ending = this.#shorter[ending]!)
        for (const word of this.#ends[ending]!) found({ word, start: at + 1 - this.#lengths[word]!, end: at + 1 });
    }
  }

  #insert(word: string, index: number): void {
    let state = ROOT;
    for (let at = 0; at < word.length; at++) {
      const edge = state * CODE_UNITS + word.charCodeAt(at);
      const next = this.#next.get(edge) ?? this.#ends.push([]) - 1;
      this.#next.set(edge, next);
      state = next;
    }
    if (state !== ROOT) this.#ends[state]!.push(index);
  }

  /** Links states by depth, so that those of suffixes are linked before the states that need them. */
  #link(): void {
    const byDepth = [...this.#next].map(([edge, state]) => ({ edge, state }));
    const depth = new Map([[ROOT, 0]]);
    for (const { edge, state } of byDepth) depth.set(state, depth.get(Math.floor(edge / CODE_UNITS))! + 1);
    byDepth.sort((one, other) => depth.get(one.state)! - depth.get(other.state)!);
    for (const { edge, state } of byDepth) {
      const parent = Math.floor(edge / CODE_UNITS);
      const suffix = parent === ROOT ? ROOT : this.#step(this.#fallback[parent]!, edge % CODE_UNITS);
      this.#fallback[state] = suffix;
      this.#shorter[state] = this.#ends[suffix]!.length > 0 ? suffix : this.#shorter[suffix]!;
    }
  }

  #cachedStep(from: number, code: number): number {
    if (from >= CACHED_STATES_MAX || code >= CACHED_CODES) return this.#step(from, code);
    const at = from * CACHED_CODES + code;
    if (this.#steps[at] === UNKNOWN) this.#steps[at] = this.#step(from, code);
    return this.#steps[at]!;
  }

  #step(from: number, code: number): number {
    for (let state = from; ; state = this.#fallback[state]!) {
      const next = this.#next.get(state * CODE_UNITS + code);
      if (next !== undefined) return next;
      if (state === ROOT) return ROOT;
    }
  }
}
