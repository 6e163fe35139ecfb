import type { SearchRule } from '../rule.ts';
import type { Budget } from './budget.ts';
import type { CompiledRules, ContentRule, UrlGroup, WordGroup } from './compiled-rules.ts';
import { excerptOf } from './excerpt.ts';
import type { Place, SearchedText, Texts } from './texts.ts';
import { foldText } from './word-automaton.ts';

/**
 * One hit of a rule and where it is: `start` counts UTF-16 units from the beginning of the text (for words, of its folded form).
 * `elapsed_ms` is the CPU that the rule had used until then, without the passes that it shares with others.
 */
export type RuleMatch = {
  rule_id: string;
  surface: SearchedText['surface'];
  place: Place;
  landing: number | null;
  url: string;
  start: number;
  excerpt: string;
  elapsed_ms: number;
};

/** What rules found so far, and which of them have looked at everything. */
export type RuleResults = { matches: RuleMatch[]; finished: Set<string> };

/** Links that one rule is attached to at the most. */
const MATCHES_PER_RULE_MAX = 20;

/**
 * Runs rules over the texts of a scan, those that cost least first. Ends where the budget is spent: what was found until then stays, and
 * `finished` lacks the rules that did not see everything. `progress` is called whenever a part of them is through.
 */
export function runRules(
  rules: CompiledRules,
  texts: Texts,
  budget: Budget,
  progress: (so: RuleResults) => void,
): RuleResults {
  const run = new Run(budget);
  const steps: [SearchRule[], () => boolean][] = [
    [[...rules.domains.values()].flat(), () => matchDomains(run, rules.domains, texts('chain'))],
    ...rules.urls.map((group): [SearchRule[], () => boolean] => [
      group.rules.map(({ rule }) => rule),
      () => matchUrls(run, group, texts(group.source)),
    ]),
    ...rules.words.map((group): [SearchRule[], () => boolean] => [
      group.owners,
      () => matchWords(run, group, texts(group.source)),
    ]),
    ...rules.contents.map((one): [SearchRule[], () => boolean] => [
      [one.rule],
      () => matchContents(run, one, texts(one.source)),
    ]),
  ];
  for (const [of, step] of steps) {
    if (budget.isSpent || !step()) break;
    for (const rule of of) run.finished.add(rule.id);
    progress(run);
  }
  return run;
}

/** The state of one run. A rule with enough matches is not looked for any more. */
class Run implements RuleResults {
  readonly matches: RuleMatch[] = [];
  readonly finished = new Set<string>();
  readonly budget: Budget;
  readonly #urls = new Map<string, Set<string>>();
  readonly #spent = new Map<string, number>();

  constructor(budget: Budget) {
    this.budget = budget;
  }

  /** Whether this rule looks at this text, and a match on its link would be new. */
  wants(rule: SearchRule, { surface, url }: SearchedText): boolean {
    if (!searches(rule, surface)) return false;
    const urls = this.#urls.get(rule.id);
    return !urls || (!urls.has(url) && urls.size < MATCHES_PER_RULE_MAX);
  }

  add(
    rule: SearchRule,
    { surface, place, landing, url }: SearchedText,
    text: string,
    start: number,
    end: number,
  ): void {
    const urls = this.#urls.get(rule.id) ?? new Set();
    this.#urls.set(rule.id, urls.add(url));
    const elapsed_ms = Math.ceil(this.#spent.get(rule.id) ?? 0);
    this.matches.push({
      rule_id: rule.id,
      surface,
      place,
      landing,
      url,
      start,
      excerpt: excerptOf(text, start, end),
      elapsed_ms,
    });
  }

  /** Runs a rule's own work and notes its CPU. */
  timed<T>(rule: SearchRule, work: () => T): T {
    const began = this.budget.now();
    const result = work();
    this.#spent.set(rule.id, (this.#spent.get(rule.id) ?? 0) + this.budget.now() - began);
    return result;
  }
}

/** The two types for requests look at all of them, whatever made them (spec 2.6). */
function searches({ rule_type, target }: SearchRule, surface: SearchedText['surface']): boolean {
  return rule_type.startsWith('regexp_request_') || target === 'creative_and_page' || target === surface;
}

/** Each of these answers whether it came to its end within the budget. */
function matchDomains(run: Run, domains: CompiledRules['domains'], texts: SearchedText[]): boolean {
  for (const text of texts) {
    const host = hostOf(text.url);
    for (const suffix of suffixesOf(host))
      for (const rule of domains.get(suffix) ?? [])
        if (run.wants(rule, text))
          run.add(rule, text, text.url, text.url.indexOf(host), text.url.indexOf(host) + host.length);
    if (run.budget.isSpent) return false;
  }
  return true;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');

/** `a.b.example` itself and the names above it. */
function suffixesOf(host: string): string[] {
  const labels = host.split('.');
  return host === '' ? [] : labels.map((_, at) => labels.slice(at).join('.'));
}

function matchUrls(run: Run, { set, rules }: UrlGroup, texts: SearchedText[]): boolean {
  for (const text of texts) {
    for (const index of set.match(text.text, (at) => run.wants(rules[at]!.rule, text))) {
      const { rule, expression } = rules[index]!;
      if (!run.wants(rule, text)) continue;
      const hit = run.timed(rule, () => expression.find(text.text));
      if (hit) run.add(rule, text, text.text, hit.start, hit.end);
    }
    if (run.budget.isSpent) return false;
  }
  return true;
}

function matchWords(run: Run, { automaton, owners }: WordGroup, texts: SearchedText[]): boolean {
  for (const text of texts) {
    const folded = foldText(text.text);
    automaton.search(folded, ({ word, start, end }) => {
      const rule = owners[word]!;
      if (run.wants(rule, text)) run.add(rule, text, folded, start, end);
    });
    if (run.budget.isSpent) return false;
  }
  return true;
}

function matchContents(run: Run, { rule, expression }: ContentRule, texts: SearchedText[]): boolean {
  for (const text of texts) {
    if (run.wants(rule, text)) {
      const hit = run.timed(rule, () => expression.find(text.text));
      if (hit) run.add(rule, text, text.text, hit.start, hit.end);
    }
    if (run.budget.isSpent) return false;
  }
  return true;
}
