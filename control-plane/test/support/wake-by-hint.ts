import assert from 'node:assert/strict';
import type { CrawlQueue } from '../../src/crawling/queue/queue.ts';
import type { LeaseRef, WorkHints } from '../../src/crawling/queue/queue-shards.ts';
import { singleProcessHints } from '../../src/platform/wake-hub.ts';

/** Longer than any test. */
const LONG_MS = 600_000;
/** A hint takes milliseconds; the rest is for a busy machine. */
const OVERDUE_MS = 20_000;

/** Hints that alone end a wait for work: the queue's own poll would hide that one is missing. */
export function hintsWithoutPoll(hints: WorkHints = singleProcessHints()): WorkHints {
  const signal: WorkHints['signal'] = (topic) => ({
    ...hints.signal(topic),
    wait: (_, stop) => hints.signal(topic).wait(LONG_MS, stop),
  });
  return { ...hints, signal };
}

/** Waits for work at a queue with `hintsWithoutPoll`. Rejects where no hint ends the wait. */
export async function wokenByHint(queue: Pick<CrawlQueue, 'waitForWork'>): Promise<void> {
  const overdue = AbortSignal.timeout(OVERDUE_MS);
  await queue.waitForWork(LONG_MS, overdue);
  assert.equal(overdue.aborted, false, 'no hint woke the caller');
}

/**
 * Takes a job as a node does that looks at first, and then once for each hint: the job, and how many looks that took.
 */
export async function takeWhenWoken(
  queue: Pick<CrawlQueue, 'take' | 'waitForWork'>,
  nodeId: string,
): Promise<{ ref: LeaseRef; looks: number }> {
  for (let looks = 1; ; looks += 1) {
    const [ref] = await queue.take(nodeId, 1, 256);
    if (ref) return { ref, looks };
    await wokenByHint(queue);
  }
}
