import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Page } from 'playwright-core';
import { type ContextListener, ContextObservers } from '../src/browser/context-observers.ts';
import { ContextTargets } from '../src/capture/devtools/context-targets.ts';
import { CHILDREN_MAX, WORKERS_MAX } from '../src/capture/devtools/devtools.ts';
import {
  DOCUMENTS_AT_ONCE_MAX,
  FRAMES_AT_ONCE_MAX,
  ORIGINS_AT_ONCE_MAX,
  SITES_AT_ONCE_MAX,
} from '../src/capture/devtools/frame-burst.ts';

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
  return { client, commands, observers, attach, ask, askDocument, attachFrame };
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
    client.onCrowding(() => {
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

  /** How many bursts a capture reports while frames request documents. */
  const burstsOf = (
    request: (askDocument: (requestId: string, frameId: string, url: string) => void) => void,
  ): number => {
    const { client, askDocument, attachFrame } = connect();
    let bursts = 0;
    client.onCrowding(() => {
      bursts += 1;
    });
    attachFrame('frame');
    request(askDocument);
    return bursts;
  };

  it('a capture reports frames and popups that request documents of many sites or origins at once, and counts a redirect only for its last', () => {
    const bounds = {
      site: { max: SITES_AT_ONCE_MAX, at: (n: number) => `http://site-${n}.example/` },
      origin: { max: ORIGINS_AT_ONCE_MAX, at: (n: number) => `http://host-${n}.site.example/` },
    };
    for (const [of, { max, at }] of Object.entries(bounds))
      for (const [further, expected] of [
        [0, 0],
        [2, 1],
      ] as const) {
        const bursts = burstsOf((askDocument) => {
          for (let n = 0; n < 9 * max; n += 1) {
            askDocument('redirected', 'frame', `http://hop-${n}.example/`);
            askDocument(`of the tab ${n}`, 'target-tab', `http://page-${n}.example/`);
          }
          for (let n = 1; n < max + further; n += 1) askDocument(`${n}`, n % 2 ? 'frame' : `target-popup-${n}`, at(n));
        });
        assert.equal(bursts, expected, `${further} beyond the bound of each ${of}`);
      }
  });

  it('a capture reports frames that go to and fro between few sites, at once or in all', (t) => {
    let now = 10_000;
    t.mock.method(performance, 'now', () => now);
    const toAndFro = (count: number, ms: number, frameOf = (_n: number) => 'frame') =>
      burstsOf((askDocument) => {
        for (let n = 0; n < count; n += 1) {
          now += ms;
          askDocument(`${n}`, frameOf(n), `http://site-${n % 9}.example/`);
        }
      });
    const inFramesOfTheirOwn = (count: number) => toAndFro(count, 1, (n) => `target-popup-${n}`);
    assert.deepEqual(
      [0, 1].map((more) => inFramesOfTheirOwn(DOCUMENTS_AT_ONCE_MAX + more)),
      [0, 1],
    );
    assert.deepEqual(
      [0, 1].map((more) => toAndFro(DOCUMENTS_AT_ONCE_MAX / 2 + more, 1)),
      [0, 1],
    );
    assert.equal(toAndFro(CHILDREN_MAX, 200), 0);
    assert.ok(toAndFro(CHILDREN_MAX + 1, 200) > 0);
  });

  it('a capture whose processes leave too little memory to others is told like one of a burst of frames', () => {
    const { client, observers, attach } = connect();
    let bursts = 0;
    client.onCrowding(() => {
      bursts += 1;
    });
    attach('iframe', 'frame', 'tab');
    observers.emitCrowded(2, 'memory');
    assert.equal(bursts, 1);
  });

  it('a capture does not count targets of another context', () => {
    const { client, attach } = connect();
    for (let n = 0; n <= CHILDREN_MAX; n += 1) attach('page', `tab-${n}`, undefined, 'another');
    assert.equal(client.isFlooded, false);
  });
});
