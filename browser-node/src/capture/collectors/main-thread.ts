import { setTimeout as pause } from 'node:timers/promises';
import { rootOf, type TargetSession } from '../devtools/devtools.ts';
import { ANSWER_MS, BUSY_SHARE_SUSPECT, MAIN_THREAD_WATCHED_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { Collector } from './collector.ts';

/** In seconds: the monotonic time, the time that the main thread spent in tasks, and its CPU time. */
export type ThreadTimes = { at: number; inTasks: number; cpu: number };

/** How busy the main threads of tabs and their frames are after load. Only those that seem busy are watched longer. */
export const mainThread: Collector = {
  name: 'main_thread',
  start(capture) {
    const { devtools } = capture;
    const since = new Map<TargetSession, ThreadTimes>();
    devtools.onAttached((session) => {
      if (session.type === 'page' || session.type === 'iframe') session.notify('Performance.enable');
    });
    devtools.on('Page.loadEventFired', async (_, session) => {
      const times = await readTimes(capture, session);
      if (times) since.set(session, times);
    });
    return async (draft) => {
      const seen = await Promise.all([...since].map(([session, times]) => watch(capture, session, times)));
      for (const { ord, tab } of capture.landings.numbered()) {
        const busiest = seen
          .filter(({ session, busy_share }) => rootOf(session) === tab.session && busy_share >= BUSY_SHARE_SUSPECT)
          .sort((a, b) => b.busy_share - a.busy_share)[0];
        if (!busiest) continue;
        const { busy_share, over_ms } = busiest;
        const facts = { busy_share, over_ms };
        draft.observations.push({ kind: 'main_thread', landing: ord, url: tab.url, facts });
      }
    };
  },
};

async function watch(capture: CaptureSession, session: TargetSession, since: ThreadTimes) {
  let until = await readTimes(capture, session);
  const leftMs = until ? MAIN_THREAD_WATCHED_MS - (until.at - since.at) * 1_000 : 0;
  if (until && leftMs > 0 && busyShare(since, until) >= BUSY_SHARE_SUSPECT) {
    await capture.ending.race(pause(leftMs));
    until = (await readTimes(capture, session)) ?? until;
  }
  if (!until) return { session, busy_share: 0, over_ms: 0 };
  return { session, busy_share: busyShare(since, until), over_ms: Math.round((until.at - since.at) * 1_000) };
}

/** null: the target was closed or is too busy to answer. */
async function readTimes(capture: CaptureSession, session: TargetSession): Promise<ThreadTimes | null> {
  const deadlineMs = underLoad(capture, ANSWER_MS);
  const answer = await session.send('Performance.getMetrics', undefined, deadlineMs).catch(() => null);
  if (!answer) return null;
  const of = (name: string) => answer.metrics.find((metric) => metric.name === name)?.value ?? 0;
  return { at: of('Timestamp'), inTasks: of('TaskDuration'), cpu: of('ThreadTime') };
}

/** On an overloaded machine, this share of the time without a task still counts as idle. */
const IDLE_AT_LEAST = 0.5;

/**
 * The share of the time, 0 to 1, that a thread would have been busy on a CPU of its own: time that its tasks spend waiting for a CPU counts
 * neither as busy nor as idle, and part of the time between tasks is such a wait too. Pure.
 */
export function busyShare(since: ThreadTimes, until: ThreadTimes): number {
  const inTasks = Math.max(0, until.inTasks - since.inTasks);
  const busy = Math.max(0, until.cpu - since.cpu);
  if (busy === 0) return 0;
  const served = Math.min(1, busy / Math.max(inTasks, busy));
  const idle = Math.max(0, until.at - since.at - inTasks) * Math.max(served, IDLE_AT_LEAST);
  return Math.min(1, busy / (busy + idle));
}
