import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Captured, type CaptureOptions, CaptureWorld } from './support/capture-world.ts';
import { ADS, CDN, CREATIVES, type Creative, PUBLISHER, SHOP } from './support/creatives.ts';
import { Site } from './support/site.ts';

/** A web of its own for one creative: its pages, pictures of any size, a click tracker and the shop that it leads to. */
function serve(site: Site, { pages = {} }: Pick<Creative, 'pages'>): void {
  for (const size of ['300x250', '728x90', '320x50', '300x50']) {
    const [width, height] = size.split('x');
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#7a9"/></svg>`;
    site.setText(`${CDN}/${size}.svg`, 'image/svg+xml', svg);
  }
  site.setText(
    `${ADS}/pixel.gif`,
    'image/gif',
    Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
  );
  site.setRedirect(`${ADS}/click`, SHOP);
  site.setPage(SHOP, '<title>Lamps</title><h1>Lamps</h1>');
  for (const [url, text] of Object.entries(pages)) {
    if (text.startsWith('-> ')) site.setRedirect(url, text.slice(3));
    else if (text.startsWith('deny:')) site.setPage(url, text.slice(5), { 'x-frame-options': 'DENY' });
    else if (url.endsWith('.js')) site.setText(url, 'text/javascript', text);
    else if (url.endsWith('.json'))
      site.setRoute(url, (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' }).end(text);
      });
    else site.setPage(url, text);
  }
}

/** A form without fields asks with an empty query, which our servers do not write down. */
const bare = (url: string) => (url.split('#')[0] as string).replace(/\?$/, '');

describe('an ad tag', { concurrency: 8 }, () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start();
  });
  after(() => world.close());

  /** A capture in a web of its own, which `prepare` fills. */
  async function captureAlone(tag: string, prepare: (site: Site) => void, options: CaptureOptions = {}) {
    const site = await Site.start();
    serve(site, {});
    prepare(site);
    const captured = await world.capture(tag, { kind: 'ad_tag', referrer: PUBLISHER, site, ...options });
    await site.close();
    return { captured, site };
  }

  it('§4.2.13 sees the whole address of the publisher, and tells others its origin alone', async () => {
    const tag = `<pre id="seen" style="width:300px;height:250px"></pre><iframe src="${ADS}/frame" width="30" height="30"></iframe>
      <img src="https://secure.example/pixel.gif"><script>
      document.getElementById('seen').textContent = location.href + ' | ' + document.referrer + ' | ' + isSecureContext;
      fetch('${ADS}/collect', { method: 'POST', mode: 'no-cors', body: 'x' });</script>`;
    const referrer = 'https://news.publisher.example/articles/1?from=home';
    const { captured, site } = await captureAlone(
      tag.replaceAll(ADS, 'https://ads.example'),
      (own) => own.setPage('https://ads.example/frame', '<script>document.title = document.referrer</script>'),
      { referrer },
    );
    const markup = Buffer.from(captured.file('creative.html')?.bytes ?? []).toString();
    assert.match(markup, /https:\/\/news\.publisher\.example\/articles\/1\?from=home \| {2}\| true/);
    const asked = site.arrivals.filter(({ url }) => !url.endsWith('/favicon.ico'));
    assert.deepEqual(asked.map(({ url }) => url).sort(), [
      'https://ads.example/collect',
      'https://ads.example/frame',
      'https://secure.example/pixel.gif',
    ]);
    for (const { headers } of asked) assert.equal(headers.referer, 'https://news.publisher.example/');
  });

  it('§4.2.13 stands on a neutral address of its own scheme without a referrer', async () => {
    const { captured } = await captureAlone(`<img src="${CDN}/300x250.svg">`, () => undefined, { referrer: '' });
    assert.equal(captured.outcome.capture.creative?.page_url, 'http://www.example.com/');
    assert.equal(captured.outcome.capture.creative?.width, 300);
  });

  it('§2.5.6 is clicked for what opens nothing without another visit to its landing, and its own tracking goes out', async () => {
    const [creative] = CREATIVES.filter(({ kind }) => kind === 'a carousel with arrows');
    const slides = `${creative?.tag}<img src="${CDN}/300x50.svg" style="cursor:pointer" onclick="new Image().src = '${ADS}/tracked?' + performance.now(); window.open('${ADS}/click')">`;
    const { captured, site } = await captureAlone(slides, () => undefined);
    const asked = (path: string) => site.urls().filter((url) => url.startsWith(ADS + path)).length;
    assert.deepEqual([asked('/click'), asked('/slide')], [1, 1]);
    assert.deepEqual(captured.observed('creative_interactive')[0]?.facts.inert, 'button#next');
    asServed(captured, site);
  });

  it('has as landings what the click opened, then what opened by itself, as many as are kept', async () => {
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

  it('that leaves the page by itself has what came instead as its landing', async () => {
    const { captured, site } = await captureAlone(
      `<script>location.href = '${ADS}/click'</script><b>gone</b>`,
      () => undefined,
    );
    assert.deepEqual(captured.steps(0), [`initial ${ADS}/click`, `http ${SHOP}`]);
    assert.equal(captured.landings[0]?.page_title, 'Lamps');
    assert.equal(site.urls().filter((url) => url === SHOP).length, 1);
  });

  it('fails for good where it holds nothing that a browser could show, and as its address fails', async () => {
    const [empty, gone] = await Promise.all([
      captureAlone('1 < 2', () => undefined),
      captureAlone('http://x.dns-fault.example/ad', () => undefined),
    ]);
    assert.deepEqual([empty.captured.failure, gone.captured.failure], ['ad_tag: INVALID', 'navigation: DNS']);
  });

  describe('is captured as it is rendered', { concurrency: 8 }, () => {
    for (const creative of CREATIVES)
      it(creative.kind, async () => {
        const site = await Site.start();
        serve(site, creative);
        try {
          const captured = await world.capture(creative.tag, {
            kind: 'ad_tag',
            referrer: PUBLISHER,
            site,
            ...(creative.emulator && { emulator: creative.emulator }),
          });
          asExpected(captured, creative);
          asServed(captured, site);
        } finally {
          await site.close();
        }
      });
  });
});

