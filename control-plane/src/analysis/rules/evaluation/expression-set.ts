import { RE2Set } from 're2js';
import type { ExpressionConfig } from '../rule.ts';
import type { Expression } from './expression.ts';
import { requiredLiterals } from './required-literals.ts';
import { WordAutomaton } from './word-automaton.ts';

/** Expressions in one automaton of RE2. Larger sets need fewer passes over a text, and far more states (loadtest/bench/rules.ts). */
const SET_SIZE = 64;
const ASCII = /^\p{ASCII}*$/u;

export type SetMember = { config: ExpressionConfig; expression: Expression };

/**
 * Says which of many expressions a text contains. One pass finds the literals that they require; an expression is tried where one of
 * its own is there. Those without a literal that tells texts apart are joined to automata of RE2 (Russ Cox, "Regular Expression Matching
 * with a Trigram Index", 2012, does the first; `RE2::Set` the second).
 */
export class ExpressionSet {
  readonly #members: SetMember[];
  readonly #literals: WordAutomaton;
  /** The member that requires a literal. */
  readonly #owners: number[];
  readonly #others: JoinedSets;
  /** All of them: letter case is not as simple outside ASCII. Made when such a text comes first. */
  #all: JoinedSets | undefined;

  constructor(members: SetMember[]) {
    this.#members = members;
    const required = members.map(({ config }) => requiredLiterals(config.pattern));
    this.#literals = new WordAutomaton(required.flatMap((literals) => literals ?? []));
    this.#owners = required.flatMap((literals, at) => (literals ?? []).map(() => at));
    this.#others = new JoinedSets(
      members,
      required.flatMap((literals, at) => (literals ? [] : [at])),
    );
  }

  /** The places of the expressions that match, in the order they were given; those that are not `wanted` may be left out. */
  match(text: string, wanted: (at: number) => boolean = () => true): number[] {
    if (!ASCII.test(text)) return this.#joined().match(text);
    const tried = new Set<number>();
    this.#literals.search(text.toLowerCase(), ({ word }) => void tried.add(this.#owners[word]!));
    const found = [...tried].filter((at) => wanted(at) && this.#members[at]!.expression.test(text));
    return [...found, ...this.#others.match(text)].sort((one, other) => one - other);
  }

  #joined(): JoinedSets {
    this.#all ??= new JoinedSets(this.#members, [...this.#members.keys()]);
    return this.#all;
  }
}

/** Some of the members, so many at a time in one automaton. */
class JoinedSets {
  readonly #places: number[];
  readonly #sets: RE2Set[];

  constructor(members: SetMember[], places: number[]) {
    this.#places = places;
    this.#sets = Array.from({ length: Math.ceil(places.length / SET_SIZE) }, (_, at) => {
      const set = new RE2Set();
      for (const place of places.slice(at * SET_SIZE, (at + 1) * SET_SIZE)) {
        const { pattern, flags } = members[place]!.config;
        // A group of its own, so that the flag ends with its pattern.
        set.add(flags === 'i' ? `(?i:${pattern})` : pattern);
      }
      set.compile();
      return set;
    });
  }

  match(text: string): number[] {
    return this.#sets.flatMap((set, at) => set.match(text).map((index) => this.#places[at * SET_SIZE + index]!));
  }
}
