import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { webpSize } from '@adsweep/shared/capture/picture-size.ts';
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
import type { Natives } from '../src/capture/page-scripts/natives.ts';
import { watchTimers } from '../src/capture/page-scripts/watch-timers.ts';
import {
  DWELL_MS,
  FLOOD_REQUESTS,
  LATE_MS,
  LOOKS_MAX,
  QUIET_MS,
  SETTLE_EXTENSION_MS,
  SETTLE_FACTOR_MAX,
  SHOWN_AT_LATEST_MS,
} from '../src/capture/session/budgets.ts';
import { emptyEntry } from '../src/capture/session/journal-entry.ts';
import type { OpenTab } from '../src/capture/session/open-tabs.ts';
import { SettleExtension } from '../src/capture/session/settle-extension.ts';
import { isToBeLookedAt, pendingIn, settledIn } from '../src/capture/session/settled-tabs.ts';

describe('settled pages', () => {
  const NOW = 100_000;
  type Landings = Parameters<typeof settledIn>[0];
  const times = { loadedAt: 0, parsedAt: null, paintedAt: null, lastHopAt: 0, refreshDueAt: 0 };
  const tab = (change: object) => ({ ...times, refused: false, ...change });
  const tabs = (...changes: object[]) => changes.map((change) => ({ tab: tab(change) })) as Landings;
  const requests = (lastLoadingAt: number, pending = 0) => ({
    lastActivityAt: lastLoadingAt,
    lastLoadingAt,
    count: () => pending,
    awaitsCode: false,
  });
  const quiet = requests(0);

  it('a settled page has loaded, was watched for a while and has no pending request', () => {
    assert.equal(settledIn(tabs({}), quiet, NOW), 0);
    assert.equal(settledIn(tabs({ loadedAt: null }), quiet, NOW), QUIET_MS);
    assert.equal(settledIn(tabs({ loadedAt: NOW - 100 }), quiet, NOW), DWELL_MS - 100);
    assert.equal(settledIn(tabs({}, { lastHopAt: NOW }), quiet, NOW), DWELL_MS);
    assert.equal(settledIn(tabs({}), requests(NOW - 200), NOW), QUIET_MS - 200);
    assert.equal(settledIn(tabs({}), requests(0, 1), NOW), QUIET_MS);
  });

  it('a settled page has announced no refresh, unless that is due much later', () => {
    assert.equal(settledIn(tabs({ refreshDueAt: NOW + 3_000 }), quiet, NOW), 3_000 + DWELL_MS);
    assert.equal(settledIn(tabs({ refreshDueAt: NOW + 60_000 }), quiet, NOW), 0);
  });

  it('a page that polls settles five seconds after its load, unless it loads something else too', () => {
    const polling = (lastLoadingAt: number) => ({
      lastActivityAt: NOW - 100,
      lastLoadingAt,
      count: (_?: number, countsPolls = true) => (countsPolls ? 1 : 0),
      awaitsCode: false,
    });
    const loaded = (msAgo: number | null) => tabs({ loadedAt: msAgo && NOW - msAgo, lastHopAt: NOW - DWELL_MS });
    assert.equal(settledIn(loaded(LATE_MS), polling(NOW - QUIET_MS), NOW), 0);
    assert.equal(settledIn(loaded(LATE_MS), polling(NOW - 200), NOW), QUIET_MS - 200);
    for (const early of [LATE_MS - 1, null]) assert.equal(settledIn(loaded(early), polling(0), NOW), QUIET_MS);
  });

  const waiting = (hasWorker = false, isUnanswered = false) => ({
    hasWorker: () => hasWorker,
    isUnanswered,
    awaitsCode: false,
  });
  const pendingTab = (change: object) => tabs({ loadedAt: NOW, timersDueAt: 0, isLookedAt: false, ...change });

  it('a page is watched until its last timer has run, but no longer than five seconds after its load', () => {
    assert.equal(pendingIn(pendingTab({}), waiting(), NOW), 0);
    assert.equal(pendingIn(pendingTab({ timersDueAt: NOW + 2_000 }), waiting(), NOW), 2_100);
    assert.equal(pendingIn(pendingTab({ timersDueAt: NOW + 7_000 }), waiting(), NOW), LATE_MS);
    assert.equal(pendingIn(pendingTab({ timersDueAt: NOW - 200 }), waiting(), NOW), 0);
    assert.equal(pendingIn(pendingTab({ timersDueAt: NOW + 500, loadedAt: NOW - LATE_MS }), waiting(), NOW), 0);
    assert.equal(pendingIn(pendingTab({ timersDueAt: NOW + 2_000, isScriptDisabled: true }), waiting(), NOW), 0);
  });

  it('a page with a worker is watched for five seconds, and one that waits for a response as long as it does', () => {
    assert.equal(pendingIn(pendingTab({ loadedAt: NOW - 1_000 }), waiting(true), NOW), LATE_MS - 1_000);
    assert.equal(pendingIn(pendingTab({}), waiting(false, true), NOW), QUIET_MS);
    assert.equal(pendingIn(pendingTab({ loadedAt: null }), waiting(true, true), NOW), 0);
  });

  it('a page that was parsed and lacks only pictures counts as loaded five seconds after it first showed something', () => {
    const shown = (msAgo: number) => tabs({ loadedAt: null, parsedAt: 0, paintedAt: NOW - msAgo });
    const settledAfter = SHOWN_AT_LATEST_MS + DWELL_MS;
    assert.equal(settledIn(shown(settledAfter), quiet, NOW), 0);
    assert.equal(settledIn(shown(0), quiet, NOW), settledAfter);
    assert.equal(settledIn(shown(settledAfter), { ...quiet, awaitsCode: true }, NOW), QUIET_MS);
    assert.equal(settledIn(tabs({ loadedAt: null, paintedAt: NOW - settledAfter }), quiet, NOW), QUIET_MS);
    assert.equal(pendingIn(pendingTab({ ...shown(SHOWN_AT_LATEST_MS)[0]?.tab }), waiting(true), NOW), LATE_MS);
  });

  it('of a tab, three documents are looked at as soon as they have loaded, and later ones once they stay', () => {
    const [own] = tabs({ committed: true, looks: LOOKS_MAX - 1, loadedAt: NOW });
    assert.equal(isToBeLookedAt(own!, NOW), true);
    const [later] = tabs({ committed: true, looks: LOOKS_MAX, loadedAt: NOW });
    assert.deepEqual(
      [0, DWELL_MS - 1, DWELL_MS].map((ms) => isToBeLookedAt(later!, NOW + ms)),
      [false, false, true],
    );
  });

  it('an error page of the gateway counts as settled', () => {
    assert.equal(settledIn(tabs({ loadedAt: null, refused: true }), quiet, NOW), 0);
  });
});

