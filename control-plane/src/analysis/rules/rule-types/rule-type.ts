import type { Issue } from '@adsweep/shared/validation/issue.ts';
import type { Static, TSchema } from 'typebox';
import type { Tags } from '../../../reference/tags/tag-definitions.ts';
import type { Finding } from '../../detectors/detector.ts';
import type { ModelEvidence } from '../../model/model-evidence.ts';
import type { AskModel, Verdict } from '../../model/question.ts';
import type { ScopedRule, SearchRun } from '../search/search-run.ts';
import type { SearchedText, Source } from '../search/texts.ts';

/** The parts of a scan that a rule can look at. */
export const RULE_TARGETS = ['page', 'creative', 'creative_and_page'] as const;
export type RuleTarget = (typeof RULE_TARGETS)[number];

/** The pattern of a tag's slug. */
export const SLUG_PATTERN = '^[a-z0-9][a-z0-9_-]{0,99}$';

/**
 * What the check of a configuration needs: the known tags, and whether RE2 accepts patterns (asked in a thread).
 * `ofPlatform`: its combos count the tags of all organizations too; absent: false.
 */
export type RuleCheckParts = {
  tags: Tags;
  problemsOf: (patterns: string[]) => Promise<(string | null)[]>;
  ofPlatform?: boolean;
};

/** Asks for an organization (null: the platform) why RE2 refuses each of these patterns; null: RE2 accepts it. */
export type ProblemsOf = (owner: string | null, patterns: string[]) => Promise<(string | null)[]>;

/** What every type of rule has. `C` is the configuration of its rules. */
type TypeOfRule<Name extends string, C> = {
  /** The name in `rule_type` (spec 2.6). */
  type: Name;
  config: TSchema;
  targets: readonly RuleTarget[];
  /** What is wrong with a configuration that its schema accepts; paths begin within the configuration. */
  issues(config: C, parts: RuleCheckParts): Issue[] | Promise<Issue[]>;
};

/**
 * How a search proceeds, cheapest first: looks names up, one automaton over URLs, one pass for all words, one rule
 * after the other.
 */
export const SEARCH_COSTS = ['lookup', 'url_automaton', 'word_pass', 'rule_by_rule'] as const;

/** A type whose rules search texts. Types are run in the order of their `cost`, then of their `source`. */
export type SearchType<Name extends string, C> = TypeOfRule<Name, C> & {
  source: Source;
  cost: (typeof SEARCH_COSTS)[number];
  /** Which texts of the source a rule searches: those of its target, or all. */
  scope: 'target' | 'all';
  compile(rules: readonly { rule: ScopedRule; config: C }[]): CompiledSearch;
};

/** The rules of one type, ready to run. `unreadable`: ids of rules whose configuration cannot be read. */
export type CompiledSearch = { passes: SearchPass[]; unreadable: string[] };

/** Some rules that are matched in one pass over the texts. `match` returns whether the pass ended within the budget. */
export type SearchPass = { rules: ScopedRule[]; match(texts: readonly SearchedText[], run: SearchRun): boolean };

/** A rule whose configuration was read. */
export type ReadRule<R> = { rule: ScopedRule; read: R };

/** The pieces of a search type. `R` is a configuration as it was read, `P` some rules that are matched in one pass. */
type SearchPieces<Name extends string, S extends TSchema, R, P extends { rules: ScopedRule[] }> = Omit<
  SearchType<Name, Static<S>>,
  'compile'
> & {
  config: S;
  /** Reads one configuration. Throws if it cannot be read, for example because another version stored it. */
  read(config: Static<S>): R;
  /** Prepares what can be prepared before there are texts: rules that can share a pass are compiled together. */
  compile(rules: ReadRule<R>[]): P[];
  /** Searches texts; returns false when the budget is spent before the end. */
  match(pass: P, texts: readonly SearchedText[], run: SearchRun): boolean;
};

/** A search type made of its pieces. A rule that cannot be read does not affect the others. */
export function searchType<Name extends string, S extends TSchema, R, P extends { rules: ScopedRule[] }>({
  read,
  compile,
  match,
  ...type
}: SearchPieces<Name, S, R, P>): SearchType<Name, Static<S>> {
  return {
    ...type,
    compile: (rules) => {
      const [readable, unreadable]: [ReadRule<R>[], string[]] = [[], []];
      for (const { rule, config } of rules)
        try {
          readable.push({ rule, read: read(config) });
        } catch {
          unreadable.push(rule.id);
        }
      const passes = readable.length === 0 ? [] : compile(readable);
      return {
        unreadable,
        passes: passes.map((pass) => ({ rules: pass.rules, match: (texts, run) => match(pass, texts, run) })),
      };
    },
  };
}

/** A tag that was found, with its category. */
export type FoundTag = Pick<Finding, 'tag_slug' | 'url'> & { category: string };

/** A type whose rules look at the tags that everything else found. They run once, after all others. */
export type TagType<Name extends string, C> = TypeOfRule<Name, C> & {
  source: 'tags';
  /** The slugs that a configuration names. */
  inputs(config: C): string[];
  /** The URLs on which the rule holds: [''] for the whole scan, [] for none. `links` are all links of the scan. */
  match(config: C, found: FoundTag[], links: string[]): string[];
  /** Which condition no scan can meet as the tags are; null: a scan can meet all. */
  unmet(config: C, tags: Tags): string | null;
  /** A configuration in words, for the detail of a finding. */
  describe(config: C): string;
};

/** A type whose rules are decided by an AI model. */
export type ModelType<Name extends string, C> = TypeOfRule<Name, C> & {
  source: 'model';
  /** The tags that a rule can assign, each with its meaning. */
  tags(config: Partial<C>): Record<string, string>;
  /**
   * Asks for the tags of a rule, of those in `slugs`. Evidence without content has none. Rejects only if `signal` is
   * aborted.
   */
  match(
    ask: AskModel,
    rule: { name: string; target: RuleTarget; config: C },
    slugs: string[],
    evidence: ModelEvidence,
    signal: AbortSignal,
  ): Promise<Verdict<Finding[]>>;
};

/** A registry of rule types: each has all pieces of its kind, and is listed under its own name. */
export const registryOf = <
  R extends { [N in keyof R & string]: SearchType<N, never> | TagType<N, never> | ModelType<N, never> },
>(
  types: R,
): R => types;
