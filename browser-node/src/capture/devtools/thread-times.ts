import type { TargetSession } from './devtools.ts';

/** In seconds: the monotonic time, the time that the main thread spent in tasks, and its CPU time. */
export type ThreadTimes = { at: number; inTasks: number; cpu: number };

/** The times of a tab or frame. null: it was closed or is too busy to answer. */
export async function readTimes(session: TargetSession, deadlineMs: number): Promise<ThreadTimes | null> {
  const answer = await session.send('Performance.getMetrics', undefined, deadlineMs).catch(() => null);
  if (!answer) return null;
  const of = (name: string) => answer.metrics.find((metric) => metric.name === name)?.value ?? 0;
  // A new target has no metrics yet, and has done nothing. Chromium's monotonic clock is that of the system, as is
  // ours.
  return {
    at: of('Timestamp') || Number(process.hrtime.bigint()) / 1e9,
    inTasks: of('TaskDuration'),
    cpu: of('ThreadTime'),
  };
}
