import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PICTURE_PIXELS_MAX } from '@adsweep/shared/limits.ts';
import { ResponseTooLargeError } from '../src/browser/own-commands.ts';
import { frameListensForBack, historyGrowth } from '../src/capture/collectors/back-button.ts';
import { certificateProblem } from '../src/capture/collectors/certificates.ts';
import { busyShare } from '../src/capture/collectors/main-thread.ts';
import { chainOf } from '../src/capture/collectors/redirect-chain.ts';
import { missingIn } from '../src/capture/collectors/requests.ts';
import { screenshotClip } from '../src/capture/collectors/screenshots.ts';
import { busyShareOf, certainShare } from '../src/capture/collectors/worker-load.ts';
import type { TargetSession } from '../src/capture/devtools/devtools.ts';
import { emptyEntry } from '../src/capture/session/journal-entry.ts';

describe('thread load', () => {
  const times = (at: number, inTasks: number, cpu: number) => ({ at, inTasks, cpu });

  it('the load of a worker that may have waited for a CPU is not certain', () => {
    assert.deepEqual([certainShare(0.7, 1), certainShare(0.75, 2), certainShare(0.9, 2)], [0.7, 0.6, 0.9]);
    assert.equal(certainShare(0.5, 2), 1 / 3, 'a third of its time, which takes half of it where it has half a CPU');
  });

  it('the load of a thread is the same for a main thread that has to share its CPU', () => {
    assert.equal(busyShare(times(10, 1, 1), times(14, 5, 5)), 1, 'on its own');
    assert.equal(busyShare(times(10, 1, 1), times(14, 5, 2)), 1, 'a quarter of a processor, all of it used');
    assert.equal(busyShare(times(10, 0, 0), times(14, 1, 1)), 0.25);
    assert.ok(
      busyShare(times(10, 0, 0), times(14, 3.9, 1)) > 0.8,
      'a quarter of a processor, and a wait between tasks',
    );
    assert.ok(busyShare(times(10, 0, 0), times(14, 3, 1)) < 0.7, 'light work that takes long');
    assert.equal(busyShare(times(10, 0, 0), times(14, 0, 0)), 0);
  });

  it('the load of a thread is the share of the samples of a worker that are not idle, weighted by their time', () => {
    const node = (id: number, functionName: string) => ({ id, callFrame: { functionName } });
    const nodes = [node(1, '(root)'), node(2, '(idle)'), node(3, '(program)'), node(4, 'mine')] as never;
    assert.equal(busyShareOf({ nodes, samples: [4, 3, 2], timeDeltas: [600, 200, 200] }), 0.8);
    assert.equal(busyShareOf({ nodes, samples: [2, 2], timeDeltas: [10, 10] }), 0);
    assert.equal(busyShareOf({ nodes, samples: [], timeDeltas: [] }), 0);
  });
});

describe('request sources', () => {
  const entry = (url: string, timestampMs: number, method = 'GET') => emptyEntry(url, method, timestampMs);

  it('the union of several sources of requests adds what one source missed, and nothing twice', () => {
    const entries = [entry('http://a/', 2), entry('http://b/', 3), entry('http://user:secret@c/@', 5)];
    const missing = missingIn(entries, [
      entry('http://a/', 1),
      entry('http://a/', 2),
      entry('http://b/#x', 3),
      entry('http://c/@', 5),
      entry('http://b/', 4, 'POST'),
    ]);
    assert.deepEqual(
      missing.map(({ method, url, timestampMs }) => [method, url, timestampMs]),
      [
        ['GET', 'http://a/', 1],
        ['POST', 'http://b/', 4],
      ],
    );
  });
});

describe('redirect chains', () => {
  it('a redirect chain begins with the initial hop, has the URL before each hop, and counts time from the start', () => {
    const hops = ['http://a/', 'http://b/'].map((url, index) => ({
      ...emptyEntry(url, 'GET', 1_000 + index),
      hop: 'script' as const,
      statusCode: 200,
    }));
    assert.deepEqual(
      chainOf(hops, 990).map(({ url, kind, timestamp_ms, redirected_from }) => [
        url,
        kind,
        timestamp_ms,
        redirected_from,
      ]),
      [
        ['http://a/', 'initial', 10, ''],
        ['http://b/', 'script', 11, 'http://a/'],
      ],
    );
  });
});

