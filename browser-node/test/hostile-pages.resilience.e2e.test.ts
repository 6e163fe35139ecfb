import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Browser, BrowserContext } from 'playwright-core';
import { ChromiumPool } from '../src/browser/chromium-pool.ts';
import type { OpenContext } from '../src/browser/open-context.ts';
import { RECYCLE_LIMITS } from '../src/browser/recycle-policy.ts';
import { type Captured, type CaptureOptions, CaptureWorld } from './support/capture-world.ts';
import { chromiumOfRun } from './support/chromium-of-run.ts';
import { addPage, assertNextComplete, capturedInTime, startHostileWorld } from './support/hostile-pages.ts';
import { Site } from './support/site.ts';

describe('hostile pages', () => {
  let world: CaptureWorld;
  before(async () => {
    world = await startHostileWorld();
  });
  after(() => world.close());

  const survive = (url: string, options?: CaptureOptions) => capturedInTime(world, url, options);
  const page = (name: string, body: string) => addPage(world, name, body);

  describe('in one browser', { concurrency: 4 }, () => {
    it('a hostile page cannot imitate a failure of our gateway', async () => {
      world.site.setPage('http://challenge.example/', 'who are you?', {}, 407);
      const asked = await survive('http://challenge.example/');
      assert.deepEqual([asked.failure, asked.chain()[0]?.status_code], [null, 407]);
      const headers = { 'adsweep-gateway-outcome': 'dns', 'proxy-authenticate': 'Basic realm="x"' };
      world.site.setPage('https://spoken-for.example/', 'not here', headers, 593);
      const spoken = await survive('https://spoken-for.example/');
      assert.deepEqual([spoken.failure, spoken.chain()[0]?.status_code], [null, 593]);
    });

    describe('that fail', { concurrency: 4 }, () => {
      it('a page that answers 204 fails', async () => {
        world.site.setPage('http://nothing.example/', '', {}, 204);
        const captured = await survive('http://nothing.example/');
        assert.equal(captured.failure, 'navigation: NO_CONTENT');
        assert.equal(captured.chain()[0]?.status_code, 204);
      });

      it('a page that is a download fails', async () => {
        world.site.setRedirect('http://hop-to-file.example/', 'http://file.example/setup.exe');
        world.site.setRoute('http://file.example/setup.exe', (_, response) => {
          response
            .writeHead(200, { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' })
            .end('MZ');
        });
        const captured = await survive('http://hop-to-file.example/');
        assert.equal(captured.failure, 'navigation: DOWNLOAD');
        assert.equal(captured.chain().length, 2);
      });

      it('a page that redirects by HTTP in a loop fails', async () => {
        world.site.setRoute('http://round.example/', (request, response) => {
          response.writeHead(302, { location: `/?${Number(request.url?.slice(2) || 0) + 1}` }).end();
        });
        const captured = await survive('http://round.example/');
        assert.equal(captured.failure, 'navigation: TOO_MANY_REDIRECTS');
        assert.ok(captured.chain().length >= 20, `${captured.chain().length}`);
      });

      /** The length of a loop depends on the machine, its failure code does not. */
      const assertLoop = (captured: Captured) => {
        assert.equal(captured.failure, 'navigation: TOO_MANY_REDIRECTS', captured.notes);
        assert.ok(captured.chain().length > 10 && captured.chain().length <= 200, `${captured.chain().length}`);
      };

      it('a page that redirects by script in a loop fails, with a screenshot as evidence', async () => {
        const captured = await survive(
          page('spiral', `<script>location = '?' + (Number(location.search.slice(1)) + 1)</script>`),
        );
        assertLoop(captured);
        assert.equal(captured.landings[0]?.screenshot, 'landing-0.jpeg');
      });

      it('a page that refreshes itself in a loop fails', async () => {
        const captured = await survive(page('refreshing', '<meta http-equiv=refresh content="0">'));
        assertLoop(captured);
      });

      const faults: [string, string][] = [
        ['http://x.dns-fault.example/', 'navigation: DNS'],
        ['https://x.dns-fault.example/', 'navigation: DNS'],
        ['https://x.refused.example/', 'navigation: CONNECTION_FAILED'],
        ['http://x.upstream.example/', 'proxy: UPSTREAM_FAILED'],
        ['https://x.upstream.example/', 'proxy: UPSTREAM_FAILED'],
        ['http://127.0.0.1/', 'navigation: BLOCKED_URL'],
        ['https://169.254.169.254/latest', 'navigation: BLOCKED_URL'],
        ['http://[::1]/', 'navigation: BLOCKED_URL'],
      ];
      for (const [url, code] of faults)
        it(`a page that the gateway does not reach fails: ${url}`, async () => {
          const captured = await world.capture(url);
          assert.equal(captured.failure, code);
          assert.equal(captured.landings[0]?.screenshot ?? null, null);
        });

      it('a page that redirects to one that the gateway does not reach fails', async () => {
        const captured = await survive(
          page('led-astray', '<script>location = "https://x.dns-fault.example/"</script>'),
        );
        assert.equal(captured.failure, 'navigation: DNS');
        assert.equal(captured.chain().length, 2);
      });

      it('an https page whose server speaks no TLS fails', async () => {
        const captured = await survive('https://spoken-plainly.example:8080/');
        assert.equal(captured.failure, 'navigation: TLS');
      });

      const schemes = [
        'file:///etc/passwd',
        'view-source:http://plain.example/',
        'chrome://version',
        'javascript:1',
        'about:blank',
        'data:text/html,x',
        'nonsense',
      ];
      it('a target that is no web page fails', async () => {
        for (const url of schemes) {
          const captured = await world.capture(url);
          assert.equal(captured.failure, 'navigation: BLOCKED_URL', url);
          assert.deepEqual(captured.landings, []);
        }
      });

      const leaps = [
        'file:///etc/passwd',
        'chrome://version/',
        'intent://x#Intent;end',
        'itms-apps://x/',
        'javascript:alert(1)',
        'data:text/html,x',
      ];
      for (const to of leaps)
        it(`a page that redirects to ${to} fails`, async () => {
          const from = `http://leap-${leaps.indexOf(to)}.example/`;
          world.site.setRedirect(from, to);
          const captured = await survive(from);
          assert.equal(captured.failure, 'navigation: BLOCKED_URL');
        });

      it('a capture that is aborted ends at once, with the evidence so far', async () => {
        const controller = new AbortController();
        const url = 'http://silent.example/';
        world.site.setRoute(url, () => undefined);
        const arrived = world.site.waitForRequest(url);
        const capturing = world.capture(url, { signal: controller.signal });
        await arrived;
        controller.abort(new Error('cancelled'));
        const captured = await capturing;
        assert.equal(captured.failure, 'browser: TIMEOUT');
        assert.deepEqual(captured.steps(), ['initial http://silent.example/']);
      });

      it('a page that never answers fails', async () => {
        world.site.setRoute('http://mute.example/', () => undefined);
        const captured = await survive('http://mute.example/');
        assert.equal(captured.failure, 'navigation: TIMEOUT');
      });

      it('a page that crashes its renderer fails', async () => {
        const url = page('crashing', '<script>fetch("/now")</script>');
        let context: BrowserContext | undefined;
        const crash = world.site.waitForRequest(`${url}now`).then(async () => {
          const [page] = context?.pages() ?? [];
          const session = page && (await context?.newCDPSession(page));
          await session?.send('Page.crash').catch(() => undefined);
        });
        const opened = (open: OpenContext) => {
          context = open.context;
        };
        const [captured] = await Promise.all([survive(url, { opened }), crash]);
        assert.equal(captured.failure, 'browser: CRASHED');
        assert.equal(captured.chain().length, 1);
      });
    });
  });

  it('after all of these pages, the next capture in the same browser is complete', async () => {
    await assertNextComplete(world);
    assert.deepEqual(
      world.launches.filter((reason) => reason !== 'memory'),
      ['first'],
    );
  });

  describe('in a browser of their own', { concurrency: 2 }, () => {
    it('a hostile page that exceeds the memory limit of a page fails as out of memory, and no capture in the same browser fails with it', async () => {
      const pool = new ChromiumPool(
        await chromiumOfRun(),
        createLogger('test', 'fatal'),
        () => undefined,
        RECYCLE_LIMITS,
        400_000_000,
      );
      const small = new CaptureWorld(await Site.start(), pool, async () => undefined);
      try {
        small.site.setPage('http://plain.example/', '<title>plain</title>');
        small.site.setPage(
          'http://insatiable.example/',
          '<script>const kept = []; setInterval(() => kept.push(new Uint8Array(2e7).fill(1)), 20)</script>',
        );
        const [captured, neighbour] = await Promise.all([
          small.capture('http://insatiable.example/'),
          small.capture('http://plain.example/'),
        ]);
        assert.equal(captured.failure, 'browser: OUT_OF_MEMORY');
        assert.equal(captured.chain().length, 1);
        assert.equal(neighbour.failure, null);
      } finally {
        await small.close();
      }
    });

    it('a hostile page that ends the whole browser fails as a crash, and another browser is not affected', async () => {
      const fragile = await CaptureWorld.start();
      try {
        fragile.site.setPage('http://plain.example/', 'plain');
        fragile.site.setPage('http://fatal.example/', '<script>fetch("/now")</script>');
        let browser: Browser | undefined;
        const arrived = fragile.site.waitForRequest('http://fatal.example/now');
        const death = arrived.then(async () => {
          const session = await browser?.newBrowserCDPSession();
          await session?.send('Browser.crash').catch(() => undefined);
        });
        const opened = (open: OpenContext) => {
          browser = open.browser;
        };
        const [captured] = await Promise.all([fragile.capture('http://fatal.example/', { opened }), death]);
        assert.equal(captured.failure, 'browser: CRASHED');
        assert.deepEqual(captured.steps(), ['initial http://fatal.example/']);
        assert.equal((await fragile.capture('http://plain.example/')).failure, null);
      } finally {
        await fragile.close();
      }
    });
  });
});
