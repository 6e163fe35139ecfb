import { setTimeout as pause } from 'node:timers/promises';
import { rootOf, type TargetSession } from '../devtools/devtools.ts';
import { readTimes, type ThreadTimes } from '../devtools/thread-times.ts';
import {
  ANSWER_MS,
  BUSY_SHARE_CERTAIN,
  BUSY_SHARE_SUSPECT,
  MAIN_THREAD_WATCHED_AGAIN_MS,
  MAIN_THREAD_WATCHED_MS,
  underLoad,
} from '../session/budgets.ts';
import type { CaptureSession, MemberCapture } from '../session/capture-session.ts';
import type { Collector, Draft } from './collector.ts';

/** How busy the main threads of tabs and their frames are after load. Only those that seem busy are watched longer. */
export const mainThread: Collector = {
  name: 'main_thread',
  start(capture) {
    const { devtools } = capture;
    const since = new Map<TargetSession, ThreadTimes>();
    devtools.onAttached(async (session) => {
      if (session.type !== 'page' && session.type !== 'iframe') return;
      session.notify('Performance.enable');
      const times = await readTimes(session, underLoad(capture, ANSWER_MS));
      // A document that is busy from the first script on never loads.
      if (times) capture.threadTimes.set(session, times);
    });
    devtools.on('Page.loadEventFired', async (_, session) => {
      const times = await readTimes(session, underLoad(capture, ANSWER_MS));
      if (times) since.set(session, times);
    });
    return async (draft) => {
      for (const session of capture.busyDocuments.keys()) {
        const times = capture.threadTimes.get(session);
        if (times) since.set(session, times);
      }
      const seen = await Promise.all([...since].map(([session, times]) => watch(capture, session, times)));
      observe(capture, draft, seen);
    };
  },
};

type Seen = ReturnType<typeof measured>;

function observe({ landings }: MemberCapture, draft: Draft, seen: readonly Seen[]): void {
  for (const { ord, tab } of landings.numbered()) {
    for (const { session, busy_share, over_ms } of seen) {
      if (rootOf(session) !== tab.session || busy_share < BUSY_SHARE_SUSPECT) continue;
      const [facts, frameId] = [{ busy_share, over_ms }, session.frameId];
      draft.observations.push({ kind: 'main_thread', landing: ord, url: tab.url, facts, frameId });
    }
  }
}

/**
 * Adds the documents that were stopped for being busy and are not in `known`: a click of a later collector made them
 * busy.
 */
export function observeStopped(capture: MemberCapture, draft: Draft, known: ReadonlySet<TargetSession>): void {
  const stopped = [...capture.busyDocuments].flatMap(([session, until]) => {
    const since = capture.threadTimes.get(session);
    return !known.has(session) && since && until ? [measured(session, since, until, busyShare(since, until))] : [];
  });
  observe(capture, draft, stopped);
}

async function watch(capture: CaptureSession, session: TargetSession, since: ThreadTimes) {
  const stopped = capture.busyDocuments.get(session);
  if (stopped) return measured(session, since, stopped, busyShare(since, stopped));
  let until = await readTimes(session, underLoad(capture, ANSWER_MS));
  if (!until) return { session, busy_share: 0, over_ms: 0 };
  const watchFor = async (ms: number) => {
    await capture.ending.race(pause(ms));
    until = (await readTimes(session, underLoad(capture, ANSWER_MS))) ?? until;
  };
  const leftMs = MAIN_THREAD_WATCHED_MS - (until.at - since.at) * 1_000;
  if (leftMs > 0 && busyShare(since, until) >= BUSY_SHARE_SUSPECT) await watchFor(leftMs);
  let busy_share = busyShare(since, until);
  if (busy_share >= BUSY_SHARE_SUSPECT && busy_share < BUSY_SHARE_CERTAIN) {
    // A page that is busy with its start becomes less so.
    const middle = until;
    await watchFor(MAIN_THREAD_WATCHED_AGAIN_MS);
    busy_share = Math.min(busy_share, busyShare(middle, until));
  }
  return measured(session, since, until, busy_share);
}

const measured = (session: TargetSession, since: ThreadTimes, until: ThreadTimes, busy_share: number) => ({
  session,
  busy_share,
  over_ms: Math.round((until.at - since.at) * 1_000),
});

/** On an overloaded machine, this share of the time without a task still counts as idle. */
const IDLE_AT_LEAST = 0.5;

/**
 * The share of the time, 0 to 1, that a thread would have been busy on a CPU of its own: time that its tasks spend
 * waiting for a CPU counts neither as busy nor as idle, and part of the time between tasks is such a wait too. Pure.
 */
export function busyShare(since: ThreadTimes, until: ThreadTimes): number {
  const inTasks = Math.max(0, until.inTasks - since.inTasks);
  const busy = Math.max(0, until.cpu - since.cpu);
  if (busy === 0) return 0;
  const served = Math.min(1, busy / Math.max(inTasks, busy));
  const idle = Math.max(0, until.at - since.at - inTasks) * Math.max(served, IDLE_AT_LEAST);
  return Math.min(1, busy / (busy + idle));
}
