import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { adNetworkName } from '@adsweep/shared/ads/ad-companies.ts';
import { LONGEST_CHAIN, PARCEL_CHAIN } from '../chains.ts';
import { DEMO_SWEEP } from '../exits.ts';
import { WAYS } from '../redirects.ts';
import { type AdWorld, startAdWorld } from '../start-ad-world.ts';
import { redirectIn, visit } from './visitor.ts';

describe('the local ad world', () => {
  let world: AdWorld;
  before(async () => {
    world = await startAdWorld();
  });
  after(() => world.close());

  const pages = [
    ['http://news.publisher.example/', /The night ferry returns/],
    ['http://news.publisher.example/front', /adsweep-demo\.taboola\.com\/widget\.js/],
    ['http://adsweep-demo.adnxs.com/ad/leaderboard', /go\.redirects\.example\/start/],
    ['http://adsweep-demo.criteo.com/delivery/rectangle', /go\.redirects\.example\/parcel/],
    ['http://adsweep-demo.teads.tv/player', /<video muted/],
    ['http://ads.adserver.example/slot/halfpage', /loud\.casino\.example/],
    ['http://ads.adserver.example/slot/leaderboard', /go\.redirects\.example\/start/],
    ['http://ads.adserver.example/slot/rectangle', /loud\.casino\.example/],
    ['http://quiet.shop.example/', /Lamps for quiet rooms/],
    ['http://stuck.offers.example/', /stay\.js/],
    ['http://stuck.offers.example/last-chance', /One last chance/],
    ['http://loud.casino.example/', /<audio src="\/jingle\.wav" autoplay/],
  ] as const;

  for (const [url, content] of pages) {
    it(`serves ${url} as a page with a title and an icon`, async () => {
      const seen = await visit(world, url);
      assert.equal(seen.status, 200);
      assert.match(seen.headers['content-type']!, /^text\/html/);
      assert.match(seen.body.toString(), content);
      assert.match(seen.body.toString(), /<title>[^<]+<\/title>/);
      assert.equal((await visit(world, new URL('/favicon.ico', url).href)).headers['content-type'], 'image/svg+xml');
    });
  }

  it('serves everything that its pages load', async () => {
    for (const [url] of pages) {
      const html = (await visit(world, url)).body.toString();
      for (const [, , path] of html.matchAll(/<(?!a\b)[^>]*?\b(src|href)="([^"]+)"/g)) {
        const target = new URL(path!, url).href;
        assert.equal((await visit(world, target)).status, 200, `${target}, loaded by ${url}`);
      }
    }
  });

  it('has a front page with ads of five networks, whose names scans know, and one of an unknown ad server', async () => {
    const body = (await visit(world, DEMO_SWEEP.url)).body.toString();
    const loaded = [...body.matchAll(/<(?:iframe|script)[^>]* src="(http[^"]+)"/g)].map(([, url]) => url!);
    assert.deepEqual(
      loaded.map((url) => adNetworkName(url)),
      [null, 'AppNexus', 'Teads', 'Criteo', null, 'Taboola', 'Popads'],
    );
    const [item] = /http:\/\/adsweep-demo\.taboola\.com\/click/.exec(
      (await visit(world, 'http://adsweep-demo.taboola.com/widget.js')).body.toString(),
    )!;
    assert.equal((await visit(world, item)).headers.location, 'http://quiet.shop.example/');
    for (const thumbnail of ['lamp', 'shop', 'wheel'])
      assert.equal((await visit(world, `http://adsweep-demo.taboola.com/thumbs/${thumbnail}.svg`)).status, 200);
    const vast = (await visit(world, 'http://adsweep-demo.teads.tv/vast.xml')).body.toString();
    for (const [, url] of vast.matchAll(/CDATA\[(.*?)\]\]/g))
      assert.notEqual((await visit(world, url!)).status, 404, url);
    assert.equal(
      (await visit(world, 'http://adsweep-demo.popads.net/go')).headers.location,
      'http://loud.casino.example/',
    );
  });

  it('redirects along the longest chain, each step as listed, to the quiet shop', async () => {
    const walked: (string | null)[][] = [];
    let next: ReturnType<typeof redirectIn> = { url: LONGEST_CHAIN[0]!.url, method: 'GET', way: 'start' };
    for (let way: string | null = null; next; way = next?.way ?? null) {
      walked.push([next.url, way]);
      next = redirectIn(await visit(world, next.url, { method: next.method }), next.url);
    }
    assert.deepEqual(
      walked,
      LONGEST_CHAIN.map(({ url, by }) => [url, by]),
    );
    assert.equal(walked.length, 11);
    assert.equal(new Set(walked.map(([url]) => new URL(url!).host)).size, 4);
  });

  it('lists the status and kind of hop that a capture should record for each step of a chain', async () => {
    for (const step of [...LONGEST_CHAIN, ...PARCEL_CHAIN]) {
      assert.equal((await visit(world, step.url)).status, step.status_code, step.url);
    }
    const kinds = ['initial', 'http', 'http', 'meta_refresh', 'script'];
    assert.deepEqual(
      PARCEL_CHAIN.map(({ kind }) => kind),
      kinds,
    );
  });

  it('has an open redirect that goes to any URL', async () => {
    const { headers } = await visit(world, 'http://go.redirects.example/to?url=http%3A%2F%2F10.0.0.1%2F');
    assert.equal(headers.location, 'http://10.0.0.1/');
  });

  it('serves a page that a test adds', async () => {
    world.setPage('http://odd.redirects.example/mine', '<title>mine</title>');
    assert.equal((await visit(world, 'http://odd.redirects.example/mine')).body.toString(), '<title>mine</title>');
    assert.throws(() => world.setPage('http://unknown.example/', ''), /no host unknown\.example/);
  });

  for (const way of Object.keys(WAYS)) {
    it(`redirects to the shop by ${way} only`, async () => {
      const url = `http://go.redirects.example/by/${way}`;
      assert.deepEqual(redirectIn(await visit(world, url), url)?.way, way);
    });
  }

  it('answers a slot’s bid request with the URL of a creative that exists', async () => {
    for (const slot of ['leaderboard', 'rectangle']) {
      const bid = await visit(world, `http://ads.adserver.example/bid?slot=${slot}`);
      assert.equal(bid.headers['access-control-allow-origin'], '*');
      const { creative } = JSON.parse(bid.body.toString());
      assert.equal((await visit(world, creative)).status, 200);
    }
  });

  it('serves a real sound: PCM samples of the length in its header', async () => {
    const { headers, body } = await visit(world, 'http://loud.casino.example/jingle.wav');
    assert.equal(headers['content-type'], 'audio/wav');
    assert.equal(body.subarray(0, 4).toString() + body.subarray(8, 12).toString(), 'RIFFWAVE');
    assert.equal(body.readUInt32LE(4), body.length - 8);
    assert.ok(new Set(body.subarray(44)).size > 100, 'not silence');
  });

  it('has a path for each failure that a scan must survive', async () => {
    const odd = (path: string) => visit(world, `http://odd.redirects.example${path}`);
    assert.equal((await odd('/loop')).headers.location, '/loop');
    assert.match((await odd('/scriptloop?round=7')).body.toString(), /location\.href = '\/scriptloop\?round=8'/);
    assert.match((await odd('/download')).headers['content-disposition']!, /^attachment/);
    assert.deepEqual(await odd('/nocontent').then(({ status, body }) => [status, body.length]), [204, 0]);
    assert.equal((await odd('/error')).status, 500);
    assert.equal((await odd('/nothing-here')).status, 404);
    await assert.rejects(odd('/cut'), { code: 'ECONNRESET' });
  });

  it('accepts a request for /never and sends nothing until it closes', async () => {
    const other = await startAdWorld();
    const socket = connect(other.port, '127.0.0.1');
    socket.write('GET /never HTTP/1.1\r\nHost: odd.redirects.example\r\n\r\n');
    while (other.log.length === 0) await new Promise(setImmediate);
    let said = 0;
    socket.on('data', (chunk) => {
      said += chunk.length;
    });
    const closed = once(socket, 'close');
    await other.close();
    await closed;
    assert.equal(said, 0);
  });

  it('serves https on the same port, with a self-signed certificate that names every host', async () => {
    const seen = await visit(world, 'https://quiet.shop.example/');
    assert.equal(seen.status, 200);
    assert.equal(world.log.at(-1)?.url, 'https://quiet.shop.example/');
    const socket = connectTls({ port: world.port, host: '127.0.0.1', servername: 'quiet.shop.example' });
    await assert.rejects(once(socket, 'secureConnect'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const trusting = connectTls({ port: world.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(trusting, 'secureConnect');
    const names = trusting.getPeerCertificate().subjectaltname?.split(', ') ?? [];
    for (const host of Object.keys(world.hosts)) assert.ok(names.includes(`DNS:${host}`), host);
    trusting.destroy();
  });

  it('logs the requests to its hosts and serves the log under its own address', async () => {
    const other = await startAdWorld();
    await visit(other, 'http://track.tracker.example/pixel.gif?a=1', {
      headers: { host: 'track.tracker.example', referer: 'http://news.publisher.example/', 'user-agent': 'a test' },
    });
    await visit(other, 'http://track.tracker.example/collect', { method: 'POST' });
    const [first, second] = other.log;
    assert.equal(first?.url, 'http://track.tracker.example/pixel.gif?a=1');
    assert.equal(first?.referer, 'http://news.publisher.example/');
    assert.equal(first?.user_agent, 'a test');
    assert.equal(second?.method, 'POST');
    const direct = await visit(other, `http://127.0.0.1:${other.port}/log`);
    assert.deepEqual(JSON.parse(direct.body.toString()), other.log);
    assert.equal(other.log.length, 2, 'a request for the log is not logged');
    const contents = await visit(other, `http://127.0.0.1:${other.port}/`);
    assert.match(contents.body.toString(), /stuck\.offers\.example/);
    await other.close();
  });
});
