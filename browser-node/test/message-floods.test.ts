import assert from 'node:assert/strict';
import { test } from 'node:test';
import { note } from '@adsweep/shared/capture/notes.ts';
import type { TargetSession } from '../src/capture/devtools/devtools.ts';
import type { CaptureSession } from '../src/capture/session/capture-session.ts';
import { stopMessageFloods } from '../src/capture/session/message-floods.ts';

/** Frames of a tab by name: where each is from, and its share of the time in which it is busy. */
const FRAMES = {
  sender: { host: 'sender', busy: 0.9 },
  spinning: { host: 'other', busy: 1 },
  idle: { host: 'other', busy: 0 },
  alone: { host: 'alone', busy: 0.05 },
};

/** Reports a flood from an origin; resolves to the frames whose scripts were stopped, and the notes. */
async function flood(origin: string) {
  const stopped: string[] = [];
  const tab = { targetId: 'tab', type: 'page', parent: null } as TargetSession;
  const frames = Object.entries(FRAMES).map(([targetId, { busy }]) => {
    const send = async (command: string) => {
      if (command === 'Runtime.terminateExecution') stopped.push(targetId);
      const at = performance.now() / 1_000;
      return {
        metrics: Object.entries({ Timestamp: at, TaskDuration: at * busy }).map(([name, value]) => ({ name, value })),
      };
    };
    return { targetId, type: 'iframe', parent: tab, hasCrashed: false, send, notify: () => undefined };
  });
  let report: (page: unknown, fields: string[]) => Promise<void> = async () => undefined;
  const session = {
    reports: { on: (_: string, listener: typeof report) => (report = listener) },
    tabs: { known: () => ({ tab: { session: tab } }) },
    devtools: { sessions: () => [tab, ...frames] },
    journal: {
      all: () =>
        Object.entries(FRAMES).map(([frameId, { host }]) => ({
          frameId,
          resourceType: 'document',
          url: `https://${host}.example/ad`,
        })),
    },
    busyDocuments: new Map(),
    notes: [],
    startedAt: performance.now(),
  };
  stopMessageFloods(session as unknown as CaptureSession);
  await report(null, [origin]);
  return { stopped, notes: session.notes };
}

test('the frame that sends messages without end is stopped, by its origin; if that does not tell, those that are busiest', async () => {
  const notes = [note('stopped_busy')];
  assert.deepEqual(await flood('https://sender.example'), { stopped: ['sender'], notes });
  assert.deepEqual(await flood('https://other.example'), { stopped: ['spinning'], notes });
  assert.deepEqual(await flood('null'), { stopped: ['sender', 'spinning'], notes });
});

test('a frame that is not busy is not stopped, although the messages are said to be from its origin', async () => {
  assert.deepEqual(await flood('https://alone.example'), { stopped: [], notes: [] });
});
