import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import type { EventData } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { isGroup, processorTime } from './group-tests.ts';

/** How the message of `limit-test-file.ts` about a killed file begins; the report does not name a file with a failed test otherwise. */
export const overdue = 'still running after ';

/** Files whose processor time is reported. */
const COSTLIEST_MAX = 12;

/** The words of Node.js's closing lines, in its order. */
const closingWords = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo', 'duration_ms'];

/**
 * The events of several consecutive runs as those of one: the closing lines and the summary of each run are held back,
 * and the totals are sent at the end. Each pass starts when the one before has ended.
 */
export async function* asOneRun(passes: (() => AsyncIterable<TestEvent>)[]): AsyncGenerator<TestEvent, void> {
  const totals = new Map(closingWords.map((word) => [word, 0]));
  for (const start of passes)
    for await (const event of start()) {
      const line = closingLine(event);
      if (line) totals.set(line.word, totals.get(line.word)! + line.value);
      else if (!isSummaryOfRun(event)) yield event;
    }
  for (const [word, total] of totals)
    yield { type: 'test:diagnostic', data: { nesting: 0, message: `${word} ${total}`, level: 'info' } };
}

/** The word and number of a run's closing line, or null for any other event. */
export function closingLine(event: TestEvent): { word: string; value: number } | null {
  if (event.type !== 'test:diagnostic' || event.data.file !== undefined) return null;
  const [word = '', value] = event.data.message.split(' ');
  return closingWords.includes(word) ? { word, value: Number(value) } : null;
}

function isSummaryOfRun(event: TestEvent): boolean {
  return event.type === 'test:summary' && event.data.file === undefined;
}

/**
 * The report of a whole run: one line per file when it ends, also where several share a process; then the files that took most processor time,
 * what was skipped and why, every failure in full, and Node.js's closing lines. Yields text.
 */
export async function* reportBriefly(root: string, events: AsyncIterable<TestEvent>): AsyncGenerator<string, void> {
  const atTheEnd: TestEvent[] = [];
  const skipped = new Map<string, number>();
  const printed = new Map<string, string>();
  const used = new Map<string, number>();
  let tests = 0;
  for await (const event of events) {
    if (event.type === 'test:fail' || closingLine(event)) atTheEnd.push(event);
    switch (event.type) {
      case 'test:stderr': {
        const { file, message } = event.data;
        if (message.startsWith(processorTime)) noteUsed(root, used, file, message);
        else printed.set(file, (printed.get(file) ?? '') + message);
        if (message.startsWith(overdue)) yield `FAILED  ${relative(root, file)}: ${message}`;
        break;
      }
      case 'test:pass':
      case 'test:fail':
        if (event.type === 'test:pass') countIfSkipped(skipped, event.data);
        if (event.data.details.type !== 'suite') tests += 1;
        if (event.data.nesting > 0) break;
        if (isFileOfGroup(root, event.data)) yield suiteLine(event.type === 'test:pass', event.data, tests);
        tests = 0;
        if (event.type === 'test:fail' && isWholeFile(event.data))
          yield `FAILED  ${event.data.name}\n${printed.get(event.data.name) ?? ''}`;
        break;
      case 'test:summary':
        if (event.data.file && !isGroup(relative(root, event.data.file)))
          yield fileLine(relative(root, event.data.file), event.data);
    }
  }
  yield* costliest(root, used);
  for (const [reason, count] of skipped) yield `left out: ${count} (${reason})\n`;
  for await (const text of Readable.from(atTheEnd).pipe(new spec())) yield String(text);
}

/** Notes the processor time in a line that a file has printed, or a group for one of its files. Of a whole group it is not told. */
function noteUsed(root: string, used: Map<string, number>, file: string, line: string): void {
  const [time = '', part] = line.slice(processorTime.length).trim().split(' s of ');
  if (part !== undefined) used.set(join(root, part), Number.parseFloat(time));
  else if (!isGroup(relative(root, file))) used.set(file, Number.parseFloat(time));
}

function* costliest(root: string, used: Map<string, number>): Generator<string> {
  const byTime = [...used].toSorted(([, one], [, other]) => other - one).slice(0, COSTLIEST_MAX);
  for (const [path, seconds] of byTime)
    yield `${`${seconds.toFixed(1)} s of processor time`.padStart(28)}  ${relative(root, path)}\n`;
}

function countIfSkipped(skipped: Map<string, number>, { skip }: EventData.TestPass): void {
  if (skip === undefined || skip === false) return;
  const reason = typeof skip === 'string' ? skip : 'no reason given';
  skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
}

const fileLine = (path: string, { success, counts, duration_ms }: EventData.TestSummary): string =>
  line(path, success, counts.tests, duration_ms);

type Ended = EventData.TestPass | EventData.TestFail;

/** Whether this is the suite of a file that shares a process with others. */
const isFileOfGroup = (root: string, { name, details }: Ended): boolean =>
  details.type === 'suite' && name.endsWith('.test.ts') && existsSync(join(root, name));

const suiteLine = (passed: boolean, { name, details }: Ended, tests: number): string =>
  line(name, passed, tests, details.duration_ms);

function line(path: string, passed: boolean, tests: number, ms: number): string {
  return `${passed ? 'ok    ' : 'FAILED'} ${(ms / 1000).toFixed(1).padStart(6)} s ${String(tests).padStart(4)}  ${path}\n`;
}

/** Whether a failure outside of all tests is that of the file itself: it could not be loaded, or did not end in time. */
function isWholeFile({ name, file }: EventData.TestFail): boolean {
  return file !== undefined && name.endsWith('.test.ts') && file.endsWith(name);
}
