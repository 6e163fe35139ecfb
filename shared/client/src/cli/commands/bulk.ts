import { AdsweepError, type Schemas } from '../../client.ts';
import { command, expectWords, UsageError } from '../command.ts';
import { followScans } from '../follow-scans.ts';
import { readText } from '../read-text.ts';
import { showOutcomes } from '../show-outcomes.ts';
import { showUnlessDone } from '../show-unless-done.ts';
import { failOnOf, fieldsOf, SCAN_OPTIONS } from '../target.ts';
import { EXIT_CODES, type Outcome, type Verdict, verdictOf } from '../verdict.ts';
import { showEstimate } from './scan.ts';

type Problem = { line: number; target: string; code: string; message: string };

export const bulk = command({
  name: 'bulk',
  args: '<file | ->',
  summary: 'scan a list of URLs, one on each line, in several countries',
  options: {
    country: { type: 'string', short: 'c', means: 'the countries, such as US,DE' },
    ...SCAN_OPTIONS,
  },
  async run(words, values, { terminal, json, ...context }) {
    const [file] = expectWords(words, '<file | ->');
    const failOn = failOnOf(values['fail-on']);
    const country_codes = (values.country ?? '').split(',').flatMap((code) => code.trim() || []);
    if (country_codes.length === 0) throw new UsageError('--country is missing; adsweep api listGeos lists them');
    const target = ({ tag: 'ad_tag', vast: 'vast_tag', page: 'url' } as const)[values.as ?? 'page'];
    if (!target) throw new UsageError('--as must be page, tag or vast');
    const lines = (await readText(file!))
      .split('\n')
      .map((text, at) => ({ line: at + 1, text: text.trim() }))
      .filter(({ text }) => text !== '' && !text.startsWith('#'));
    // Nothing was checked: a list that is empty by mistake must not look clean.
    if (lines.length === 0) throw new UsageError(`${file} has no targets`);
    const api = await context.api();

    const scans: Schemas['Scan'][] = [];
    const estimates: Schemas['Estimate'][] = [];
    const problems: Problem[] = [];
    let sent = 0;
    const query = values['dry-run'] ? { dry_run: true } : {};
    const scanAll = async (): Promise<Outcome[]> => {
      for (const [at, { line, text }] of lines.entries()) {
        terminal.bar(at, lines.length, 'lines sent');
        try {
          const made = await api.createScansInBulk({ ...fieldsOf(values), [target]: text, country_codes }, { query });
          if (Array.isArray(made)) scans.push(...made);
          else estimates.push(made as Schemas['Estimate']);
        } catch (error) {
          // A refused line is a problem of that line; anything else would refuse all that follow.
          if (!(error instanceof AdsweepError) || error.status !== 422) throw error;
          problems.push({ line, target: text, code: error.code, message: error.message });
        }
        sent += 1;
      }
      const ids = scans.flatMap(({ id, repeat_scan_ids = [] }) => [id, ...repeat_scan_ids]);
      return values.wait && ids.length > 0 ? followScans(api, ids, terminal) : [];
    };
    /** `verdict`: null without one. */
    const show = (outcomes: Outcome[], verdict: Verdict | null) => {
      const estimate = values['dry-run'] ? sumOf(estimates) : null;
      if (json) {
        const shown = verdict === null ? scans.map((scan) => ({ scan, tags: [] })) : outcomes;
        return terminal.json({ verdict, scans: shown, problems, ...(estimate && { estimate }) });
      }
      if (estimate) showEstimate({ ...context, terminal, json }, estimate);
      if (outcomes.length > 0) showOutcomes({ ...context, terminal, json }, outcomes, failOn);
      else if (scans.length > 0)
        terminal.table(
          ['status', 'country', 'scan', 'target'],
          scans.map((one) => [one.status, one.country_code, one.id, one.url || target]),
        );
      if (problems.length > 0)
        terminal.table(
          ['line', 'problem', 'target'],
          problems.map((one) => [String(one.line), one.message, one.target]),
        );
      terminal.note(`${sent - problems.length} of ${lines.length} lines accepted`);
    };
    const outcomes = await showUnlessDone(scanAll(), () => scans.length > 0 && show([], null));
    const judged = verdictOf(outcomes, failOn);
    const verdict = judged === 'clean' && problems.length > 0 ? 'failed' : judged;
    show(outcomes, values.wait && !values['dry-run'] ? verdict : null);
    return EXIT_CODES[verdict];
  },
});

/** What all lines would do together. */
function sumOf(estimates: Schemas['Estimate'][]): Schemas['Estimate'] {
  const sum = (of: (one: Schemas['Estimate']) => number) => estimates.reduce((total, one) => total + of(one), 0);
  const routable = estimates.map((one) => one.routable);
  return {
    dry_run: true,
    scans: sum((one) => one.scans),
    checks: { min: sum(({ checks }) => checks.min), max: sum(({ checks }) => checks.max) },
    cost_micros: { min: sum(({ cost_micros }) => cost_micros.min), max: sum(({ cost_micros }) => cost_micros.max) },
    routable: routable.includes(false) ? false : routable.includes(null) ? null : true,
    warnings: [...new Set(estimates.flatMap(({ warnings }) => warnings))],
  };
}