it('a frame whose listeners are too large to be read is taken to listen for Back, and one that is gone is not', async () => {
  const failing = (error: Error) => {
    const session = { send: async () => Promise.reject(error) } as unknown as TargetSession;
    return frameListensForBack({ session, frameId: 'frame', parentId: null, url: '' });
  };
  assert.equal(await failing(new ResponseTooLargeError('the response was too large')), true);
  assert.equal(await failing(new Error('the target was closed')), false);
});

describe('history growth', () => {
  const history = (...urls: string[]) =>
    ({ currentIndex: urls.length - 1, entries: urls.map((url, id) => ({ id, url })) }) as Parameters<
      typeof historyGrowth
    >[0];

  const growth = (pushes: number, movedFrames = 0) => ({ lengthAtStart: 2, pushes, movedFrames });

  it('the growth of a history is the number of entries that the document itself added', () => {
    const grown = history('about:blank', 'http://a/', 'http://a/#1', 'http://a/', 'http://a/b', 'http://a/');
    assert.deepEqual(historyGrowth(grown, growth(4)), { pushes: 4, copies: 3, frameLoads: 0 });
  });

  it('the growth of a history does not count entries that its frames added or that it replaced', () => {
    const [loaded, replaced] = [history('about:blank', 'http://a/', 'http://a/'), history('about:blank', 'http://a/5')];
    assert.deepEqual(historyGrowth(loaded, growth(0)), { pushes: 0, copies: 0, frameLoads: 1 });
    assert.deepEqual(historyGrowth(replaced, growth(5)), { pushes: 0, copies: 0, frameLoads: 0 });
  });

  it('the growth of a history counts no copies if a frame navigates within its document', () => {
    const grown = history('about:blank', 'http://a/', 'http://a/', 'http://a/', 'http://a/');
    assert.deepEqual(historyGrowth(grown, growth(3, 3)), { pushes: 3, copies: 0, frameLoads: 0 });
    assert.deepEqual(historyGrowth(grown, growth(3)), { pushes: 3, copies: 3, frameLoads: 0 });
  });
});

describe('bad certificates', () => {
  const certificate = {
    validFrom: 1_000,
    validTo: 2_000,
    subjectName: 'shop.example',
    issuer: 'CA',
    sanList: ['*.shop.example'],
  };
  const problem = (url: string, change: object = {}, atSeconds = 1_500) =>
    certificateProblem({
      url,
      timestampMs: atSeconds * 1_000,
      certificate: { ...certificate, ...change },
    } as Parameters<typeof certificateProblem>[0]);

  it('a bad certificate is expired, not yet valid, for another name, self-signed or of an unknown issuer', () => {
    assert.equal(problem('https://a.shop.example/', {}, 3_000), 'expired');
    assert.equal(problem('https://a.shop.example/', {}, 500), 'not_yet_valid');
    assert.equal(problem('https://shop.example/'), 'wrong_name');
    assert.equal(problem('https://b.a.shop.example/'), 'wrong_name');
    assert.equal(problem('https://a.shop.example/', { issuer: 'shop.example' }), 'self_signed');
    assert.equal(problem('https://a.shop.example/'), 'untrusted_issuer');
  });
});

describe('screenshot areas', () => {
  const part = (width: number, height: number, ratio: number) => screenshotClip({ width, height, ratio });

  it('the part of a page in its screenshot is the whole page, up to the longest side and the most pixels of a screenshot', () => {
    assert.deepEqual(part(1366, 6000, 1), { x: 0, y: 0, width: 1366, height: 6000 });
    assert.deepEqual(part(1366, 40_000, 1), { x: 0, y: 0, width: 1366, height: 16_383 });
    assert.deepEqual(part(412, 40_000, 3), { x: 0, y: 0, width: 412, height: 5461 });
    for (const [width, height, ratio] of [
      [32_000, 32_000, 1],
      [32_000, 32_000, 2.625],
    ] as const) {
      const shown = part(width, height, ratio);
      assert.ok(Math.ceil(shown.width * ratio) * Math.ceil(shown.height * ratio) <= PICTURE_PIXELS_MAX);
      assert.ok(shown.height > 1_000);
    }
  });
});
