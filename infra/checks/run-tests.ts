import { createWriteStream, mkdirSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import { findTests, isResilience, isSlow, type TestFiles } from './find-tests.ts';
import { groupTests } from './group-tests.ts';
import { asOneRun, closingLine, reportBriefly } from './report-run.ts';

/**
 * `npm run test:all` (`--all`): every test of every workspace. `npm test`: all but those that kill, pause, cut off or flood what they test
 * (`*.resilience.*.test.ts`). `npm test -- --quick` also leaves out the files that start a browser (`*.e2e.test.ts`), those
 * that take long without one (`*.slow.test.ts`), and the tests of others that do (`shared/test/support/slow.ts`). `npm test -- <path, folder or
 * glob>...` runs only those and names each test; `npm test -- --test-name-pattern=<pattern>` those that match. The names of all tests are
 * written to .tools/log/tests.txt.
 *
 * A file that starts a browser, and each file of a run of only some, has a process of its own; in a whole run, up to thirty-two others share one
 * (see `group-tests.ts`). With `--file-timeout` all have their own.
 *
 * Everything has a time limit: a test (or a whole suite) fails, a file is killed with what it started (see
 * `limit-test-file.ts`), a run is stopped; each makes the run fail. `--test-timeout`, `--file-timeout` and
 * `--run-timeout` set the limits, in milliseconds.
 */

interface Pass {
  files: string[];
  startsBrowser: boolean;
  /** Files that run at the same time. */
  concurrency: number;
  testMs: number;
  fileMs: number;
}

const root = join(import.meta.dirname, '../..');
const cores = availableParallelism();
const RUN_MS = 90 * 60_000;
/** What a file with browsers takes, with the farm that some start. */
const BROWSER_FILE_BYTES = 2 * 1024 ** 3;

const text = { type: 'string' } as const;
const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    'test-name-pattern': { ...text, multiple: true },
    'test-timeout': text,
    'file-timeout': text,
    'run-timeout': text,
  },
});
const patterns = options['test-name-pattern'] ?? [];
const isWhole = paths.length === 0 && patterns.length === 0 && options['file-timeout'] === undefined;
const stopping = new AbortController();
const stopSignals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/**
 * The passes of a run, one after another. Each core has a file to run while others wait, for a deadline or for Redis. A file with browsers
 * waits most of its time, for what pages do; one more than there are cores (at most four) run at once, and no more than fit into the memory.
 */
function passesOf({ withoutBrowser, withBrowser }: TestFiles): Pass[] {
  const quick: Pass = {
    files: isWhole ? groupTests(root, withoutBrowser) : withoutBrowser,
    startsBrowser: false,
    concurrency: cores + 2,
    testMs: 3 * 60_000,
    fileMs: isWhole ? 15 * 60_000 : 5 * 60_000,
  };
  const browsers: Pass = {
    files: withBrowser,
    startsBrowser: true,
    concurrency: Math.max(1, Math.min(4, cores + 1, Math.floor(totalmem() / BROWSER_FILE_BYTES))),
    testMs: 8 * 60_000,
    fileMs: 10 * 60_000,
  };
  return [quick, browsers].filter(({ files }) => files.length > 0);
}

function runPass({ files, startsBrowser, concurrency, testMs, fileMs }: Pass): Readable {
  const fileLimit = new URL('limit-test-file.ts', import.meta.url);
  fileLimit.searchParams.set('ms', options['file-timeout'] ?? String(fileMs));
  fileLimit.searchParams.set('browser', startsBrowser ? 'yes' : 'no');
  return run({
    files: files.map((path) => join(root, path)),
    cwd: root,
    concurrency,
    execArgv: [`--test-timeout=${options['test-timeout'] ?? testMs}`, '--import', fileLimit.href],
    signal: stopping.signal,
    testNamePatterns: patterns.map((pattern) => new RegExp(pattern)),
  });
}

/** The files of this run. Prints how many a run without paths leaves to `npm run test:all`, so that nobody takes it for a run of everything. */
function ofThisRun({ withoutBrowser, withBrowser }: TestFiles): TestFiles {
  if (options.all || paths.length + patterns.length > 0) return { withoutBrowser, withBrowser };
  const left = [...withoutBrowser, ...withBrowser].filter(isResilience);
  if (left.length > 0) console.log(`left to npm run test:all: ${left.length} files (*.resilience.*.test.ts)`);
  const isOther = (path: string) => !isResilience(path);
  return { withoutBrowser: withoutBrowser.filter(isOther), withBrowser: withBrowser.filter(isOther) };
}

/** The files of a quick run, which leave out their slow tests from then on. Prints how many files it leaves out. */
function leaveOut({ withoutBrowser, withBrowser }: TestFiles): TestFiles {
  process.env.ADSWEEP_TEST_QUICK = '1';
  const slow = withoutBrowser.filter(isSlow);
  console.log(`left out: ${withBrowser.length} files that start a browser (*.e2e.test.ts)`);
  console.log(`left out: ${slow.length} files that take long (*.slow.test.ts)`);
  return { withoutBrowser: withoutBrowser.filter((path) => !isSlow(path)), withBrowser: [] };
}

/** Counts the failures among the events that pass through. */
async function* countFailures(
  events: AsyncIterable<TestEvent>,
  failures: { count: number },
): AsyncGenerator<TestEvent> {
  for await (const event of events) {
    const line = closingLine(event);
    if (line?.word === 'fail' || line?.word === 'cancelled') failures.count += line.value;
    // Node.js counts tests alone: a suite fails also where a file of a group cannot be loaded.
    if (event.type === 'test:fail' && event.data.details.type === 'suite') failures.count += 1;
    yield event;
  }
}

/** Writes the names of all tests among the events that pass through to the log. */
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
  const found = ofThisRun(findTests(root, paths));
  const passes = passesOf(options.quick ? leaveOut(found) : found);
  if (passes.length === 0) {
    console.error(paths.length > 0 ? `no test file matches ${paths.join(' ')}` : 'no test file found');
    return 1;
  }
  const failures = { count: 0 };
  const merged = asOneRun(passes.map((pass) => () => runPass(pass)));
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
const runMs = Number(options['run-timeout'] ?? RUN_MS);
const overdue = setTimeout(() => {
  console.error(`FAILED  the run has not ended within ${runMs / 1000} s: stopping it`);
  stop(1);
}, runMs);
process.exitCode = await runAll();
clearTimeout(overdue);
if (stoppedWith !== null) process.exitCode = stoppedWith;
