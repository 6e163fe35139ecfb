import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { startMongodbServer } from '../../../control-plane/test/support/mongodb-server.ts';
import { startTraceCollector } from '../../../shared/test/support/trace-collector.ts';
import { until } from '../../../shared/test/support/until.ts';
import { LONGEST_CHAIN } from '../../demo/chains.ts';
import { type AdWorld, startAdWorld } from '../../demo/start-ad-world.ts';
import { processesOf } from './support/processes-of.ts';
import { RunningFarm, type SubRequest, writeExits } from './support/running-farm.ts';
import { startTrap, type Trap } from './support/trap.ts';

/** A running farm, the ad world that it scans, a page that tries to reach a private server, and where the farm's spans arrive. */
type MainJob = { farm: RunningFarm; world: AdWorld; trap: Trap; collector: TraceCollector };
/** A store, how many scans run on it at once, and whether also that is tested in which a store has no part. */
type OnStore = {
  store: string;
  atOnce: number;
  isWhole: boolean;
  env: () => NodeJS.ProcessEnv;
  skip: false | string;
};
type TraceCollector = Awaited<ReturnType<typeof startTraceCollector>>;

/** The main job on one store: everything a client can see of page scans, with a real browser. */
function describeMainJob({ store, atOnce, isWhole, env, skip }: OnStore): void {
  describe(`the main job on ${store}`, { skip, concurrency: 1 }, () => {
    const dir = mkdtempSync(`${tmpdir()}/adsweep-main-`);
    let job: MainJob;
    before(async () => {
      const [world, trap, collector] = await Promise.all([startAdWorld(), startTrap(), startTraceCollector()]);
      const settings = {
        ADSWEEP_EXITS_FILE: writeExits(dir, { ...world.hosts, ...trap.hosts }),
        ADSWEEP_DELIVERY_ALLOW: '127.0.0.0/8',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      };
      job = { world, trap, collector, farm: await new RunningFarm({ ...settings, ...env() }).ready() };
    });
    after(async () => {
      await job.farm.close();
      await Promise.all([job.world.close(), job.trap.close()]);
      job.collector.stop();
      rmSync(dir, { recursive: true, force: true });
    });

    test('the longest redirect chain is complete, in order and agrees with the server’s log', () =>
      recordsTheLongestRedirect(job));
    test('the article, its ads and pixels are all recorded', () => recordsTheArticle(job));
    test('§1.4 a VAST tag is fetched, unwrapped and played in the browser, and its trackers are recorded as its server received them', () =>
      playsAVastTag(job));
    test('§4.2.13 §2.1.8 an ad tag is rendered on its referrer, captured, clicked and checked, in agreement with the servers’ logs', () =>
      checksAnAdTag(job));
    test('each scan is charged once', () => chargesOnce(job));
    if (isWhole) {
      test('a back-button hijacker and a page with sound get their tags, a quiet page gets none', () =>
        tagsBehaviours(job));
      test('screenshots are WebP, resized on request, and the report shows them without a login', () =>
        servesScreenshots(job));
      test('targets that never answer, loop, download or answer 204 fail with their code, and the next scan completes', () =>
        reportsFailedTargets(job));
      test('a page reaches no private address and no file', () => reachesNoPrivateAddress(job));
      test('a scan is one trace, from the request of its client to the event that is delivered', () =>
        tracesAScan(job));
    }
    test(`${atOnce} concurrent scans all finish and leave no process behind`, () => runsManyAtOnce(job, atOnce));
  });
}

async function recordsTheLongestRedirect({ farm, world }: MainJob): Promise<void> {
  const before = world.log.length;
  const scan = await farm.scanned({ url: LONGEST_CHAIN[0]?.url });
  assert.equal(scan.status, 'completed', scan.error);
  assert.deepEqual(
    scan.redirect_chain.map(({ url, kind, status_code }) => ({ url, kind, status_code })),
    LONGEST_CHAIN.map(({ url, kind, status_code }) => ({ url, kind, status_code })),
  );
  assert.deepEqual(unrecorded(world, before, scan.redirect_chain), []);
}

