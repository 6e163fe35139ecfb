import { createWriteStream, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { findTests } from './find-tests.ts';
import { asOneRun, closingLine } from './one-test-run.ts';
import { reportBriefly } from './report-briefly.ts';

/**
 * `npm test`: every test of every workspace. `npm test -- <path, folder or glob>...` runs those alone and names each
 * test; `npm test -- --test-name-pattern=<pattern>` those that match. Every test's name goes to .tools/log/tests.txt.
 */

const root = join(import.meta.dirname, '../..');
const namePattern = '--test-name-pattern=';
/** A file that is still running after this has left something open, or hangs. */
const fileTimeoutMs = { together: 5 * 60_000, alone: 10 * 60_000 };

const words = process.argv.slice(2);
const patterns = words.filter((word) => word.startsWith(namePattern)).map((word) => word.slice(namePattern.length));
const paths = words.filter((word) => !word.startsWith('-'));
const stopping = new AbortController();
const stopSignals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

function runFiles(files: string[], concurrency: number, timeout: number): Readable {
  return run({
    files: files.map((path) => join(root, path)),
    cwd: root,
    concurrency,
    timeout,
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
    { files: together, concurrency: availableParallelism(), timeout: fileTimeoutMs.together },
    { files: alone, concurrency: 1, timeout: fileTimeoutMs.alone },
  ].filter(({ files }) => files.length > 0);
  const failures = { count: 0 };
  const merged = asOneRun(passes.map((pass) => () => runFiles(pass.files, pass.concurrency, pass.timeout)));
  const events = listNames(countFailures(merged, failures));
  const report = words.length > 0 ? Readable.from(events).pipe(new spec()) : reportBriefly(root, events);
  for await (const text of report) process.stdout.write(String(text));
  return failures.count > 0 ? 1 : 0;
}

let stoppedWith: number | null = null;
for (const [signal, code] of Object.entries(stopSignals))
  process.once(signal, () => {
    stoppedWith = code;
    stopping.abort();
  });
process.exitCode = await runAll();
if (stoppedWith !== null) process.exitCode = stoppedWith;
