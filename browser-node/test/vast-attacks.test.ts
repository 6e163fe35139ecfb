import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { declaredTrackers } from '../src/capture/vast/ad-trackers.ts';
import type { MacroContext } from '../src/capture/vast/macros.ts';
import type { PlayerPage } from '../src/capture/vast/player-page.ts';
import { fireAdError, fireErrors, TrackerLog } from '../src/capture/vast/tracker-log.ts';
import { unwrap } from '../src/capture/vast/unwrap.ts';
import type { FetchedDocument, Resolution } from '../src/capture/vast/wrapper-chain.ts';

const HOST = 'https://ads.example';
const MEGABYTE = 1024 * 1024;

const CONTEXT: MacroContext = {
  now: new Date(0),
  pageUrl: 'https://page.example/',
  userAgent: 'Agent',
  player: { width: 640, height: 360, muted: true },
  playheadMs: 0,
  assetUrl: '',
  podSequence: 1,
  adServingId: '',
  universalAdIds: [],
  reason: null,
  transactionId: 'transaction',
  errorCode: null,
  click: null,
};

const fetched = (url: string, text: string): FetchedDocument => ({
  url,
  statusCode: 200,
  contentType: 'application/xml',
  text,
  fault: '',
  readable: true,
  atMs: 0,
  elapsedMs: 0,
});

/** A log whose page requests nothing; `requested` are the URLs that it would request, `batches` how many of them at once, with a pause after each. */
function newLog() {
  const requested: string[] = [];
  const batches: number[] = [];
  let pauses = 0;
  const fire = async (urls: string[]) => {
    assert.equal(pauses, batches.length);
    batches.push(urls.length);
    requested.push(...urls);
  };
  const page = { fire, pause: async () => void pauses++ } as unknown as PlayerPage;
  return { log: new TrackerLog(page, 0, () => CONTEXT), requested, batches };
}

/** The most CPU time in ms that this thread spent in one iteration of the event loop, and the growth of its heap in bytes. */
async function costOf(work: () => Promise<unknown>): Promise<{ heldMs: number; heapBytes: number }> {
  const cpuMs = () => (process.threadCpuUsage().user + process.threadCpuUsage().system) / 1_000;
  let isOver = false;
  let last = cpuMs();
  let heldMs = 0;
  let heap = process.memoryUsage().heapUsed;
  const before = heap;
  const look = () => {
    heldMs = Math.max(heldMs, cpuMs() - last);
    heap = Math.max(heap, process.memoryUsage().heapUsed);
    last = cpuMs();
  };
  const tick = () => {
    look();
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  try {
    await work();
  } finally {
    isOver = true;
  }
  look();
  return { heldMs, heapBytes: heap - before };
}

describe('a VAST document whose macros fill its URLs with megabytes', () => {
  const macros = (name: string) => `[${name}]`.repeat(50);
  const document = (
    adServingId: string,
    macro = 'ADSERVINGID',
  ) => `<VAST version="4.2"><Ad><InLine><AdSystem>a</AdSystem>
    <AdServingId>${adServingId}</AdServingId>${`<Error>${HOST}/e?${macros(macro)}</Error>`.repeat(60)}
    <Creatives><Creative><UniversalAdId idRegistry="r">${adServingId}</UniversalAdId></Creative></Creatives></InLine></Ad></VAST>`;
  const fireAll = async (text: string) => {
    const { log, requested } = newLog();
    const resolution = await unwrap(fetched(`${HOST}/tag`, text), async (url) => fetched(url, ''));
    const { adServingId, universalAdIds } = resolution.ads[0]!.ad;
    const { trackers, leftOut } = declaredTrackers(resolution, resolution.ads[0]!, log.room);
    log.declare(0, trackers, leftOut, { podSequence: 1, adServingId, universalAdIds });
    await fireAdError(log, 0, 405);
    return { log, requested };
  };

  for (const macro of ['ADSERVINGID', 'UNIVERSALADID'])
    it(`URLs filled with ${macro} have a bounded length, memory and event-loop time`, async () => {
      let sizes: number[] = [];
      const cost = await costOf(async () => {
        sizes = (await fireAll(document('€'.repeat(15_000), macro))).requested.map(({ length }) => length);
      });
      assert.ok(sizes.length > 0, 'trackers are requested all the same');
      assert.ok(Math.max(...sizes) <= 65_536, `${Math.max(...sizes)}`);
      assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 4 * MEGABYTE, 'all of an ad together');
      assert.ok(cost.heldMs < 500, `the event loop was held for ${cost.heldMs} ms`);
      assert.ok(cost.heapBytes < 64 * MEGABYTE, `${cost.heapBytes} bytes`);
    });

  it('the trackers of an ad whose id has a lone surrogate are requested', async () => {
    const { requested } = await fireAll(document('&#xD800;id'));
    assert.equal(requested.length, 60);
  });
});

describe('wrappers with thousands of error URLs and many failing siblings', () => {
  const ERRORS = 19_700;
  const wrapper = (uri: string, errors = 0) =>
    `<Ad><Wrapper allowMultipleAds="true"><VASTAdTagURI>${uri}</VASTAdTagURI>${'<Error>/e</Error>'.repeat(errors)}</Wrapper></Ad>`;
  const vast = (...ads: string[]) => `<VAST version="4.2">${ads.join('')}</VAST>`;
  const pages = new Map<string, string>(
    Array.from({ length: 4 }, (_, at) => [`${HOST}/${at}`, vast(wrapper(`/${at + 1}`, ERRORS))]),
  );
  const failing = Array.from({ length: 49 }, (_, at) => wrapper(`/none-${at}`));
  pages.set(`${HOST}/4`, vast(...failing));

  const resolve = (): Promise<Resolution> =>
    unwrap(fetched(`${HOST}/tag`, vast(wrapper('/0', ERRORS))), async (url) =>
      fetched(url, pages.get(url) ?? '<VAST version="4.2"/>'),
    );

  it('thousands of error URLs on many branches are followed and reported with bounded memory and event-loop time', async () => {
    const { log, requested, batches } = newLog();
    const cost = await costOf(async () => {
      const resolution = await resolve();
      assert.equal(resolution.failure, 'limit');
      await fireErrors(log, resolution);
    });
    assert.equal(requested.length, 2_000);
    assert.ok(Math.max(...batches) <= 50, 'the pages of others are served between them');
    assert.equal(log.leftOut, 49 * 5 * ERRORS - 2_000, 'the others are counted');
    assert.ok(cost.heldMs < 1_000, `the event loop was held for ${cost.heldMs} ms`);
    assert.ok(cost.heapBytes < 256 * MEGABYTE, `${cost.heapBytes} bytes`);
  });

  it('sibling wrappers are followed until 50 branches have failed', async () => {
    const text = vast(...Array.from({ length: 50 }, () => wrapper('/many', 0)));
    let documents = 0;
    const { chain, adsLeftOut } = await unwrap(fetched(`${HOST}/tag`, text), async (url) => {
      documents += 1;
      return fetched(`${url}?${documents}`, vast(...Array.from({ length: 50 }, () => wrapper(''))));
    });
    assert.ok(chain.length <= 20 + 50, `${chain.length}`);
    assert.ok(adsLeftOut > 0);
  });
});
