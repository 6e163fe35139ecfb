/** A word that a text contains: its place among the words, and where it begins and ends in the text. */
export type WordHit = { word: number; start: number; end: number };

const CODE_UNITS = 0x10000;
const ROOT = 0;
/** Steps on these code units are remembered, in as many states as 20 MB take. */
const REMEMBERED_CODES = 128;
const REMEMBERED_STATES_MAX = 40_000;
const UNKNOWN = -1;

/** Words and texts are compared after Unicode NFKC, without letter case. */
export const foldText = (text: string): string => text.normalize('NFKC').toLowerCase();

/**
 * Finds any number of words in one pass over a text (Aho and Corasick, "Efficient string matching", 1975). A step costs the same
 * however many words there are.
 */
export class WordAutomaton {
  /** The state that follows `state * CODE_UNITS + code unit`, where a word goes on. */
  readonly #next = new Map<number, number>();
  /** By state: the longest proper suffix of what was read that begins a word. */
  readonly #fallback: number[] = [ROOT];
  /** By state: the words that end there, and the nearest suffix at which others end. */
  readonly #ends: number[][] = [[]];
  readonly #shorter: number[] = [ROOT];
  readonly #lengths: number[];
  /** By state and code unit: the steps that were taken before. */
  readonly #steps: Int32Array;

  constructor(words: string[]) {
    const folded = words.map(foldText);
    this.#lengths = folded.map((word) => word.length);
    for (const [index, word] of folded.entries()) this.#insert(word, index);
    this.#link();
    const remembered = Math.min(this.#ends.length, REMEMBERED_STATES_MAX);
    this.#steps = new Int32Array(remembered * REMEMBERED_CODES).fill(UNKNOWN);
  }

  /** Calls `found` for each place of a folded text at which a word ends, the earliest end first. */
  search(folded: string, found: (hit: WordHit) => void): void {
    let state = ROOT;
    for (let at = 0; at < folded.length; at++) {
      state = this.#remember(state, folded.charCodeAt(at));
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

  /** A state is entered into `#next` after the one that it continues, so that suffixes are linked before what needs them. */
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

  #remember(from: number, code: number): number {
    if (from >= REMEMBERED_STATES_MAX || code >= REMEMBERED_CODES) return this.#step(from, code);
    const at = from * REMEMBERED_CODES + code;
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