function asExpected(captured: Captured, { size, document = PUBLISHER, landing, markup, inert = '' }: Creative): void {
  const { creative } = captured.outcome.capture;
  assert.equal(captured.failure, null);
  assert.ok(creative);
  assert.deepEqual([creative.width, creative.height], size ?? [0, 0]);
  assert.equal(creative.url, document);
  assert.equal(creative.page_url, PUBLISHER);
  const picture = captured.file('creative.jpeg');
  assert.equal(picture !== undefined, size !== null);
  assert.match(Buffer.from(captured.file('creative.html')?.bytes ?? []).toString(), markup);
  assert.deepEqual(
    captured.landings.map(({ final_url }) => bare(final_url)),
    landing ? [landing] : [],
  );
  if (landing) assert.equal(captured.landings[0]?.page_title, 'Lamps');
  assert.equal(captured.file('page.jpeg') !== undefined, landing === null);
  const checked = captured.observed('creative_interactive')[0]?.facts;
  assert.equal(checked?.inert ?? '', inert);
}

/** What the servers were asked and what the record holds are the same, request by request; the publisher was not asked. */
function asServed(captured: Captured, site: Site): void {
  const hosts = new Set(site.urls().map((url) => new URL(url).host));
  assert.equal(hosts.has(new URL(PUBLISHER).host), false, 'the publisher was asked');
  const recorded = captured
    .urls()
    .filter((url) => new URL(url).host !== new URL(PUBLISHER).host && !/\/mraid\.js$/.test(url));
  const served = site.urls().filter((url) => !url.endsWith('/favicon.ico'));
  assert.deepEqual(
    recorded
      .map(bare)
      .filter((url) => !url.endsWith('/favicon.ico'))
      .sort(),
    served.sort(),
  );
}