describe('settling', () => {
  const BUDGET_MS = 12_000;
  const landings = (promptNavigations: number) => [{ tab: { promptNavigations } }] as OpenTab[];
  const extensionFor = (change: Partial<{ isLate: boolean; lateMs: number; pending: number }>) => {
    const { isLate = false, lateMs = 0, pending = 0 } = change;
    const requests = { ended: 0, count: () => pending };
    const parts = { budgetMs: BUDGET_MS, lateMs, requests, isLate: async () => isLate };
    const requestsEnd = () => {
      requests.ended += 1;
    };
    return { requestsEnd, extension: new SettleExtension(parts) };
  };
  /** The sum of all extensions, each requested after `step`. */
  async function total(extension: SettleExtension, tabs: OpenTab[], step: () => void = () => undefined) {
    let sum = 0;
    for (let ms = 1; ms > 0; sum += ms) {
      step();
      ms = await extension.next(tabs);
    }
    return sum;
  }

  it('the time for tabs to settle is not extended for a page that is slow on an idle machine', async () => {
    const { extension, requestsEnd } = extensionFor({ pending: FLOOD_REQUESTS });
    assert.equal(await total(extension, landings(10), requestsEnd), 0);
  });

  it('the time for tabs to settle is extended once if the machine is slow', async () => {
    assert.equal(await total(extensionFor({ isLate: true, lateMs: 4_000 }).extension, landings(0)), 4_000);
    assert.equal(
      await total(extensionFor({ isLate: true, lateMs: 12_000 }).extension, landings(0)),
      SETTLE_EXTENSION_MS,
    );
  });

  it('the time for tabs to settle is extended up to the limit while a flood of requests is served, and while a tab keeps navigating', async () => {
    const limit = BUDGET_MS * (SETTLE_FACTOR_MAX - 1);
    const flood = () => extensionFor({ pending: FLOOD_REQUESTS + 1 });
    const { extension, requestsEnd } = flood();
    assert.equal(await total(extension, landings(0), requestsEnd), limit);
    assert.equal(await total(flood().extension, landings(0)), 0);
    assert.equal(await total(extensionFor({}).extension, landings(11)), limit);
  });
});

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

