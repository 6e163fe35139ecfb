import { setTimeout as pause } from 'node:timers/promises';
import { note } from '@adsweep/shared/capture/notes.ts';
import { rootOf, type TargetSession } from '../devtools/devtools.ts';
import { readTimes, type ThreadTimes } from '../devtools/thread-times.ts';
import { stopFrame } from './busy-scripts.ts';
import type { CaptureSession } from './capture-session.ts';
import type { OpenTab } from './open-tabs.ts';

/** How long frames are watched: of those of an origin, not each sends messages. */
const WATCHED_MS = 250;
/**
 * A frame that sends messages without end is busy for at least this share of the time, and about as busy as the
 * busiest.
 */
const BUSY_SHARE = 0.2;
const NEARLY_AS_BUSY = 0.5;

/**
 * Stops the scripts of frames of other sites that send messages to the page around them, or to other frames, without
 * end: these would not answer any more, and end for lack of memory, although they do nothing wrong.
 */
export function stopMessageFloods(session: CaptureSession): void {
  let isStopping = false;
  session.reports.on('message-flood', async (page, [origin = '']) => {
    const tab = session.tabs.known(page);
    if (!tab || isStopping) return;
    isStopping = true;
    await stopSenders(session, tab, origin);
    isStopping = false;
  });
}

async function stopSenders(session: CaptureSession, { tab }: OpenTab, origin: string): Promise<void> {
  const running = [...session.devtools.sessions()].filter(
    (one) => one.type === 'iframe' && rootOf(one) === tab.session && !one.hasCrashed && !session.busyDocuments.has(one),
  );
  const ofOrigin = running.filter((one) => originOf(session, one) === origin);
  const senders = await busiest(ofOrigin.length > 0 ? ofOrigin : running);
  if (senders.length === 0) return;
  session.notes.push(note('stopped_busy'));
  await Promise.all(senders.map((one) => stopFrame(session, one)));
}

/** The origin of the last document that a frame requested; null: it requested none. */
function originOf({ journal }: CaptureSession, { targetId }: TargetSession): string | null {
  const loaded = journal.all().findLast((one) => one.frameId === targetId && one.resourceType === 'document');
  return URL.parse(loaded?.url ?? '')?.origin ?? null;
}

async function busiest(frames: TargetSession[]): Promise<TargetSession[]> {
  const before = await Promise.all(frames.map((one) => readTimes(one, WATCHED_MS)));
  await pause(WATCHED_MS);
  const after = await Promise.all(frames.map((one) => readTimes(one, WATCHED_MS)));
  const shares = frames.map((_, at) => busyShare(before[at] ?? null, after[at] ?? null));
  const least = Math.max(BUSY_SHARE, NEARLY_AS_BUSY * Math.max(...shares));
  return frames.filter((_, at) => (shares[at] ?? 0) >= least);
}

/**
 * The share of the time between two readings that a thread was busy; one that does not answer was all the time. Pure.
 */
function busyShare(before: ThreadTimes | null, after: ThreadTimes | null): number {
  if (!before || !after) return 1;
  return after.at > before.at ? (after.inTasks - before.inTasks) / (after.at - before.at) : 0;
}