async function recordsTheArticle({ farm, world }: MainJob): Promise<void> {
  const before = world.log.length;
  const scan = await farm.scanned({ url: 'http://news.publisher.example/' });
  assert.equal(scan.status, 'completed', scan.error);
  assert.deepEqual(unrecorded(world, before, scan.redirect_chain), []);
  assert.notEqual(scan.page_title, '');
}

async function tagsBehaviours({ farm }: MainJob): Promise<void> {
  const [stuck, loud, quiet] = await Promise.all([
    farm.scanned({ url: 'http://stuck.offers.example/' }),
    farm.scanned({ url: 'http://loud.casino.example/' }),
    farm.scanned({ url: 'http://quiet.shop.example/' }),
  ]);
  assert.deepEqual(await farm.tagsOf(stuck.id), ['back_button']);
  assert.deepEqual(await farm.tagsOf(loud.id), ['autosound']);
  assert.deepEqual(await farm.tagsOf(quiet.id), []);
}

async function playsAVastTag({ farm, world }: MainJob): Promise<void> {
  const before = world.log.length;
  const scan = await farm.scanned({ vast_tag: 'http://video.adserver.example/tag.xml' });
  assert.equal(scan.status, 'completed', scan.error);
  assert.deepEqual(scan.video, {
    duration_ms: 4_000,
    mediafile_url: 'http://video.adserver.example/spot.mp4',
    vast_version: '4.2',
    ad_system: 'Demo ad server',
    is_vpaid: false,
    wrapper_depth: 1,
    click_through: 'http://go.redirects.example/by/302',
  });
  const fired = scan.vast?.trackers.filter(({ requested_at_ms }) => requested_at_ms !== null) ?? [];
  assert.deepEqual(
    fired.filter(({ status_code }) => status_code !== 200),
    [],
  );
  const tracked = world.log
    .slice(before)
    .map(({ url }) => url)
    .filter((url) => url.includes('from='));
  assert.deepEqual(tracked.toSorted(), fired.map(({ requested_url }) => requested_url).toSorted());
  assert.equal(fired.length, 13);
  assert.equal(scan.landings[0]?.final_url, 'http://quiet.shop.example/');
  const type = async (path: string) =>
    (await farm.call('GET', `/api/v1/scans/${scan.id}/${path}`)).headers.get('content-type');
  assert.deepEqual(await Promise.all(['creative-screenshot', 'creative-video', 'vast-xml'].map(type)), [
    'image/webp',
    'video/mp4',
    'application/xml; charset=utf-8',
  ]);
  assert.deepEqual([...new Set(await farm.tagsOf(scan.id))], ['vast_insecure_url']);
  assert.match(await (await fetch(scan.public_report_url)).text(), /13 of 16 fired/);
}

async function servesScreenshots({ farm }: MainJob): Promise<void> {
  const scan = await farm.scanned({ url: 'http://quiet.shop.example/' });
  const full = await farm.call('GET', `/api/v1/scans/${scan.id}/screenshot`);
  assert.equal(full.headers.get('content-type'), 'image/webp');
  const small = await farm.call('GET', `/api/v1/scans/${scan.id}/landings/0/screenshot?w=200`);
  assert.ok((await small.arrayBuffer()).byteLength < (await full.arrayBuffer()).byteLength);
  assert.equal((await farm.call('GET', `/api/v1/scans/${scan.id}/screenshot?w=99`)).status, 422);
  assert.equal((await farm.call('GET', `/api/v1/scans/${scan.id}/landings/7/screenshot`)).status, 404);

  const report = await fetch(scan.public_report_url);
  const html = await report.text();
  assert.match(report.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  const [, picture = ''] = /<img[^>]+src="([^"]+)"/.exec(html) ?? [];
  const shown = await fetch(new URL(picture, scan.public_report_url));
  assert.equal(shown.headers.get('content-type'), 'image/webp');
}

