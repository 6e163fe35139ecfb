import type { CorpusCase } from './corpus.ts';

/** The result of one run of a case. */
export type Outcome = { subject: string; name: string; expected: string[]; found: string[] };

/**
 * The score of one subject. `recall`: the share of the expected slugs that were found, 0 to 1 (null: none were expected). `falsePositives`:
 * runs that found an unexpected slug. `flaky`: cases whose runs differ.
 */
export type Score = { subject: string; runs: number; recall: number | null; falsePositives: number; flaky: string[] };

/** The scores of all subjects, in the order of their first outcome. Pure. */
export function scoresOf(outcomes: Outcome[]): Score[] {
  return [...Map.groupBy(outcomes, ({ subject }) => subject)].map(([subject, own]) => {
    const wanted = own.reduce((sum, { expected }) => sum + expected.length, 0);
    const found = own.reduce((sum, one) => sum + one.expected.filter((slug) => one.found.includes(slug)).length, 0);
    const byCase = Map.groupBy(own, ({ name }) => name);
    return {
      subject,
      runs: own.length,
      recall: wanted === 0 ? null : found / wanted,
      falsePositives: own.filter((one) => one.found.some((slug) => !one.expected.includes(slug))).length,
      flaky: [...byCase].filter(([, runs]) => !agree(runs)).map(([name]) => name),
    };
  });
}

/** The score of all outcomes together. Pure. */
export function totalOf(outcomes: Outcome[]): Score {
  const all = outcomes.map((one) => ({ ...one, subject: 'all', name: `${one.subject}/${one.name}` }));
  return scoresOf(all)[0] ?? { subject: 'all', runs: 0, recall: null, falsePositives: 0, flaky: [] };
}

/**
 * Whether a score is good enough: at least the share `recallMin` of the expected slugs was found, and no other; where all are to be found, in every
 * run of a case. Pure.
 */
export const meets = ({ recall, falsePositives, flaky }: Score, recallMin = 1): boolean =>
  (recall ?? 1) >= recallMin && falsePositives === 0 && (recallMin < 1 || flaky.length === 0);

const agree = (runs: Outcome[]): boolean => new Set(runs.map(({ found }) => [...found].sort().join(' '))).size === 1;

/** Runs every case `times` with the concurrency `atOnce`, and reports each outcome. The outcome of a case that throws is its error. */
export async function runCases(
  cases: CorpusCase[],
  { times, atOnce }: { times: number; atOnce: number },
  report: (outcome: Outcome) => void = () => undefined,
): Promise<Outcome[]> {
  const queue = Array.from({ length: times }, () => cases).flat();
  const outcomes: Outcome[] = [];
  const take = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { subject, name, expected } = next;
      const found = await next.run().catch((error) => [`error: ${error}`]);
      const outcome = { subject, name, expected, found };
      outcomes.push(outcome);
      report(outcome);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  return outcomes;
}

/** The missing and the unexpected slugs of an outcome in words; '': it is as expected. Pure. */
export function describeFault({ subject, name, expected, found }: Outcome): string {
  const lacks = expected.filter((slug) => !found.includes(slug)).map((slug) => `lacks ${slug}`);
  const extra = found.filter((slug) => !expected.includes(slug)).map((slug) => `has ${slug}`);
  return lacks.length + extra.length === 0 ? '' : `${subject}/${name} ${[...lacks, ...extra].join(', ')}`;
}
