import type { TestEvent } from 'node:test/reporters';

/** The words of Node.js's closing lines, in its order. */
const closingWords = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo', 'duration_ms'];

/**
 * The events of several runs after each other as those of one: each run's closing lines and its summary are held back,
 * added up and sent at the end. A pass is started when the one before has ended.
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

/** What a run's closing line says, or null for any other event. */
export function closingLine(event: TestEvent): { word: string; value: number } | null {
  if (event.type !== 'test:diagnostic' || event.data.file !== undefined) return null;
  const [word = '', value] = event.data.message.split(' ');
  return closingWords.includes(word) ? { word, value: Number(value) } : null;
}

function isSummaryOfRun(event: TestEvent): boolean {
  return event.type === 'test:summary' && event.data.file === undefined;
}