describe('timers of a page', () => {
  /** The subjects of what is reported of a timer with this source. */
  function reportsOf(timer: 'setTimeout' | 'setInterval', source: string): Set<string> {
    const subjects = new Set<string>();
    const { window } = globalThis;
    const precede: Natives['precede'] = (_, name, before, after) => {
      if (name !== timer) return;
      before(null, source, 2_000, undefined);
      after?.(1, source, 2_000);
    };
    const tab: { parent?: object; top?: object } = {};
    Object.assign(globalThis, { window: Object.assign(tab, { parent: tab, top: tab }) });
    try {
      watchTimers({ precede, sourceOf: String } as unknown as Natives, (subject) => subjects.add(subject));
    } finally {
      Object.assign(globalThis, { window });
    }
    return subjects;
  }

  it('a timer navigates if its source does so by any of the usual ways, and no regular expression is used for it', () => {
    'before'.match(/before/);
    for (const source of [
      ...[
        'location="/"',
        'window.location = next',
        '$location=1',
        'location\t[name]=1',
        'location . href\n= a',
        'location.search=1',
      ],
      ...[
        'top.location.pathname =a',
        'location.assign(1)',
        'location . replace',
        'location.reload()',
        'f.submit( )',
        'a\n.\u2003click ()',
      ],
      ...['window.open(a)', 'window . open', 'navigation.navigate(a)', 'relocation=1;location=2'],
    ])
      assert.ok(reportsOf('setTimeout', source).has('navigates'), source);
    assert.equal((RegExp as unknown as { lastMatch: string }).lastMatch, 'before');
    for (const source of [
      ...[
        'location==a',
        'relocation=1',
        'location.hash=1',
        'location.href==a',
        'location.replaced',
        'locations=1',
        'f.submit(1)',
      ],
      ...['submit()', 'windows.open()', 'window.opened', 'navigation.navigated', 'locati', 'location', ''],
    ])
      assert.ok(!reportsOf('setTimeout', source).has('navigates'), source);
  });

  it('an interval is waited for if its source counts down', () => {
    for (const source of ['--left', 'left-=1', 'n<1', 'n <= 0', 'n>\n1', 'n>=0 ', 'n==0', 'n === 0', 'n!==0.5'])
      assert.ok(reportsOf('setInterval', source).has('pending'), source);
    for (const source of ['n+=1', 'n<10', 'n<=2', 'n=0', 'n==01', 'n < x0'])
      assert.ok(!reportsOf('setInterval', source).has('pending'), source);
  });
});

describe('WebP sizes', () => {
  const webp = (kind: string, ...tail: number[]) =>
    Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${kind}`, 'latin1'), Buffer.from(tail), Buffer.alloc(20)]);

  it('the size of a WebP image is read from each kind of header', () => {
    const lossy = webp('VP8 ', 0, 0, 0, 0, 0, 0, 0, 0x9d, 0x01, 0x2a, 0x56, 0x05, 0x79, 0x02);
    assert.deepEqual(webpSize(lossy), { width: 1366, height: 633 });
    const extended = webp('VP8X', 0, 0, 0, 0, 0, 0, 0, 0, 0x55, 0x05, 0, 0x78, 0x02, 0);
    assert.deepEqual(webpSize(extended), { width: 1366, height: 633 });
    const bits = (1366 - 1) | ((633 - 1) << 14);
    const lossless = webp('VP8L', 0, 0, 0, 0, 0x2f, bits & 255, (bits >> 8) & 255, (bits >> 16) & 255, bits >>> 24);
    assert.deepEqual(webpSize(lossless), { width: 1366, height: 633 });
  });

  it('the size of a WebP image is null for other files', () => {
    assert.equal(webpSize(Buffer.alloc(0)), null);
    assert.equal(webpSize(Buffer.from('not a picture of any kind, but long enough')), null);
  });
});
