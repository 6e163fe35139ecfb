import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { type ContextListener, ContextObservers } from '../src/browser/context-observers.ts';
import type { BrowserSession } from '../src/browser/own-sessions.ts';
import { CHILDREN_MAX, WORKERS_MAX } from '../src/capture/devtools/devtools.ts';
import { SecondClient } from '../src/capture/devtools/second-client.ts';

const CONTEXT = 'context';

/** A fake browser that accepts every command; `told` lists them as `method session`. */
function recordingBrowser() {
  const told: string[] = [];
  let listener: Parameters<BrowserSession['listen']>[0] = () => undefined;
  const session: BrowserSession = {
    command: async (method, _params, _deadlineMs, sessionId = 'browser') => {
      told.push(`${method} ${sessionId}`);
      return {};
    },
    listen: (one) => {
      listener = one;
    },
    close: () => undefined,
  };
  const attach = (type: string, id: string, parent?: string, browserContextId = CONTEXT) =>
    listener(
      'Target.attachedToTarget',
      { sessionId: id, targetInfo: { targetId: `target-${id}`, type, browserContextId } },
      parent,
    );
  /** The tab requests the script of a worker. */
  const ask = (id: string) => {
    const url = 'http://page.example/worker.js';
    const request = { requestId: `target-${id}`, loaderId: '', documentURL: url, type: 'Script', request: { url } };
    listener('Network.requestWillBeSent', request, 'tab');
  };
  const attachFrame = (frameId: string) => listener('Page.frameAttached', { frameId, parentFrameId: 'tab' }, 'tab');
  return { session, told, attach, ask, attachFrame };
}

async function connect() {
  const browser = recordingBrowser();
  const observers = new ContextObservers(async () => browser.session);
  const open = { observe: (listener: ContextListener) => observers.observe(CONTEXT, listener) };
  const client = await SecondClient.connect(open as unknown as Parameters<typeof SecondClient.connect>[0]);
  browser.attach('page', 'tab');
  return { ...browser, client };
}

describe('second client', () => {
  it('the second client of a capture lets frames and workers start up to their bound; further ones stay paused and get no commands', async () => {
    const { client, told, attach } = await connect();
    for (let n = 0; n < CHILDREN_MAX; n += 1) attach(n < WORKERS_MAX ? 'worker' : 'iframe', `child-${n}`, 'tab');
    assert.equal(client.isFlooded, false);
    await turn();
    assert.equal(told.filter((line) => line.startsWith('Runtime.runIfWaitingForDebugger')).length, CHILDREN_MAX);

    let stopped = 0;
    client.onFlooded(() => {
      stopped += 1;
    });
    const toldBefore = told.length;
    for (let n = 0; n < 1_000; n += 1) attach('worker', `late-${n}`, 'tab');
    await turn();
    assert.equal(client.isFlooded, true);
    assert.equal(told.length, toldBefore);
    assert.equal(stopped, 1);
    assert.equal([...client.sessions()].length, 1 + CHILDREN_MAX);
  });

  it('the second client of a capture attaches tabs whatever the number of frames and workers', async () => {
    const { client, told, attach } = await connect();
    for (let n = 0; n <= WORKERS_MAX; n += 1) attach('worker', `worker-${n}`, 'tab');
    attach('page', 'popup');
    assert.ok([...client.sessions()].some(({ targetId }) => targetId === 'target-popup'));
    await turn();
    assert.ok(told.includes('Network.enable popup'));
  });

  it('the second client of a capture assumes that the only tab is that of the only page, and looks ids up once there were two', async () => {
    const { client, attach } = await connect();
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

  it('the second client of a capture counts a worker once, when its script is requested', async () => {
    const { client, attach, ask } = await connect();
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

  it('the second client of a capture counts frames of the same site, which are not targets', async () => {
    const { client, attachFrame } = await connect();
    for (let n = 0; n <= CHILDREN_MAX; n += 1) attachFrame(`frame-${n}`);
    assert.equal(client.isFlooded, true);
  });

  it('the second client of a capture does not count targets of another context', async () => {
    const { client, attach } = await connect();
    for (let n = 0; n <= CHILDREN_MAX; n += 1) attach('page', `tab-${n}`, undefined, 'another');
    assert.equal(client.isFlooded, false);
  });
});
