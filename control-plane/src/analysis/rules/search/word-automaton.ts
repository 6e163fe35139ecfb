import { lowerCase } from '../../evidence/lower-case.ts';

/** An occurrence of a word in a text: the word's index, and the offsets of its beginning and end. */
export type WordHit = { word: number; start: number; end: number };

const ROOT = 0;
/** Steps on these code units are cached, for as many states as fit in 8 MB. */
const CACHED_CODES = 128;
const CACHED_STATES_MAX = 16_000;
const UNKNOWN = -1;

/** The words that end at a state: where they begin in the sorted words, and how many they are. */
type Ending = { state: number; first: number; count: number };

/** Words and texts are compared after Unicode NFKC, without letter case, that of Turkish included. */
export const foldText = (text: string): string => lowerCase(text.normalize('NFKC'));

/**
 * Finds any number of words in one pass over a text (Aho and Corasick, "Efficient string matching", 1975). The cost of
 * a step does not depend on the number of words. A state takes 15 bytes: the words of an organization may have four
 * million of them.
 */
export class WordAutomaton {
  readonly #lengths: number[];
  /** The indexes of the words, sorted by their code units. */
  readonly #sorted: Uint32Array;
  /**
   * States are numbered by depth, so the next states of a state are adjacent: from `children[state]` to
   * `children[state + 1]`, by code unit.
   */
  readonly #children: Int32Array;
  readonly #codes: Uint16Array;
  /** By state: that of the longest proper suffix that begins a word. */
  readonly #fallback: Int32Array;
  /** By state: the state of the longest suffix at which other words end. */
  readonly #shorter: Int32Array;
  /** By state: 1 if words end there. */
  readonly #isEnding: Uint8Array;
  /**
   * The states at which words end, in order, and by their index where these words begin in `sorted`, and how many they
   * are.
   */
  readonly #endings: Int32Array;
  readonly #firsts: Int32Array;
  readonly #counts: Int32Array;
  /** By state and code unit: the next state, once it is known. */
  readonly #steps: Int32Array;

  constructor(words: string[]) {
    const folded = words.map(foldText);
    const compare = (one: number, other: number) => {
      if (folded[one]! === folded[other]!) return one - other;
      return folded[one]! < folded[other]! ? -1 : 1;
    };
    this.#lengths = folded.map((word) => word.length);
    this.#sorted = Uint32Array.from(folded.keys()).sort(compare);
    const states = countStates(folded, this.#sorted);
    this.#children = new Int32Array(states + 1);
    this.#codes = new Uint16Array(states);
    this.#fallback = new Int32Array(states);
    this.#shorter = new Int32Array(states);
    this.#isEnding = new Uint8Array(states);
    const ends = this.#build(folded);
    this.#endings = Int32Array.from(ends, ({ state }) => state);
    this.#firsts = Int32Array.from(ends, ({ first }) => first);
    this.#counts = Int32Array.from(ends, ({ count }) => count);
    this.#linkEndings(states);
    this.#steps = new Int32Array(Math.min(states, CACHED_STATES_MAX) * CACHED_CODES).fill(UNKNOWN);
  }

  /** Calls `found` for each occurrence in a folded text, in the order of their ends. */
  search(folded: string, found: (hit: WordHit) => void): void {
    let state = ROOT;
    for (let at = 0; at < folded.length; at++) {
      state = this.#cachedStep(state, folded.charCodeAt(at));
      for (let suffix = this.#endsIn(state); suffix !== ROOT; suffix = this.#shorter[suffix]!) {
        const ending = indexIn(this.#endings, suffix);
        const first = this.#firsts[ending]!;
        for (let index = first; index < first + this.#counts[ending]!; index++) {
          const word = this.#sorted[index]!;
          found({ word, start: at + 1 - this.#lengths[word]!, end: at + 1 });
        }
      }
    }
  }

  /**
   * The state itself if words end there, else that of its longest suffix at which words end; the root if there is none.
   */
  #endsIn(state: number): number {
    return this.#isEnding[state] === 1 ? state : this.#shorter[state]!;
  }

  /**
   * Adds the states by depth: those that `fallback` refers to are there before the states that need them. Returns where
   * words end.
   */
  #build(folded: string[]): Ending[] {
    const ends: Ending[] = [];
    // Of the states of a depth, of which there are no more than words: where the words that begin with each are in
    // `sorted`.
    const newLevel = () => ({ first: new Int32Array(folded.length), last: new Int32Array(folded.length) });
    let [level, next] = [newLevel(), newLevel()];
    let [state, made] = [ROOT, 1];
    if (folded.length > 0) level.last[0] = folded.length;
    for (let depth = 0; state < made; depth++) {
      const [levelFrom, nextFrom] = [state, made];
      for (; state < nextFrom; state++) {
        const [first, last] = [level.first[state - levelFrom]!, level.last[state - levelFrom]!];
        let at = first;
        while (at < last && folded[this.#sorted[at]!]!.length === depth) at++;
        if (at > first && state !== ROOT) {
          this.#isEnding[state] = 1;
          ends.push({ state, first, count: at - first });
        }
        this.#children[state] = made;
        while (at < last) {
          const code = folded[this.#sorted[at]!]!.charCodeAt(depth);
          next.first[made - nextFrom] = at;
          while (at < last && folded[this.#sorted[at]!]!.charCodeAt(depth) === code) at++;
          next.last[made - nextFrom] = at;
          this.#codes[made] = code;
          this.#fallback[made] = state === ROOT ? ROOT : this.#step(this.#fallback[state]!, code);
          made++;
        }
        this.#children[state + 1] = made;
      }
      [level, next] = [next, level];
    }
    return ends;
  }

  #linkEndings(states: number): void {
    for (let state = 1; state < states; state++) this.#shorter[state] = this.#endsIn(this.#fallback[state]!);
  }

  #cachedStep(from: number, code: number): number {
    if (from >= CACHED_STATES_MAX || code >= CACHED_CODES) return this.#step(from, code);
    const at = from * CACHED_CODES + code;
    if (this.#steps[at] === UNKNOWN) this.#steps[at] = this.#step(from, code);
    return this.#steps[at]!;
  }

  #step(from: number, code: number): number {
    for (let state = from; ; state = this.#fallback[state]!) {
      const next = this.#childOf(state, code);
      if (next !== ROOT || state === ROOT) return next;
    }
  }

  /** The next state of a word that continues with `code`; the root if none does. */
  #childOf(state: number, code: number): number {
    let [from, to] = [this.#children[state]!, this.#children[state + 1]!];
    while (from < to) {
      const middle = (from + to) >> 1;
      const found = this.#codes[middle]!;
      if (found === code) return middle;
      if (found < code) from = middle + 1;
      else to = middle;
    }
    return ROOT;
  }
}

/** The index of a number in a sorted list that contains it. */
function indexIn(sorted: Int32Array, wanted: number): number {
  let [from, to] = [0, sorted.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle]! < wanted) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The number of different beginnings of the words, the empty one included. */
function countStates(words: string[], sorted: Uint32Array): number {
  let states = 1;
  let before = '';
  for (const index of sorted) {
    const word = words[index]!;
    let common = 0;
    while (common < before.length && common < word.length && before.charCodeAt(common) === word.charCodeAt(common))
      common++;
    states += word.length - common;
    before = word;
  }
  return states;
}
