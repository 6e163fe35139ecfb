import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Stop } from '@adsweep/shared/service/shutdown.ts';
import { until } from '../../shared/test/support/until.ts';
import { remoteFlags } from '../src/browser/chromium-flags.ts';
import { ChromiumPool } from '../src/browser/chromium-pool.ts';
import { ExitCheckError } from '../src/browser/exit-check.ts';
import { tryRemote } from '../src/browser/try-remote.ts';
import { capturePage } from '../src/capture/capture.ts';
import { readConfig } from '../src/config.ts';
import { startNode } from '../src/node/start-node.ts';
import { CaptureWorld } from './support/capture-world.ts';
import { CredentialProxy } from './support/credential-proxy.ts';
import { FakeControlPlane } from './support/fake-control-plane.ts';
import { FakeRouter } from './support/fake-router.ts';
import { ForwardProxy } from './support/forward-proxy.ts';
import { RemoteEndpoint } from './support/remote-endpoint.ts';
import { Site } from './support/site.ts';
import { ticketFor } from './support/ticket.ts';

const silent = createLogger('test', 'silent');
const gatewayHosts = ['127.0.0.1'];
const NO_PROCESS = ['memory_limits', 'cpu_priorities', 'sandbox_check', 'process_end'];
const NO_UDP = '--force-webrtc-ip-handling-policy=disable_non_proxied_udp';

const AD = '<a href="http://shop.example/"><img src="http://cdn.example/ad.svg" width="300" height="250"></a>';

/** What a page scan and an ad tag have to show in any browser. */
async function scans(world: CaptureWorld): Promise<void> {
  const { site } = world;
  site.setRedirect('http://out.example/', 'http://shop.example/');
  site.setPage('http://shop.example/', '<title>Shop</title><iframe src="http://frame.example/"></iframe>');
  site.setPage('http://frame.example/', '<script>fetch("/seen-by-frame")</script>');
  site.setText(
    'http://cdn.example/ad.svg',
    'image/svg+xml',
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="250"><rect width="300" height="250" fill="red"/></svg>',
  );
  const [page, ad] = await Promise.all([
    world.capture('http://out.example/'),
    world.capture(AD, { kind: 'ad_tag', referrer: 'http://news.example/' }),
  ]);
  assert.equal(page.failure, null);
  assert.deepEqual(
    page.chain().map(({ url }) => url),
    ['http://out.example/', 'http://shop.example/'],
  );
  assert.equal(page.landings[0]?.page_title, 'Shop');
  assert.ok(page.urls().includes('http://frame.example/seen-by-frame'));
  assert.ok(
    page.outcome.files.some(({ name }) => /\.jpe?g$/.test(name)),
    page.notes,
  );
  assert.equal(ad.failure, null);
  assert.deepEqual([ad.outcome.capture.creative?.width, ad.outcome.capture.creative?.height], [300, 250]);
  assert.ok(ad.landings.some(({ page_title }) => page_title === 'Shop'));
}

describe('a service that starts a browser for each connection', () => {
  let endpoint: RemoteEndpoint;
  let world: CaptureWorld;
  before(async () => {
    endpoint = await RemoteEndpoint.start();
    const remote = { cdpUrl: endpoint.url(), isShared: false, gatewayHosts };
    const pool = new ChromiumPool(remote, silent, () => undefined);
    world = new CaptureWorld(await Site.start(), pool, () => endpoint.close());
  });
  after(() => world.close());

  it('is tried: it takes our flags, and lacks only what needs its processes', async () => {
    const { remote, version, lacks } = await tryRemote({ cdpUrl: endpoint.tokenUrl, gatewayHosts }, silent);
    assert.equal(remote.isShared, false);
    assert.match(version, /^\d+\.\d+\.\d+\.\d+$/);
    assert.deepEqual(lacks, NO_PROCESS);
  });

  it('serves page scans and ad tags', () => scans(world));

  it('a capture whose browser goes away runs again in another one', async () => {
    let loads = 0;
    world.site.setRoute('http://once.example/', (_, response) => {
      loads += 1;
      if (loads === 1) return void endpoint.endBrowsers();
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Again</title>');
    });
    const { capture, failure } = await world.attempt('http://once.example/');
    assert.equal(failure, null);
    assert.equal(capture?.landings[0]?.page_title, 'Again');
    assert.equal(loads, 2);
  });

  it('runs no scan where the ticket is not used, and leaves no browser', async () => {
    const proxy = await CredentialProxy.start(world.site.httpPort);
    const own = new ChromiumPool({ cdpUrl: endpoint.url(), isShared: false, gatewayHosts }, silent, () => undefined);
    const ticket = { ...proxy.ticket, password: 'wrong' };
    const emulator = findEmulator('windows_edge')!;
    const before = endpoint.browsers;
    try {
      const opening = own.open({ emulator, countryCode: 'US', ticket, isolated: false });
      await assert.rejects(opening, (error: Error) => error instanceof ExitCheckError && /gateway/.test(error.message));
    } finally {
      await own.close();
      await proxy.close();
    }
    await until('no browser of the pool', async () => endpoint.browsers <= before || null, 20);
  });

  it('that refuses its token, or is not there, ends the start with a reason and without the token', async () => {
    const refused = tryRemote({ cdpUrl: endpoint.url('another-token'), gatewayHosts }, silent);
    await assert.rejects(refused, (error: Error) => /401/.test(error.message) && !/token=|another/.test(String(error)));
    for (const scheme of ['ws', 'http']) {
      const absent = tryRemote({ cdpUrl: `${scheme}://127.0.0.1:2/?token=another-token`, gatewayHosts }, silent);
      await assert.rejects(
        absent,
        (error: Error) => /ECONNREFUSED/.test(error.message) && !/another/.test(String(error)),
      );
    }
  });
});

