import type { Surface } from '@adsweep/shared/capture/network-request.ts';
import type { Budget } from './budget.ts';
import type { SearchedText } from './texts.ts';

/** A rule in a search: its id, and the surfaces whose texts it searches. */
export type ScopedRule = { id: string; surfaces: readonly Surface[] };

/**
 * A match of a rule and where it is. `start` counts UTF-16 units from the beginning of the text (for words, of the
 * folded text). `elapsed_ms` is the CPU time that the rule alone had used until then, without the passes that it shares
 * with other rules.
 */
export type RuleMatch = Omit<SearchedText, 'text'> & {
  rule_id: string;
  start: number;
  excerpt: string;
  elapsed_ms: number;
};

/** The most URLs that one rule matches on. */
export const MATCHES_PER_RULE_MAX = 20;
/**
 * Characters of the URLs of all matches. Beyond them, each rule has only its first match: a scan keeps far fewer
 * findings.
 */
const URL_CHARACTERS_MAX = 1024 * 1024;
/** Characters of an excerpt before and after a match. */
const EXCERPT_CONTEXT = 60;

/**
 * The matches of one search. A rule stops searching a URL after its first match there, and altogether after enough
 * matches of its own or of all.
 */
export class SearchRun {
  readonly matches: RuleMatch[] = [];
  /** Ids of the rules that have searched all their texts. */
  readonly finished = new Set<string>();
  readonly budget: Budget;
  readonly #urls = new Map<string, Set<string>>();
  readonly #spent = new Map<string, number>();
  #urlCharacters = 0;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  /** Whether the rule searches this text, and could still add a match on its URL. */
  wants(rule: ScopedRule, { surface, url }: SearchedText): boolean {
    if (!rule.surfaces.includes(surface)) return false;
    const urls = this.#urls.get(rule.id);
    if (!urls) return true;
    return this.#urlCharacters < URL_CHARACTERS_MAX && !urls.has(url) && urls.size < MATCHES_PER_RULE_MAX;
  }

  /** Adds the match of a rule from `start` to `end` of `text`, which is `searched` or its folded form. */
  add(rule: ScopedRule, searched: SearchedText, text: string, start: number, end: number): void {
    const { surface, place, landing, url } = searched;
    const urls = this.#urls.get(rule.id) ?? new Set();
    this.#urls.set(rule.id, urls.add(url));
    this.#urlCharacters += url.length;
    const elapsed_ms = Math.ceil(this.#spent.get(rule.id) ?? 0);
    const where = { surface, place, landing, url, start };
    this.matches.push({ rule_id: rule.id, ...where, excerpt: excerptOf(text, start, end), elapsed_ms });
  }

  /** Runs a rule's own work and adds its CPU time to that of the rule. */
  timed<T>(rule: ScopedRule, work: () => T): T {
    const began = this.budget.now();
    const result = work();
    this.#spent.set(rule.id, (this.#spent.get(rule.id) ?? 0) + this.budget.now() - began);
    return result;
  }
}

/** A match with the text around it, on one line, the match between « and ». */
function excerptOf(text: string, start: number, end: number): string {
  const before = text.slice(Math.max(0, start - EXCERPT_CONTEXT), start);
  const match = text.slice(start, Math.min(end, start + EXCERPT_CONTEXT * 2));
  const after = text.slice(end, end + EXCERPT_CONTEXT);
  const [first, cut, last] = [start > EXCERPT_CONTEXT, end - start > match.length, end + EXCERPT_CONTEXT < text.length];
  const ellipsis = (isCut: boolean) => (isCut ? '…' : '');
  const excerpt = `${ellipsis(first)}${before}«${match}${ellipsis(cut)}»${after}${ellipsis(last)}`;
  return excerpt.replaceAll(/[\p{C}\s]+/gu, ' ').toWellFormed();
}
