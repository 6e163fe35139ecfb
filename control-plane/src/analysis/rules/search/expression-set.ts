import { RE2Set } from 're2js';
import type { Expression, Pattern } from './expression.ts';
import { edgeLiterals, requiredLiterals, TEXT_END, TEXT_START } from './pattern-literals.ts';
import { sampleUrls } from './sample-urls.ts';
import { WordAutomaton } from './word-automaton.ts';

/**
 * Expressions in one automaton of RE2. Larger sets need fewer passes over a text, and far more states
 * (loadtest/bench/rules.ts).
 */
const SET_SIZE = 32;
const ANCHORED_SET_SIZE = 64;
const ASCII = /^\p{ASCII}*$/u;
/** The least length of a beginning that is rare in texts, `TEXT_START` included. */
const BEGINNING_LENGTH_MIN = 2;
/** The least length of an ending that few texts have, without `TEXT_END`. */
const ENDING_LENGTH_MIN = 3;
/**
 * The most positions of one text at which anchored sets are tried, and the most characters that they may read together.
 * Beyond that the text is searched once by unanchored sets, so that the cost stays linear.
 */
const PLACES_MIN = 24;
const CHARACTERS_MAX = 50_000;
/**
 * RE2 builds the states of an automaton when a text first needs them. Sets of this size and more are warmed up with
 * sample URLs.
 */
const WARM_FROM = 16;
const WARMING_URLS = 300;

export type SetMember = { config: Pattern; expression: Expression };

/** Members whose matches all begin with the same literal, by index. */
type Beginning = { places: number[]; sets: JoinedSets };

/**
 * Finds which of many expressions match a text. One pass finds the literals that they require (Russ Cox, "Regular
 * Expression Matching with a Trigram Index", 2012). An expression with a rare literal is tried alone, if the text
 * contains the literal; expressions that begin with the same literal are joined and tried where it occurs; all others
 * are joined to automata that search the whole text (`RE2::Set`).
 */
export class ExpressionSet {
  readonly #members: SetMember[];
  readonly #literals: WordAutomaton;
  /** By literal: the index of the member that requires it, or the members that begin with it. */
  readonly #owners: (number | Beginning)[];
  readonly #others: JoinedSets;
  readonly #beginners: number[];
  /**
   * Built when a text first needs them: texts that are not ASCII (letter case is complex there), and texts full of
   * beginnings.
   */
  #all: JoinedSets | undefined;
  #unanchored: JoinedSets | undefined;

  constructor(members: SetMember[]) {
    this.#members = members;
    const plans = members.map(({ config }) => planOf(config.pattern));
    const begun = Map.groupBy(
      plans.flatMap((plan, place) => (typeof plan === 'string' ? [{ first: plan, place }] : [])),
      ({ first }) => first,
    );
    const beginnings = [...begun].map(([first, of]) => ({ first, places: of.map(({ place }) => place) }));
    const tried = plans.flatMap((plan, place) =>
      Array.isArray(plan) ? plan.map((literal) => ({ literal, place })) : [],
    );
    this.#literals = new WordAutomaton([
      ...tried.map(({ literal }) => literal),
      ...beginnings.map(({ first }) => first),
    ]);
    this.#owners = [
      ...tried.map(({ place }) => place),
      ...beginnings.map(({ places }) => ({ places, sets: new JoinedSets(members, places, RE2Set.ANCHOR_START) })),
    ];
    this.#beginners = beginnings.flatMap(({ places }) => places);
    this.#others = new JoinedSets(
      members,
      plans.flatMap((plan, place) => (plan === null ? [place] : [])),
    );
    if (members.length - new Set(tried.map(({ place }) => place)).size >= WARM_FROM)
      for (const url of sampleUrls(WARMING_URLS)) this.match(url);
  }

  /** The indexes of the matching members, ascending; members that are not `wanted` may be left out. */
  match(text: string, wanted: (at: number) => boolean = () => true): number[] {
    if (!ASCII.test(text)) return this.#allJoined().match(text);
    const found = new Set(this.#others.match(text));
    const tried = new Set<number>();
    const placesMax = Math.max(PLACES_MIN, Math.floor(CHARACTERS_MAX / text.length));
    let places = 0;
    this.#literals.search(TEXT_START + text.toLowerCase() + TEXT_END, ({ word, start }) => {
      const owner = this.#owners[word]!;
      if (typeof owner === 'number') tried.add(owner);
      else if (++places <= placesMax && owner.places.some((at) => !found.has(at) && wanted(at)))
        for (const at of owner.sets.match(text.slice(Math.max(0, start - TEXT_START.length)))) found.add(at);
    });
    if (places > placesMax) for (const at of this.#begunAnywhere().match(text)) found.add(at);
    for (const at of tried) if (wanted(at) && this.#members[at]!.expression.test(text)) found.add(at);
    return [...found].sort((one, other) => one - other);
  }

  #allJoined(): JoinedSets {
    this.#all ??= new JoinedSets(this.#members, [...this.#members.keys()]);
    return this.#all;
  }

  #begunAnywhere(): JoinedSets {
    this.#unanchored ??= new JoinedSets(this.#members, this.#beginners);
    return this.#unanchored;
  }
}

/**
 * How a pattern is searched: alone if one of these literals occurs, where this literal occurs, or (null) in the whole
 * text.
 */
function planOf(pattern: string): string[] | string | null {
  const telling = requiredLiterals(pattern);
  if (telling) return telling;
  const { first, last } = edgeLiterals(pattern);
  if (last.length - TEXT_END.length >= ENDING_LENGTH_MIN) return [last];
  return first.length >= BEGINNING_LENGTH_MIN ? first : null;
}

/** Some of the members, joined to automata of limited size. */
class JoinedSets {
  readonly #places: number[];
  readonly #size: number;
  readonly #sets: RE2Set[];

  constructor(members: SetMember[], places: number[], anchor: number = RE2Set.UNANCHORED) {
    this.#places = places;
    this.#size = anchor === RE2Set.UNANCHORED ? SET_SIZE : ANCHORED_SET_SIZE;
    this.#sets = Array.from({ length: Math.ceil(places.length / this.#size) }, (_, at) => {
      const set = new RE2Set(anchor);
      for (const place of places.slice(at * this.#size, (at + 1) * this.#size)) {
        const { pattern, flags } = members[place]!.config;
        // A group, so that the flag applies to this pattern only.
        set.add(flags === 'i' ? `(?i:${pattern})` : pattern);
      }
      set.compile();
      return set;
    });
  }

  match(text: string): number[] {
    return this.#sets.flatMap((set, at) => set.match(text).map((index) => this.#places[at * this.#size + index]!));
  }
}
