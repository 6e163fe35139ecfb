import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type CaptureOptions, CaptureWorld } from './support/capture-world.ts';
import { ADS, CDN, PUBLISHER, SHOP } from './support/creatives/creative.ts';
import { capturedFacts, expectedFacts } from './support/creatives/creative-facts.ts';
import { TESTED_CREATIVES } from './support/creatives/creative-groups.ts';
import { compareRequests } from './support/creatives/request-agreement.ts';
import { serveCreative } from './support/creatives/serve-creative.ts';
import { Site } from './support/site.ts';

describe('ad tags', { concurrency: 8 }, () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start();
  });
  after(() => world.close());

  /** A capture with its own site, which `prepare` fills. */
  async function captureAlone(tag: string, prepare: (site: Site) => void, options: CaptureOptions = {}) {
    const site = await Site.start();
    serveCreative(site, {});
    prepare(site);
    const captured = await world.capture(tag, { kind: 'ad_tag', referrer: PUBLISHER, site, ...options });
    await site.close();
    return { captured, site };
  }

  it('§4.2.13 an ad tag sees the full publisher URL, while requests carry only its origin as Referer', async () => {
    const tag = `<pre id="seen" style="width:300px;height:250px"></pre><iframe src="${ADS}/frame" width="30" height="30"></iframe>
      <img src="https://secure.example/pixel.gif"><script>
      document.getElementById('seen').textContent = location.href + ' | ' + document.referrer + ' | ' + isSecureContext;
      fetch('${ADS}/collect', { method: 'POST', mode: 'no-cors', body: 'x' });</script>`;
    const referrer = 'https://news.publisher.example/articles/1?from=home#top';
    const { captured, site } = await captureAlone(
      tag.replaceAll(ADS, 'https://ads.example'),
      (own) => own.setPage('https://ads.example/frame', '<script>document.title = document.referrer</script>'),
      { referrer },
    );
    const markup = Buffer.from(captured.file('creative.html')?.bytes ?? []).toString();
    assert.match(markup, /https:\/\/news\.publisher\.example\/articles\/1\?from=home#top \| {2}\| true/);
    const asked = site.arrivals.filter(({ url }) => !url.endsWith('/favicon.ico'));
    assert.deepEqual(asked.map(({ url }) => url).sort(), [
      'https://ads.example/collect',
      'https://ads.example/frame',
      'https://secure.example/pixel.gif',
    ]);
    for (const { headers } of asked) assert.equal(headers.referer, 'https://news.publisher.example/');
  });

  it('§4.2.13 an ad tag is hosted on a neutral URL of its own scheme if the scan has no referrer', async () => {
    const { captured } = await captureAlone(`<img src="${CDN}/300x250.svg">`, () => undefined, { referrer: '' });
    assert.equal(captured.outcome.capture.creative?.page_url, 'http://www.example.com/');
    assert.equal(captured.outcome.capture.creative?.width, 300);
  });

  it('§2.5.6 an ad tag is checked for elements that open nothing, also those that a click added, without loading its landing again or blocking its tracking', async () => {
    const [creative] = TESTED_CREATIVES.filter(({ kind }) => kind === 'a carousel with arrows');
    const arrowsAfterClick = creative?.tag
      .replace('<button', '<button hidden')
      .replace('target="_blank"', `target="shop" onclick="document.getElementById('next').hidden = false"`);
    const slides = `${arrowsAfterClick}<img src="${CDN}/300x50.svg" style="cursor:pointer" onclick="new Image().src = '${ADS}/tracked?' + performance.now(); window.open('${ADS}/click')">`;
    const { captured, site } = await captureAlone(slides, () => undefined);
    const asked = (path: string) => site.urls().filter((url) => url.startsWith(ADS + path)).length;
    assert.deepEqual([asked('/click'), asked('/slide')], [1, 1]);
    assert.deepEqual(captured.observed('creative_interactive')[0]?.facts.inert, 'button#next');
    const { onlyLogged, onlyRecorded } = compareRequests(captured, site);
    assert.deepEqual([onlyLogged, onlyRecorded], [[], []]);
  });

  it('an ad tag has as landings the tabs that the click opened, then those that opened by themselves, up to the limit', async () => {
    const tag = `<a href="${ADS}/click" target="_blank"><img src="${CDN}/300x250.svg"></a><script>setTimeout(() => { for (let i = 0; i < 12; i++) window.open('http://pop.example/' + i) }, 300)</script>`;
    const { captured } = await captureAlone(tag, (site) => {
      for (let i = 0; i < 12; i++) site.setPage(`http://pop.example/${i}`, `<title>Pop ${i}</title>`);
    });
    const titles = captured.landings.map(({ page_title }) => page_title);
    assert.ok(titles.length <= 10 && titles.length >= 8, titles.join());
    assert.ok(
      titles.every((title) => title.startsWith('Pop') || title === 'Lamps'),
      titles.join(),
    );
  });

  it('an ad tag that navigates its page away by itself has the new page as its landing', async () => {
    const { captured, site } = await captureAlone(
      `<script>location.href = '${ADS}/click'</script><b>gone</b>`,
      () => undefined,
    );
    assert.deepEqual(captured.steps(0), [`initial ${ADS}/click`, `http ${SHOP}`]);
    assert.equal(captured.landings[0]?.page_title, 'Lamps');
    assert.equal(site.urls().filter((url) => url === SHOP).length, 1);
    const [led] = captured.observed('auto_redirect');
    assert.deepEqual([led?.landing, led?.url, led?.facts.to], [null, PUBLISHER, SHOP]);
    const { onlyLogged, onlyRecorded } = compareRequests(captured, site);
    assert.deepEqual([onlyLogged, onlyRecorded], [[], []]);
  });

  it('the creative of an ad tag whose URL browsers show in no frame of the publisher is at that URL, and its chain begins there', async () => {
    const creative =
      '<a id="banner" href="http://ads.example/click" target="_blank"><img src="http://cdn.example/300x250.svg"></a>';
    const ways: [tag: string, publisher: string, chain: string[]][] = [
      [`${ADS}/alone`, PUBLISHER, [`${ADS}/alone`]],
      [`${ADS}/plain`, 'https://news.publisher.example/', [`${ADS}/plain`]],
      ['https://ads.example/secure', 'https://news.publisher.example/', ['https://ads.example/secure', `${ADS}/plain`]],
    ];
    await Promise.all(
      ways.map(async ([tag, referrer, chain]) => {
        const prepare = (site: Site) => {
          site.setPage(`${ADS}/alone`, creative, { 'x-frame-options': 'DENY' });
          site.setPage(`${ADS}/plain`, creative);
          site.setRedirect('https://ads.example/secure', `${ADS}/plain`);
        };
        const { captured, site } = await captureAlone(tag, prepare, { referrer });
        const { creative: seen } = captured.outcome.capture;
        assert.equal(captured.failure, null, tag);
        assert.deepEqual([seen?.url, seen?.width, seen?.page_url], [chain.at(-1), 300, referrer]);
        assert.deepEqual(
          seen?.redirect_chain.map(({ url }) => url),
          chain,
        );
        assert.deepEqual(captured.steps(0), [`initial ${ADS}/click`, `http ${SHOP}`]);
        const { onlyLogged, onlyRecorded } = compareRequests(captured, site);
        assert.deepEqual([onlyLogged, onlyRecorded], [[], []], tag);
      }),
    );
  });

  it('an ad tag fails permanently if it has no element, and with the failure of its URL if that does not load', async () => {
    const failures = await Promise.all(
      ['1 < 2', 'http://x.dns-fault.example/ad', `${ADS}/leap`, `${ADS}/jump`, `${ADS}/silent`].map(async (tag) => {
        const { captured } = await captureAlone(tag, (site) => {
          site.setRoute(`${ADS}/silent`, () => undefined);
          site.setRedirect(`${ADS}/leap`, 'javascript:alert(1)');
          site.setRedirect(`${ADS}/jump`, 'intent://x#Intent;end');
        });
        return captured.failure;
      }),
    );
    const blocked = 'navigation: BLOCKED_URL';
    assert.deepEqual(failures, ['ad_tag: INVALID', 'navigation: DNS', blocked, blocked, 'navigation: TIMEOUT']);
  });

  describe('is captured with its size, creative and landing:', { concurrency: 8 }, () => {
    for (const creative of TESTED_CREATIVES)
      it(creative.kind, async () => {
        const site = await Site.start();
        serveCreative(site, creative);
        try {
          const captured = await world.capture(creative.tag, {
            kind: 'ad_tag',
            referrer: PUBLISHER,
            site,
            ...(creative.emulator && { emulator: creative.emulator }),
          });
          assert.deepEqual(capturedFacts(captured, site, creative), expectedFacts(creative));
        } finally {
          await site.close();
        }
      });
  });
});
