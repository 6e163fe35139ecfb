import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FETCHED_CORPUS } from '../../shared/test/support/corpus-data.ts';
import { machine } from '../bench/report.ts';
import { drawScores } from './draw-scores.ts';
import { fetchCorpus, readManifest } from './fetch.ts';
import { readArguments, USAGE } from './read-arguments.ts';
import { CORPORA } from './registry.ts';
import { describeFault, meets, type Outcome, runCases, type Score, scoresOf, totalOf } from './score.ts';

/**
 * `npm run corpus -- [runs] [at once] [corpus] [subject ...]`: repeatedly scans everything whose outcome is known.
 * Prints recall, false positives and flaky cases of each subject, and saves them in `loadtest/results`. Exits with 1 if
 * a score is below 100 %, or below what its corpus requires, or if no case was run, and with 2 if the arguments are
 * invalid.
 *
 * `npm run corpus -- fetch [folder]` downloads the data of `sources.json` into `.tools/corpus`, or into the folder.
 */
if (process.argv[2] === 'fetch') {
  const problems = await fetchCorpus(readManifest(), process.argv[3] ?? FETCHED_CORPUS, console.log);
  for (const problem of problems) console.error(`FAILED ${problem}`);
  process.exit(problems.length === 0 ? 0 : 1);
}

const names = CORPORA.map(({ name }) => name);
const plan = readArguments(process.argv.slice(2), names);
if (!plan) {
  console.error(`${USAGE}\ncorpora: ${names.join(', ')}`);
  process.exit(2);
}
const { times, atOnce, only, subjects } = plan;

const scores: Score[] = [];
const faults: string[] = [];
const details: string[] = [];
let isPassed = true;
for (const corpus of CORPORA.filter(({ name }) => only === undefined || name === only)) {
  const open = await corpus.open();
  if (!open) continue;
  try {
    const cases = open.cases.filter(({ subject }) => subjects.length === 0 || subjects.includes(subject));
    const outcomes = await runCases(cases, { times, atOnce }, printOutcome);
    scores.push(...scoresOf(outcomes));
    const total = totalOf(outcomes);
    isPassed &&= meets(total, corpus.recallMin);
    if (corpus.recallMin !== undefined)
      details.push(
        `${corpus.name}: recall ${total.recall?.toFixed(3) ?? '-'}, at least ${corpus.recallMin} is required.`,
      );
    if (open.describeLast) details.push(open.describeLast());
  } finally {
    await open.close();
  }
}
if (scores.length === 0) {
  console.error('no case was run: the data are missing, or no case has one of these subjects');
  process.exit(1);
}
save();
process.exit(isPassed ? 0 : 1);

function printOutcome(outcome: Outcome): void {
  const fault = describeFault(outcome);
  if (fault) faults.push(fault);
  console.log(fault || `${outcome.subject}/${outcome.name} as expected`);
}

function save(): void {
  const date = new Date().toISOString().slice(0, 10);
  const name = only !== undefined ? `${date}-corpus-${only}` : `${date}-corpus`;
  const dir = join(import.meta.dirname, '../results');
  mkdirSync(dir, { recursive: true });
  const title = `Corpus, ${date}: ${times} runs of each case, ${atOnce} at once`;
  writeFileSync(join(dir, `${name}.svg`), drawScores(title, scores));
  const rows = scores.map(
    ({ subject, runs, recall, falsePositives, flaky }) =>
      `| ${subject} | ${runs} | ${recall?.toFixed(3) ?? '-'} | ${falsePositives} | ${flaky.join(', ') || '-'} |`,
  );
  const text = [
    `# ${title}`,
    `![scores](${name}.svg)`,
    ['| subject | runs | recall | false positives | flaky cases |', '| --- | --- | --- | --- | --- |', ...rows].join(
      '\n',
    ),
    faults.length === 0
      ? 'Every run found what was expected.'
      : ['Differences:', ...faults.map((one) => `- ${one}`)].join('\n'),
    ...details,
    machine(),
  ].join('\n\n');
  writeFileSync(join(dir, `${name}.md`), `${text}\n`);
  console.log(`\n${text}`);
}
