import { relative } from 'node:path';
import { Readable } from 'node:stream';
import type { EventData } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { closingLine } from './one-test-run.ts';

/** How `limit-test-file.ts` begins to say that a file was ended; a file with a failed test is not named as a whole otherwise. */
export const overdue = 'still running after ';

/**
 * A report for someone who runs everything: a line per file as it ends; then what was left out and why, every failure
 * in full, and Node.js's own closing lines. Yields text.
 */
export async function* reportBriefly(root: string, events: AsyncIterable<TestEvent>): AsyncGenerator<string, void> {
  const atTheEnd: TestEvent[] = [];
  const leftOut = new Map<string, number>();
  const printed = new Map<string, string>();
  for await (const event of events) {
    if (event.type === 'test:fail' || closingLine(event)) atTheEnd.push(event);
    if (event.type === 'test:stderr') append(printed, event.data);
    if (event.type === 'test:stderr' && event.data.message.startsWith(overdue))
      yield `FAILED  ${relative(root, event.data.file)}: ${event.data.message}`;
    if (event.type === 'test:pass') countIfLeftOut(leftOut, event.data);
    if (event.type === 'test:summary' && event.data.file) yield fileLine(relative(root, event.data.file), event.data);
    if (event.type === 'test:fail' && isWholeFile(event.data))
      yield `FAILED  ${event.data.name}\n${printed.get(event.data.name) ?? ''}`;
  }
  for (const [reason, count] of leftOut) yield `left out: ${count} (${reason})\n`;
  for await (const text of Readable.from(atTheEnd).pipe(new spec())) yield String(text);
}

function append(printed: Map<string, string>, { file, message }: EventData.TestStderr): void {
  printed.set(file, (printed.get(file) ?? '') + message);
}

function countIfLeftOut(leftOut: Map<string, number>, { skip }: EventData.TestPass): void {
  if (skip === undefined || skip === false) return;
  const reason = typeof skip === 'string' ? skip : 'no reason given';
  leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
}

function fileLine(path: string, { success, counts, duration_ms }: EventData.TestSummary): string {
  const seconds = (duration_ms / 1000).toFixed(1).padStart(6);
  return `${success ? 'ok    ' : 'FAILED'} ${seconds} s ${String(counts.tests).padStart(4)}  ${path}\n`;
}

/** A file that broke outside any test (it could not be loaded, or did not end in time) stands in for a test. */
function isWholeFile({ name, nesting, file }: EventData.TestFail): boolean {
  return nesting === 0 && file !== undefined && name.endsWith('.test.ts') && file.endsWith(name);
}
