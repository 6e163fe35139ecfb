import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Browser, BrowserContext } from 'playwright-core';
import { ChromiumPool } from '../src/browser/chromium-pool.ts';
import type { OpenContext } from '../src/browser/open-context.ts';
import { RECYCLE_LIMITS } from '../src/browser/recycle-policy.ts';
import { type Captured, type CaptureOptions, CaptureWorld } from './support/capture-world.ts';
import { chromiumOfRun } from './support/chromium-of-run.ts';
import { Site } from './support/site.ts';

/** No page may prolong a capture beyond the time limit of an attempt. */
const ATTEMPT_MS = JOB_LIMITS.page.seconds * 1_000;

describe('hostile pages', { concurrency: 4 }, () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start();
    world.site.setPage('http://plain.example/', '<title>plain</title>plain');
  });
  after(() => world.close());

  /** Captures the page and checks that the next capture in the same browser is complete. */
  async function survive(url: string, options: CaptureOptions = {}): Promise<Captured> {
    const captured = await world.capture(url, { ...options, signal: AbortSignal.timeout(ATTEMPT_MS) });
    assert.notEqual(captured.failure, 'browser: TIMEOUT', captured.outcome.failure?.cause);
    const next = await world.capture('http://plain.example/');
    assert.deepEqual(
      [next.failure, next.landings[0]?.page_title, next.landings[0]?.screenshot],
      [null, 'plain', 'landing-0.jpeg'],
    );
    return captured;
  }

  /** A page at `<name>.example` with this body. */
  function page(name: string, body: string): string {
    world.site.setPage(`http://${name}.example/`, `<!doctype html><title>${name}</title><body>${body}`);
    return `http://${name}.example/`;
  }

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
      const captured = await survive(page('led-astray', '<script>location = "https://x.dns-fault.example/"</script>'));
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

  describe('that are captured nevertheless', { concurrency: 4 }, () => {
    const good = (captured: Captured) => {
      assert.equal(captured.failure, null, captured.outcome.failure?.cause);
      assert.equal(captured.landings[0]?.screenshot, 'landing-0.jpeg', captured.notes);
    };

    const TO_AN_APP: Record<string, string> = {
      'by location.replace()': "location.replace('x-none:1')",
      'by location.href, many times':
        "for (let at = 0; at < 50; at++) location.href = 'intent://app/' + at + '#Intent;end'",
      'by window.open() in its own tab': "open('tel:123', '_self')",
      'by a click on a link': 'document.write(\'<a href="market://details?id=1">shop</a>\'); document.links[0].click()',
      'by a frame':
        "document.write('<iframe srcdoc=\"<script>top.location = `itms-apps://1`</' + 'script>\"></iframe>')",
      'where it stops all other listeners':
        "navigation.addEventListener('navigate', (e) => e.stopImmediatePropagation(), true); RegExp.prototype.test = () => true; location = 'x-none:1'",
    };
    for (const [how, script] of Object.entries(TO_AN_APP))
      it(`a page that navigates to an app while it is parsed is captured: ${how}`, async () => {
        const url = page(`app-${Object.keys(TO_AN_APP).indexOf(how)}`, `<script>${script}</script><p>the rest`);
        const captured = await survive(url);
        good(captured);
        assert.match(captured.documents()[0]?.text ?? '', /the rest/);
        assert.ok(captured.tookMs < 15_000, `${captured.tookMs} ms`);
        const [redirect] = captured.observed('auto_redirect');
        assert.deepEqual([redirect?.landing, redirect?.url], [0, url]);
        assert.match(redirect?.facts.to ?? '', /^(x-none|intent|tel|market|itms-apps):/);
      });

    it('an ad that navigates to an app while it is parsed is captured', async () => {
      const tag = `<script>location.replace('market://details?id=1')</script><div style="width:300px;height:250px;background:red">ad</div>`;
      const captured = await world.capture(tag, { kind: 'ad_tag' });
      assert.equal(captured.failure, null);
      assert.ok(captured.outcome.capture.creative, captured.notes);
      assert.ok(captured.tookMs < 20_000, `${captured.tookMs} ms`);
      assert.match(captured.observed('auto_redirect')[0]?.facts.to ?? '', /^market:/);
    });

    const SPINS = {
      'in its tag': 'for (;;);',
      'on pointerdown': "addEventListener('pointerdown', () => { for (;;); })",
      'once it is activated': 'setInterval(() => { if (navigator.userActivation.hasBeenActive) for (;;); }, 20)',
    };
    for (const [when, script] of Object.entries(SPINS))
      it(`an ad that keeps its main thread busy forever is captured, and reported as busy: ${when}`, async () => {
        const tag = `<div style="width:300px;height:250px;background:red">ad</div><script>${script}</script>`;
        const captured = await world.capture(tag, { kind: 'ad_tag', signal: AbortSignal.timeout(ATTEMPT_MS) });
        assert.equal(captured.failure, null, captured.outcome.failure?.cause);
        assert.ok(captured.outcome.capture.creative, captured.notes);
        const [busy] = captured.observed('main_thread');
        assert.ok(
          busy && busy.facts.busy_share > 0.8 && busy.facts.over_ms >= 4_000,
          `${JSON.stringify(busy)} ${captured.notes}`,
        );
      });

    it('a page that never ends its response is captured', async () => {
      const timers = new Set<NodeJS.Timeout>();
      world.site.setRoute('http://drip.example/', (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).write('<title>drip</title><p>begun');
        const timer = setInterval(() => response.write('<p>on and on'), 50);
        timers.add(timer);
        response.on('close', () => clearInterval(timer));
      });
      const captured = await survive('http://drip.example/');
      for (const timer of timers) clearInterval(timer);
      good(captured);
      assert.equal(captured.landings[0]?.page_title, 'drip');
    });

    it('a page that keeps its main thread busy forever is captured', async () => {
      const captured = await survive(page('spin', 'spinning<script>setTimeout(() => { for (;;); }, 100)</script>'));
      good(captured);
      assert.match(captured.notes, /main thread busy/);
      assert.match(captured.documents()[0]?.text ?? '', /spinning/);
    });

    it('a page that shows alerts in a loop is captured', async () => {
      const captured = await survive(page('alerts', 'shown<script>for (;;) alert("again")</script>'));
      good(captured);
      assert.match(captured.notes, /\d+ dialogs were closed/);
    });

    it('a page that shows a beforeunload dialog is captured', async () => {
      const captured = await survive(
        page(
          'clingy',
          `<script>
        addEventListener('beforeunload', (event) => { event.preventDefault(); event.returnValue = 'stay'; });
        setTimeout(() => { location = '/left' }, 200)</script>`,
        ),
      );
      world.site.setPage('http://clingy.example/left', 'left');
      assert.equal(captured.failure, null);
      assert.deepEqual(captured.steps(), ['initial http://clingy.example/', 'script http://clingy.example/left']);
    });

    it('a page that opens tabs endlessly is captured', async () => {
      const captured = await survive(
        page('popups', `shown<script>setInterval(() => open('http://plain.example/?' + Math.random()), 20)</script>`),
      );
      good(captured);
      assert.ok(captured.landings.length > 1 && captured.landings.length <= 10, `${captured.landings.length}`);
    });

    it('a page that allocates memory endlessly is captured', async () => {
      const captured = await survive(
        page(
          'glutton',
          `full<script>
        const kept = []; const timer = setInterval(() => { kept.push(new Uint8Array(2e7).fill(1)); if (kept.length > 20) clearInterval(timer) }, 20)</script>`,
        ),
      );
      good(captured);
    });

    it('a page that closes itself is captured', async () => {
      world.site.setPage(
        'http://closing.example/',
        '<script>open("", "_self"); close(); open("http://closing.example/two")</script>',
      );
      world.site.setPage('http://closing.example/two', '<script>close()</script>');
      const captured = await survive('http://closing.example/');
      assert.equal(captured.failure, null);
      assert.equal(captured.chain()[0]?.url, 'http://closing.example/');
    });

    it('a page that has removed its document element is captured', async () => {
      const captured = await survive(page('headless', '<script>document.documentElement.remove()</script>'));
      good(captured);
      assert.equal(captured.documents()[0]?.html, '');
    });

    it('a huge page is captured', async () => {
      const paragraph = `<p>${'words and words '.repeat(60)}</p>`;
      const captured = await survive(page('huge', paragraph.repeat(5_000)));
      good(captured);
      assert.equal(captured.documents()[0]?.html.length, 1_000_000);
      assert.equal(captured.file('landing-0.jpeg')?.height, 633);
      assert.match(captured.notes, /shows only what was in view/);
    });

    it('a page that requests files and browser pages of the machine is captured without them', async () => {
      const inner = ['file:///etc/passwd', 'view-source:http://plain.example/', 'chrome://version/'];
      const captured = await survive(
        page(
          'prying',
          `${inner.map((url) => `<iframe src="${url}"></iframe><a href="${url}">x</a>`).join('')}
        <script>for (const a of document.links) { a.click(); try { open(a.href) } catch {} }
        fetch('file:///etc/passwd').catch(() => 0); setTimeout(() => { location = 'file:///etc/passwd' }, 300)</script>`,
        ),
      );
      good(captured);
      const said = JSON.stringify([captured.documents(), captured.bodies(), captured.requests]);
      assert.doesNotMatch(said, /root:.*:0:0/);
      assert.ok(!captured.urls().some((url) => url.startsWith('file:')));
      assert.equal(captured.landings[0]?.final_url, 'http://prying.example/');
    });

    it('a page that requests services of this machine and its network is captured without them', async () => {
      const arrived: string[] = [];
      const victim = http.createServer((request, response) => {
        arrived.push(request.url ?? '');
        response.writeHead(200, { 'access-control-allow-origin': '*' }).end('secret');
      });
      await new Promise<void>((resolve) => victim.listen(0, resolve));
      const { port } = victim.address() as AddressInfo;
      const targets = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '127.1', '2130706433'].map(
        (host) => `${host}:${port}`,
      );
      const urls = [...targets, '169.254.169.254'].map((host) => `http://${host}/`);
      const tries = urls.map(
        (url) =>
          `<img src="${url}i"><iframe src="${url}f"></iframe><script src="${url}s"></script><link rel=preconnect href="${url}">`,
      );
      const captured = await survive(
        page(
          'intruder',
          `${tries.join('')}<script>
        for (const url of ${JSON.stringify(urls)}) {
          fetch(url).catch(() => 0); fetch(url, { mode: 'no-cors' }).catch(() => 0); navigator.sendBeacon(url, 'x');
          try { new WebSocket(url.replace('http', 'ws')) } catch {} open(url) }
        new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] }).createDataChannel('x')</script>`,
        ),
      );
      await new Promise((resolve) => victim.close(resolve));
      assert.deepEqual(arrived, []);
      assert.equal(captured.failure, null);
    });
  });
});