async function checksAnAdTag({ farm, world }: MainJob): Promise<void> {
  const before = world.log.length;
  const ad_tag =
    '<iframe src="http://ads.adserver.example/slot/carousel" width="300" height="250" frameborder="0"></iframe>';
  const referrer = 'http://news.publisher.example/tag-test?from=home';
  const scan = await farm.scanned({ ad_tag, referrer });
  assert.equal(scan.status, 'completed', scan.error);
  assert.deepEqual([scan.creative_width, scan.creative_height], [300, 250]);
  assert.equal(scan.creative_redirect_chain.at(-1)?.url, 'http://ads.adserver.example/slot/carousel');
  assert.deepEqual(
    scan.redirect_chain.map(({ url }) => url),
    ['http://track.tracker.example/c/carousel', 'http://quiet.shop.example/'],
  );
  assert.deepEqual(await farm.tagsOf(scan.id), ['creative_interactive']);

  const hops = [...scan.creative_redirect_chain, ...scan.landings.flatMap(({ redirect_chain }) => redirect_chain)];
  assert.deepEqual(
    unrecorded(world, before, hops).filter((url) => !url.endsWith('/favicon.ico')),
    [],
  );
  const served = world.log.slice(before).filter(({ url }) => !url.endsWith('/favicon.ico'));
  assert.equal(served.filter(({ url }) => url.endsWith('/c/carousel')).length, 1, 'the landing was requested once');
  assert.ok(
    served.some(({ url }) => url.includes('/collect?slide=')),
    'its own tracking was sent',
  );
  assert.equal(
    served.some(({ url }) => url.startsWith('http://news.publisher.example/')),
    false,
  );
  const asked = served.find(({ url }) => url.endsWith('/slot/carousel'));
  assert.equal(asked?.referer, 'http://news.publisher.example/');

  const path = (url: string) => new URL(url).pathname;
  const screenshot = await farm.call('GET', path(scan.creative_screenshot_url));
  assert.equal(screenshot.headers.get('content-type'), 'image/webp');
  const markup = await farm.call('GET', path(scan.creative_html_url));
  assert.equal(markup.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.match(await markup.text(), /id="next"/);
  const report = await (await fetch(scan.public_report_url)).text();
  assert.match(report, /creative-screenshot/);
  assert.doesNotMatch(report, /tag-test/, 'the referrer is the client’s own');
}

async function reportsFailedTargets({ farm }: MainJob): Promise<void> {
  const failed = await Promise.all(
    ['loop', 'scriptloop', 'download', 'nocontent', 'never'].map(async (page) => {
      const { id } = await farm.submit({ url: `http://odd.redirects.example/${page}` });
      return farm.finished(id, 120);
    }),
  );
  assert.deepEqual(
    failed.map(({ status, error }) => `${status} ${error}`),
    [
      'failed navigation: TOO_MANY_REDIRECTS',
      'failed navigation: TOO_MANY_REDIRECTS',
      'failed navigation: DOWNLOAD',
      'failed navigation: NO_CONTENT',
      'failed navigation: TIMEOUT',
    ],
  );
  assert.equal((await farm.scanned({ url: 'http://quiet.shop.example/' })).status, 'completed');
}

async function reachesNoPrivateAddress({ farm, trap }: MainJob): Promise<void> {
  const port = trap.innerPort;
  const targets = [
    `http://127.0.0.1:${port}/a`,
    `http://[::1]:${port}/b`,
    'http://169.254.169.254/',
    'file:///etc/passwd',
  ];
  for (const url of targets) {
    const answer = await farm.call('POST', '/api/v1/scans', {
      url,
      country_code: 'US',
      emulator_id: 'windows_chrome',
    });
    assert.equal(answer.status, 422, url);
  }
  const asked = new URLSearchParams(targets.map((url) => ['to', url])).toString();
  const scan = await farm.scanned({ url: `http://trap.example/page?${asked}` });
  assert.equal(scan.status, 'completed', scan.error);
  const redirected = await farm.scanned({ url: `http://trap.example/redirect?${asked}` });
  assert.equal(`${redirected.status} ${redirected.error}`, 'failed navigation: BLOCKED_URL');
  assert.deepEqual(trap.reached, []);
}

async function chargesOnce({ farm }: MainJob): Promise<void> {
  const scan = await farm.scanned({ url: 'http://quiet.shop.example/' });
  assert.deepEqual(await farm.charged(scan.id), [{ type: 'usage_charge', amount_micros: -10_000 }]);
}

/** What a scan's trace must have: the service of each span, and its name. */
const TRACED = [
  ...['POST /api/v1/scans', 'queue wait', 'lease', 'analysis', 'outbox', 'webhook delivery'].map(
    (name) => `control-plane: ${name}`,
  ),
  ...['attempt', 'POST /exits', 'capture', 'navigation', 'upload'].map((name) => `browser-node: ${name}`),
  'proxy-router: POST /exits',
];

async function tracesAScan({ farm, collector }: MainJob): Promise<void> {
  const [trace, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const events: { traceparent: string; text: string }[] = [];
  const subscriber = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    events.push({ traceparent: String(request.headers.traceparent), text });
    response.end();
  }).listen(0, '127.0.0.1');
  await once(subscriber, 'listening');
  try {
    const hook = `http://127.0.0.1:${(subscriber.address() as AddressInfo).port}/`;
    const endpoint = { url: hook, event_types: ['scanning.scan.completed'] };
    assert.equal((await farm.call('POST', '/api/v1/webhooks', endpoint)).status, 201);
    const answer = await fetch(`${farm.baseUrl}/api/v1/scans`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${farm.apiKey}`,
        'content-type': 'application/json',
        traceparent: `00-${trace}-${parent}-01`,
      },
      body: JSON.stringify({ url: 'http://quiet.shop.example/', country_code: 'US', emulator_id: 'windows_chrome' }),
    });
    const { id } = (await answer.json()) as { id: string };
    const event = await until('the event of the scan', () => events.find(({ text }) => text.includes(id)), 60);
    const spansOf = () => collector.spans.filter(({ traceId }) => traceId === trace);
    await until(
      'all spans of the scan',
      () => {
        const names = new Set(spansOf().map(({ service, name }) => `${service}: ${name}`));
        return TRACED.every((name) => names.has(name)) || null;
      },
      30,
    );
    const known = new Set([parent, ...spansOf().map(({ spanId }) => spanId)]);
    assert.deepEqual(
      spansOf().filter(({ parentId }) => !known.has(parentId)),
      [],
      'every span is below another one of the trace, or below that of the client',
    );
    const [, sentTrace, sentParent] = event.traceparent.split('-');
    assert.deepEqual([sentTrace, known.has(sentParent!)], [trace, true]);
  } finally {
    subscriber.close();
    subscriber.closeAllConnections();
  }
}

async function runsManyAtOnce({ farm }: MainJob, atOnce: number): Promise<void> {
  // The first scan starts the browser.
  await farm.scanned({ url: 'http://quiet.shop.example/' });
  const before = processesOf(farm.dataDir);
  const scans = await Promise.all(
    Array.from({ length: atOnce }, () => farm.submit({ url: 'http://quiet.shop.example/' })),
  );
  const ends = await Promise.all(scans.map((scan) => farm.finished(scan.id, 180)));
  assert.deepEqual(new Set(ends.map((scan) => scan.status)), new Set(['completed']));
  await until('the processes of before', () => processesOf(farm.dataDir).length <= before.length || null, 15);
}

/** URLs that the ad world has served since its log had `since` entries and that no hop records. */
function unrecorded({ log }: AdWorld, since: number, hops: { url: string; sub_requests: SubRequest[] }[]): string[] {
  const recorded = new Set(hops.flatMap(({ url, sub_requests }) => [url, ...urlsOf(sub_requests)]));
  return log
    .slice(since)
    .map(({ url }) => url)
    .filter((url) => !recorded.has(url));
}

const urlsOf = (requests: SubRequest[]): string[] =>
  requests.flatMap((request) => [request.url, ...urlsOf(request.children)]);

const mongodb = await startMongodbServer();

// Both at once: a scan waits most of its time.
describe('the main job', { concurrency: true }, () => {
  describeMainJob({ store: 'the embedded store', atOnce: 20, isWhole: true, env: () => ({}), skip: false });
  const skip = typeof mongodb === 'string' && mongodb;
  if (typeof mongodb !== 'string') after(() => mongodb.stop());
  const env = () => (typeof mongodb === 'string' ? {} : { MONGODB_URL: mongodb.url });
  describeMainJob({ store: 'MongoDB', atOnce: 4, isWhole: false, env, skip });
});
