import { setTimeout as pause } from 'node:timers/promises';
import { type CommandAnswer, rootOf, type TargetSession } from '../devtools/devtools.ts';
import { WORKERS_PROFILED_MAX, WORKERS_WATCHED_MS } from '../session/budgets.ts';
import { clipUrl } from '../session/clip-url.ts';
import { isShown } from '../session/landings.ts';
import type { Collector } from './collector.ts';

type Profile = CommandAnswer<'Profiler.stop'>['profile'];

/** Between two looks at what a worker runs, in microseconds. */
const SAMPLING_US = 10_000;

/** How busy workers are, in tabs that have a WebSocket too: only there is it looked at, which takes a while. */
export const workerLoad: Collector = {
  name: 'worker_load',
  budgetMs: WORKERS_WATCHED_MS + 3_000,
  start(captureSession) {
    const sockets = new Map<string, string>();
    captureSession.devtools.on('Network.webSocketCreated', ({ url }, session) => {
      const { targetId } = rootOf(session);
      if (!sockets.has(targetId)) sockets.set(targetId, clipUrl(url));
    });
    return async (draft) => {
      for (const { ord, tab } of captureSession.landings.placed().filter(isShown)) {
        const socket_url = sockets.get(tab.session.targetId);
        const workers = [...captureSession.devtools.sessions()].filter(
          (session) => session.type === 'worker' && rootOf(session) === tab.session,
        );
        if (socket_url === undefined || workers.length === 0) continue;
        const shares = await Promise.all(workers.slice(0, WORKERS_PROFILED_MAX).map(watchWorker));
        const busy_share = Math.max(...shares);
        const facts = { workers: workers.length, busy_share, over_ms: WORKERS_WATCHED_MS, socket_url };
        draft.observations.push({ kind: 'worker_load', landing: ord, url: tab.url, facts });
      }
    };
  },
};

/** The share of the time that a worker is busy; 0 where it is gone. One that waits for a processor is busy too. */
async function watchWorker(session: TargetSession): Promise<number> {
  try {
    await session.send('Profiler.enable');
    await session.send('Profiler.setSamplingInterval', { interval: SAMPLING_US });
    await session.send('Profiler.start');
    await pause(WORKERS_WATCHED_MS);
    const { profile } = await session.send('Profiler.stop');
    session.notify('Profiler.disable');
    return busyShareOf(profile);
  } catch {
    return 0;
  }
}

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
