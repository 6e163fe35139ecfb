import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Captured, CaptureWorld } from './support/capture-world.ts';
import { ATTEMPT_MS, addPage, assertNextComplete, capturedInTime, startHostileWorld } from './support/hostile-pages.ts';

describe('hostile pages that are captured nevertheless', () => {
  let world: CaptureWorld;
  before(async () => {
    world = await startHostileWorld();
  });
  after(() => world.close());

  const survive = (url: string) => capturedInTime(world, url);
  const page = (name: string, body: string) => addPage(world, name, body);

  const good = (captured: Captured) => {
    assert.equal(captured.failure, null, captured.outcome.failure?.cause);
    assert.equal(captured.landings[0]?.screenshot, 'landing-0.jpeg', captured.notes);
  };

  describe('in one browser', { concurrency: 4 }, () => {
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
      const captured = await world.captureAsNode(tag, { kind: 'ad_tag' });
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
        const captured = await world.captureAsNode(tag, { kind: 'ad_tag', signal: AbortSignal.timeout(ATTEMPT_MS) });
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

    it('a page that waits for a script that never comes is looked at nevertheless, and its text counts as shown', async () => {
      const { site } = world;
      const left = 'http://left-for.example/';
      site.setRoute('http://never.example/never.js', () => undefined);
      const url = page(
        'waits',
        `<p>You have won.</p><script>addEventListener('mousemove', () => fetch('/moved'), { once: true });
      setTimeout(() => location.assign('${left}'), 8500)</script><script src="http://never.example/never.js"></script>`,
      );
      site.setPage(left, 'an offer');
      const captured = await survive(url);
      assert.ok(captured.urls().includes(new URL('/moved', url).href), captured.urls().join('\n'));
      const [redirect] = captured.observed('auto_redirect');
      assert.deepEqual([redirect?.url, redirect?.facts.to], [url, left]);
      assert.ok((redirect?.facts.after_load_ms ?? 0) > 1_000, `${redirect?.facts.after_load_ms} ms`);
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

    it('a page that shows a dialog at the moment at which its frames of other sites do, one of them without end, is captured with these', async () => {
      const { site } = world;
      // Of dialogs of several processes that are open at once, Chromium lets only one be answered (156).
      const at = 'const until = (Math.floor(Date.now() / 2000) + 1) * 2000; while (Date.now() < until);';
      const soon = (script: string) =>
        `<script>addEventListener('load', () => setTimeout(() => { ${at} ${script} }, 500))</script>`;
      site.setPage(
        'http://once.example/',
        `a frame that asks${soon("document.title = [prompt('Name?'), confirm('Sure?'), alert(1)].map(String)")}`,
      );
      site.setPage('http://again.example/', `a frame that goes on${soon("for (;;) alert('again')")}`);
      const frames = ['once', 'again'].map((name) => `<iframe src="http://${name}.example/"></iframe>`).join('');
      const captured = await survive(page('at-once', `the page${frames}${soon('alert(2)')}`));
      good(captured);
      const [shown] = captured.observed('dialogs');
      assert.ok(shown && shown.facts.count > 5, `${shown?.facts.count} dialogs`);
      assert.deepEqual(
        captured
          .documents()
          .map(({ text }) => text.trim())
          .toSorted(),
        ['a frame that asks', 'a frame that goes on', 'the page'],
      );
      assert.ok(captured.documents().some(({ title }) => title === 'null,false,undefined'));
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

    it('a page that endlessly opens tabs whose server never answers is stopped as well', async () => {
      world.site.setRoute('http://never-opens.example/', () => undefined);
      const opening = `shown<script>setInterval(() => open('http://never-opens.example/?' + Math.random()), 20)</script>`;
      const captured = await survive(page('never-popups', opening));
      good(captured);
      const [popups] = captured.observed('popups');
      assert.ok(popups && popups.facts.windows > 20 && popups.facts.windows < 100, `${popups?.facts.windows} windows`);
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

  it('after all of these pages, the next capture in the same browser is complete', async () => {
    await assertNextComplete(world);
    assert.deepEqual(
      world.launches.filter((reason) => reason !== 'memory'),
      ['first'],
    );
  });
});
