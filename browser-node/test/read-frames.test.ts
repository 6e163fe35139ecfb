import assert from 'node:assert/strict';
import { test } from 'node:test';
import { note } from '@adsweep/shared/capture/notes.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { TargetSession } from '../src/capture/devtools/devtools.ts';
import { measureFrames } from '../src/capture/harness/measure-frames.ts';
import type { CaptureSession } from '../src/capture/session/capture-session.ts';
import { readFrames } from '../src/capture/session/frames.ts';

type Fake = { session: TargetSession; isOpen: boolean };

/** A target with one frame; `isBusy`: it answers no command. */
function target(frameId: string, parent: Fake | null, isBusy = false): Fake {
  const answers: Record<string, object> = {
    'Page.getFrameTree': { frameTree: { frame: { id: frameId, url: `http://${frameId}.example/` } } },
    'Page.createIsolatedWorld': { executionContextId: 1 },
    'Runtime.evaluate': { result: { value: `text of ${frameId}` } },
  };
  const send = (method: string) =>
    isBusy ? Promise.reject(new Error(`no answer to ${method}`)) : Promise.resolve(answers[method]);
  const session = { type: parent ? 'iframe' : 'page', targetId: frameId, parent: parent?.session ?? null, send };
  return { session: session as unknown as TargetSession, isOpen: true };
}

async function read(...targets: [Fake, ...Fake[]]) {
  const sessions = () => targets.filter(({ isOpen }) => isOpen).map(({ session }) => session);
  const capture = { devtools: { sessions }, startedAt: performance.now() } as unknown as CaptureSession;
  const reading = { script: () => '', argument: null, deadlineMs: 1_000 };
  const { read, unread } = await readFrames(capture, targets[0].session, reading);
  return { texts: read.map(({ result }) => result), unread };
}

test('a frame that does not answer costs only its own text, and is counted', async () => {
  const page = target('page', null);
  const [ad, busy] = [target('ad', page), target('busy', page, true)];
  assert.deepEqual(await read(page, ad, busy), { texts: ['text of page', 'text of ad'], unread: 1 });
});

test('a frame that was removed is not counted as one that did not answer', async () => {
  const page = target('page', null);
  const gone = target('gone', page, true);
  const reading = read(page, gone);
  gone.isOpen = false;
  assert.deepEqual(await reading, { texts: ['text of page'], unread: 0 });
});

test('a frame in which the script that measures it throws is noted, and one that does not answer is not', async () => {
  const measured = async (answer: Promise<object>) => {
    const page = target('page', null);
    const { send } = page.session;
    const answers = (method: string) => (method === 'Runtime.evaluate' ? answer : send(method as 'Runtime.evaluate'));
    const root = Object.assign(page.session, { send: answers });
    const sessions = () => [root];
    const logger = createLogger('test', 'silent');
    const capture = { devtools: { sessions }, startedAt: performance.now(), notes: [], logger } as unknown;
    const [frame] = await measureFrames(capture as CaptureSession, root);
    return { world: frame?.world, notes: (capture as CaptureSession).notes };
  };
  const threw = Promise.resolve({ result: {}, exceptionDetails: { exception: { description: 'TypeError' } } });
  assert.deepEqual(await measured(threw), { world: null, notes: [note('creative')] });
  const silent = Promise.reject(new Error('no answer'));
  assert.deepEqual(await measured(silent), { world: null, notes: [] });
});
