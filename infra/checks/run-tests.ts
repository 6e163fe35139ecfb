import { createWriteStream, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import { findTests } from './find-tests.ts';
import { asOneRun, closingLine } from './one-test-run.ts';
import { reportBriefly } from './report-briefly.ts';

/**
 * `npm test`: every test of every workspace. `npm test -- <path, folder or glob>...` runs those alone and names each
 * test; `npm test -- --test-name-pattern=<pattern>` those that match. Every test's name goes to .tools/log/tests.txt.
 *
 * Nothing outlives its limit: a test (or a suite as a whole) fails, a file is killed with what it started (see
 * `limit-test-file.ts`), a whole run is stopped; each makes the run fail. `--test-timeout`, `--file-timeout` and
 * `--run-timeout` set the limits, in milliseconds.
 */

const root = join(import.meta.dirname, '../..');
const defaultLimits = {
  together: { testMs: 3 * 60_000, fileMs: 5 * 60_000 },
  alone: { testMs: 8 * 60_000, fileMs: 10 * 60_000 },
  runMs: 90 * 60_000,
};

const text = { type: 'string' } as const;
const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    'test-name-pattern': { ...text, multiple: true },
    'test-timeout': text,
    'file-timeout': text,
    'run-timeout': text,
  },
});
const patterns = options['test-name-pattern'] ?? [];
const stopping = new AbortController();
const stopSignals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

function runFiles(files: string[], concurrency: number, limits: { testMs: number; fileMs: number }): Readable {
  const fileLimit = new URL('limit-test-file.ts', import.meta.url);
  fileLimit.searchParams.set('ms', options['file-timeout'] ?? String(limits.fileMs));
  return run({
    files: files.map((path) => join(root, path)),
    cwd: root,
    concurrency,
    execArgv: [`--test-timeout=${options['test-timeout'] ?? limits.testMs}`, '--import', fileLimit.href],
    signal: stopping.signal,
    testNamePatterns: patterns.map((pattern) => new RegExp(pattern)),
  });
}

/** Counts what failed while the events pass through. */
async function* countFailures(
  events: AsyncIterable<TestEvent>,
  failures: { count: number },
): AsyncGenerator<TestEvent> {
  for await (const event of events) {
    const line = closingLine(event);
    if (line?.word === 'fail' || line?.word === 'cancelled') failures.count += line.value;
    yield event;
  }
}

/** Copies the events to the log, as a list of all test names, while they pass through. */
async function* listNames(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  mkdirSync(join(root, '.tools/log'), { recursive: true });
  const list = new spec();
  list.pipe(createWriteStream(join(root, '.tools/log/tests.txt')));
  for await (const event of events) {
    list.write(event);
    yield event;
  }
  list.end();
}

async function runAll(): Promise<number> {
  const { together, alone } = findTests(root, paths);
  if (together.length + alone.length === 0) {
    console.error(paths.length > 0 ? `no test file matches ${paths.join(' ')}` : 'no test file found');
    return 1;
  }
  const passes = [
    { files: together, concurrency: availableParallelism(), limits: defaultLimits.together },
    { files: alone, concurrency: 1, limits: defaultLimits.alone },
  ].filter(({ files }) => files.length > 0);
  const failures = { count: 0 };
  const merged = asOneRun(passes.map((pass) => () => runFiles(pass.files, pass.concurrency, pass.limits)));
  const events = listNames(countFailures(merged, failures));
  const report =
    paths.length + patterns.length > 0 ? Readable.from(events).pipe(new spec()) : reportBriefly(root, events);
  for await (const text of report) process.stdout.write(String(text));
  return failures.count > 0 ? 1 : 0;
}

let stoppedWith: number | null = null;
function stop(code: number): void {
  stoppedWith = code;
  stopping.abort();
}
for (const [signal, code] of Object.entries(stopSignals)) process.once(signal, () => stop(code));
const runMs = Number(options['run-timeout'] ?? defaultLimits.runMs);
const overdue = setTimeout(() => {
  console.error(`FAILED  the run has not ended within ${runMs / 1000} s: stopping it`);
  stop(1);
}, runMs);
process.exitCode = await runAll();
clearTimeout(overdue);
if (stoppedWith !== null) process.exitCode = stoppedWith;
