import { setTimeout as pause } from 'node:timers/promises';
import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import { WORKER_TYPES } from '../../browser/cdp-messages.ts';
import { ResponseTooLargeError } from '../../browser/own-commands.ts';
import { type CommandAnswer, rootOf, type TargetSession } from '../devtools/devtools.ts';
import {
  BUSY_SHARE_CERTAIN,
  BUSY_SHARE_SUSPECT,
  machineLoadFactor,
  WORKERS_GLANCE_MS,
  WORKERS_PROFILED_MAX,
  WORKERS_WATCHED_MS,
} from '../session/budgets.ts';
import { isShown } from '../session/open-tabs.ts';
import { clipUrl } from '../session/urls.ts';
import type { Collector } from './collector.ts';

type Profile = CommandAnswer<'Profiler.stop'>['profile'];

/** The profiler's sampling interval, in microseconds. */
const SAMPLING_US = 10_000;

/** A worker on a busy machine may take this long to answer. */
const UNANSWERED_AT_LEAST_MS = 1_000;

/**
 * How busy workers are: those of a tab that also has a WebSocket, and those that are found computing. Chromium does not
 * report which tab started a shared or service worker: these, with their own workers and sockets, are attributed to the
 * first tab. A worker belongs to the frame that started it, a socket to that of its target.
 */
export const workerLoad: Collector = {
  name: 'worker_load',
  start(capture) {
    const sockets = new Map<TargetSession, string>();
    capture.devtools.on('Network.webSocketCreated', ({ url }, session) => {
      if (!sockets.has(session)) sockets.set(session, clipUrl(url));
    });
    return async (draft) => {
      for (const [index, { ord, tab }] of capture.landings.numbered().filter(isShown).entries()) {
        const homes = index === 0 ? [tab.session.targetId, ''] : [tab.session.targetId];
        const ofTab = [...sockets].filter(([session]) => homes.includes(tabOf(session)));
        const all = [...capture.devtools.sessions()].filter(
          (session) => WORKER_TYPES.has(session.type) && homes.includes(tabOf(session)),
        );
        const workers = all.slice(0, WORKERS_PROFILED_MAX);
        const sharesOver = (ms: number) => Promise.all(workers.map((worker) => watchWorker(worker, tab.session, ms)));
        const isIdle = (shares: number[]) => Math.max(0, ...shares) < BUSY_SHARE_SUSPECT / 2;
        if (ofTab.length === 0 && isIdle(await sharesOver(WORKERS_GLANCE_MS))) continue;
        const shares = await sharesOver(WORKERS_WATCHED_MS);
        if (all.length === 0) continue;
        for (const frameId of new Set([...all, ...ofTab.map(([session]) => session)].map((one) => one.frameId))) {
          const ofFrame = all.filter((worker) => worker.frameId === frameId);
          const busy_share = Math.max(0, ...ofFrame.map((worker) => shares[workers.indexOf(worker)] ?? 0));
          const [, socket_url = ''] = ofTab.find(([session]) => session.frameId === frameId) ?? [];
          const facts = { workers: ofFrame.length, busy_share, over_ms: WORKERS_WATCHED_MS, socket_url };
          draft.observations.push({ kind: 'worker_load', landing: ord, url: tab.url, facts, frameId });
        }
      }
    };
  },
};

function tabOf(session: TargetSession): string {
  const root = rootOf(session);
  return root.type === 'page' ? root.targetId : '';
}

/**
 * The share of the time that a worker is busy; 0 if it ended. A worker that waits for a CPU counts as busy, and so does
 * one that does not answer for that time, as long as the main thread of its tab answers, and one whose profile is too
 * large to be read.
 */
async function watchWorker(session: TargetSession, tab: TargetSession, ms: number): Promise<number> {
  try {
    await session.send('Profiler.enable', undefined, Math.max(ms, UNANSWERED_AT_LEAST_MS));
    await session.send('Profiler.setSamplingInterval', { interval: SAMPLING_US });
    await session.send('Profiler.start');
    await pause(ms);
    const { profile } = await session.send('Profiler.stop');
    session.notify('Profiler.disable');
    return certainShare(busyShareOf(profile), machineLoadFactor());
  } catch (error) {
    if (error instanceof ResponseTooLargeError) return 1;
    return error instanceof DeadlineError && (await answers(tab)) ? 1 : 0;
  }
}

async function answers(session: TargetSession): Promise<boolean> {
  const asked = session.send('Runtime.evaluate', { expression: '1' }, UNANSWERED_AT_LEAST_MS);
  return asked.then(
    () => true,
    () => false,
  );
}

/**
 * What is certain of a worker's share: on an overloaded machine its work takes longer, because it waits for a CPU, and
 * its pauses do not; unless it is busy nearly always. `factor`: by which the machine is overloaded, and its work takes
 * longer. Pure.
 */
export const certainShare = (share: number, factor: number): number =>
  share >= BUSY_SHARE_CERTAIN ? share : share / (share + (1 - share) * factor);

/** The share of a profile's time in which the thread was not idle, 0 to 1. Pure. */
export function busyShareOf({
  nodes,
  samples = [],
  timeDeltas = [],
}: Pick<Profile, 'nodes' | 'samples' | 'timeDeltas'>): number {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id));
  const time = (counts: (id: number) => boolean) =>
    samples.reduce((sum, id, index) => sum + (counts(id) ? Math.max(0, timeDeltas[index] ?? 0) : 0), 0);
  const all = time(() => true);
  return all === 0 ? 0 : time((id) => !idle.has(id)) / all;
}

/** The tab that started frames and workers without end; the first one if it is not known which did. */
export const childFlood: Collector = {
  name: 'child_flood',
  start({ devtools, landings }) {
    let by: TargetSession | null = null;
    let childrenMax = 0;
    devtools.onFlooded((target, max) => {
      by = target;
      childrenMax = max;
    });
    return (draft) => {
      if (childrenMax === 0) return;
      const tabs = landings.numbered();
      const root = by && rootOf(by);
      const flooding = tabs.find(({ tab }) => tab.session === root) ?? tabs[0];
      if (!flooding) return;
      const { ord, tab } = flooding;
      const facts = { children_max: childrenMax };
      const frameId = by?.frameId ?? null;
      draft.observations.push({ kind: 'child_flood', landing: ord, url: tab.url, facts, frameId });
    };
  },
};
