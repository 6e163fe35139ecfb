import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Page } from 'playwright-core';
import { type ContextListener, ContextObservers } from '../src/browser/context-observers.ts';
import { ContextTargets } from '../src/capture/devtools/context-targets.ts';
import { CHILDREN_MAX, WORKERS_MAX } from '../src/capture/devtools/devtools.ts';
import { FRAME_SITES_AT_ONCE_MAX, FRAMES_AT_ONCE_MAX } from '../src/capture/devtools/frame-burst.ts';

const CONTEXT = 'context';

/** A client of a fake browser that accepts every command; `commands` lists them as `method session`. */
function connect() {
  const commands: string[] = [];
  const observers = new ContextObservers(
    async (method, _params, _deadlineMs, sessionId = 'browser') => {
      commands.push(`${method} ${sessionId}`);
      return {};
    },
    createLogger('test', 'silent'),
  );
  const tell = (method: string, params: Record<string, unknown>, sessionId?: string) =>
    observers.incoming({ method, params, ...(sessionId && { sessionId }) });
  /** Returns whether Playwright is told, which resumes the target. */
  const attach = (type: string, id: string, parent?: string, browserContextId = CONTEXT) =>
    tell(
      'Target.attachedToTarget',
      { sessionId: id, targetInfo: { targetId: `target-${id}`, type, browserContextId } },
      parent,
    );
  /** The tab requests the script of a worker. */
  const ask = (id: string) => {
    const url = 'http://page.example/worker.js';
    const request = { requestId: `target-${id}`, loaderId: '', documentURL: url, type: 'Script', request: { url } };
    tell('Network.requestWillBeSent', request, 'tab');
  };
  const askDocument = (requestId: string, frameId: string, url: string) =>
    tell('Network.requestWillBeSent', { requestId, frameId, type: 'Document', request: { url } }, 'tab');
  const attachFrame = (frameId: string) => tell('Page.frameAttached', { frameId, parentFrameId: 'tab' }, 'tab');
  const client = ContextTargets.connect({
    observe: (listener: ContextListener) => observers.observe(CONTEXT, listener),
  });
  attach('page', 'tab');
  return { client, commands, attach, ask, askDocument, attachFrame };
}

describe('the targets of a context', () => {
  it('a capture lets frames and workers start up to their bound; further ones stay paused and get no commands', () => {
    const { client, commands, attach } = connect();
    for (let n = 0; n < CHILDREN_MAX; n += 1)
      assert.equal(attach(n < WORKERS_MAX ? 'worker' : 'iframe', `child-${n}`, 'tab'), true);
    assert.equal(client.isFlooded, false);

    let stopped = 0;
    client.onFlooded(() => {
      stopped += 1;
    });
    for (let n = 0; n < 1_000; n += 1) assert.equal(attach('worker', `late-${n}`, 'tab'), false);
    assert.equal(client.isFlooded, true);
    assert.deepEqual(commands, []);
    assert.equal(stopped, 1);
    assert.equal([...client.sessions()].length, 1 + CHILDREN_MAX);
  });

  it('a capture attaches tabs whatever the number of frames and workers', () => {
    const { client, attach } = connect();
    for (let n = 0; n <= WORKERS_MAX; n += 1) attach('worker', `worker-${n}`, 'tab');
    assert.equal(attach('page', 'popup'), true);
    assert.ok([...client.sessions()].some(({ targetId }) => targetId === 'target-popup'));
  });

  it('a capture observes shared workers, which Playwright does not, and resumes the workers that they start', () => {
    const { commands, attach } = connect();
    attach('shared_worker', 'shared');
    attach('worker', 'nested', 'shared');
    attach('worker', 'own', 'tab');
    const observed = (id: string) => [`Network.enable ${id}`, `Target.setAutoAttach ${id}`];
    assert.deepEqual(commands, [
      ...observed('shared'),
      ...observed('nested'),
      'Runtime.runIfWaitingForDebugger nested',
    ]);
  });

  it('a capture assumes that the only tab is that of the only page, and looks ids up once there were two', async () => {
    const { client, attach } = connect();
    let asked = 0;
    const page = {
      context: () => ({
        pages: () => [page],
        newCDPSession: async () => ({
          send: async () => {
            asked += 1;
            return { targetInfo: { targetId: 'target-popup' } };
          },
          detach: async () => undefined,
        }),
      }),
    } as unknown as Page;
    assert.equal((await client.sessionOf(page)).targetId, 'target-tab');
    assert.equal(asked, 0);
    attach('page', 'popup');
    assert.equal((await client.sessionOf(page)).targetId, 'target-popup');
    assert.equal(asked, 1);
  });

  it('a capture counts a worker once, when its script is requested', () => {
    const { client, attach, ask } = connect();
    for (let n = 0; n < WORKERS_MAX; n += 1) {
      ask(`worker-${n}`);
      attach('worker', `worker-${n}`, 'tab');
    }
    assert.equal(client.isFlooded, false);
    const reached: number[] = [];
    client.onFlooded((_by, max) => {
      reached.push(max);
    });
    ask('one-more');
    assert.equal(client.isFlooded, true);
    assert.deepEqual(reached, [WORKERS_MAX]);
  });

  it('a capture counts frames of the same site, which are not targets', () => {
    const { client, attachFrame } = connect();
    for (let n = 0; n <= CHILDREN_MAX; n += 1) attachFrame(`frame-${n}`);
    assert.equal(client.isFlooded, true);
  });

  it('a capture reports frames that start faster than a shared browser can, and not those that start one by one', (t) => {
    let now = 10_000;
    t.mock.method(performance, 'now', () => now);
    const { client, attachFrame } = connect();
    let bursts = 0;
    client.onFrameBurst(() => {
      bursts += 1;
    });
    for (let n = 0; n < 3 * FRAMES_AT_ONCE_MAX; n += 1) {
      now += 60;
      attachFrame(`slow-${n}`);
    }
    assert.equal(bursts, 0);
    now += 6_000;
    for (let n = 0; n < 9 * FRAMES_AT_ONCE_MAX; n += 1) attachFrame(`fast-${n}`);
    assert.equal(bursts, 1);
  });

  it('a capture reports frames that request documents of many sites at once, and counts a redirect only for its last', () => {
    const { client, askDocument, attachFrame } = connect();
    let bursts = 0;
    client.onFrameBurst(() => {
      bursts += 1;
    });
    attachFrame('frame');
    for (let n = 0; n < 9 * FRAME_SITES_AT_ONCE_MAX; n += 1) {
      askDocument('redirected', 'frame', `http://hop-${n}.example/`);
      askDocument(`of the tab ${n}`, 'tab', `http://page-${n}.example/`);
      askDocument(`same site ${n}`, 'frame', `http://host-${n}.site.example/`);
    }
    for (let n = 2; n < FRAME_SITES_AT_ONCE_MAX; n += 1) askDocument(`${n}`, 'frame', `http://site-${n}.example/`);
    assert.equal(bursts, 0);
    for (const n of [1, 2]) askDocument(`further ${n}`, 'frame', `http://further-${n}.example/`);
    assert.equal(bursts, 1);
  });

  it('a capture does not count targets of another context', () => {
    const { client, attach } = connect();
    for (let n = 0; n <= CHILDREN_MAX; n += 1) attach('page', `tab-${n}`, undefined, 'another');
    assert.equal(client.isFlooded, false);
  });
});