test('a Chromium with one browser for all is used over HTTP, if it runs with our flags', async (t) => {
  const bare = await RemoteEndpoint.start([]);
  t.after(() => bare.close());
  await assert.rejects(tryRemote({ cdpUrl: bare.httpUrl, gatewayHosts }, silent), /WebRTC bypasses its proxy/);
  await bare.close();
  const quiet = await RemoteEndpoint.start([NO_UDP]);
  t.after(() => quiet.close());
  await assert.rejects(
    tryRemote({ cdpUrl: quiet.httpUrl, gatewayHosts }, silent),
    /without Adsweep's flags: .*--proxy-server/,
  );
  await quiet.close();

  const endpoint = await RemoteEndpoint.start(remoteFlags(gatewayHosts));
  t.after(() => endpoint.close());
  const { remote, lacks } = await tryRemote({ cdpUrl: endpoint.httpUrl, gatewayHosts }, silent);
  const pool = new ChromiumPool(remote, silent, () => undefined);
  const world = new CaptureWorld(await Site.start(), pool, async () => undefined);
  t.after(() => world.close());
  assert.deepEqual(lacks, ['own_browsers', ...NO_PROCESS]);
  assert.equal(pool.sharesBrowser, true);
  await scans(world);
});

test('a node with a remote browser takes no work while that is gone, and takes it again after', async (t) => {
  const [plane, router, site, endpoint] = await Promise.all([
    FakeControlPlane.start(),
    FakeRouter.start(),
    Site.start(),
    RemoteEndpoint.start(),
  ]);
  const proxy = await ForwardProxy.start(site);
  router.ticket = ticketFor(proxy.server);
  site.setPage('http://shop.example/', '<title>Shop</title>');
  const config = readConfig({
    BROWSER_CDP_URL: endpoint.url(),
    ADSWEEP_NODE_ID: 'node-1',
    ADSWEEP_NODE_TOKEN: 'the-token-of-all-nodes',
    ADSWEEP_NODE_API_URL: plane.url,
    ADSWEEP_PROXY_URL: router.url,
    ADSWEEP_SLOTS: '1',
    ADSWEEP_METRICS_PORT: '0',
  });
  let stops: Stop[] = [];
  t.after(async () => {
    for (const [, stop] of stops) await stop();
    await Promise.all([plane.close(), router.close(), proxy.close(), site.close(), endpoint.close()]);
  });
  ({ stops } = await startNode(config, capturePage, silent));
  const { body } = await plane.received('report');
  assert.match((body as { browser_version: string }).browser_version, /^Chromium [\d.]+ \(remote\)$/);
  plane.give({ target: { kind: 'url', value: 'http://shop.example/' } });
  await plane.until(() => plane.count('complete') === 1);

  endpoint.isDown = true;
  const asked = plane.count('acquire');
  await endpoint.endBrowsers();
  // Its answer would be lost.
  await plane.until(() => plane.acquiring === 0);
  plane.give({ scan_id: 'scan-2', target: { kind: 'url', value: 'http://shop.example/' } });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.deepEqual([plane.count('fail'), plane.count('complete')], [0, 1]);
  assert.ok(plane.count('acquire') <= asked + 1);
  endpoint.isDown = false;
  await plane.until(() => plane.count('complete') === 2);
});
