import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { emptyEntry } from '../src/capture/session/journal-entry.ts';
import { CaptureWorld } from './support/capture-world.ts';
import { findAdsOn } from './support/find-ads-on.ts';

let world: CaptureWorld;
before(async () => {
  world = await CaptureWorld.start();
});
after(() => world.close());

const AD =
  '<body style="margin:0"><a href="http://shop.test/"><img src="http://cdn.test/ad.svg" width="300" height="250"></a>';
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="250"><rect width="300" height="250" fill="teal"/></svg>';

/** What the test's web serves besides pages: creatives, and scripts of ad servers. */
function serveAds(): void {
  const { site } = world;
  site.setText('http://cdn.test/ad.svg', 'image/svg+xml', PICTURE);
  for (const url of [
    'http://ads.exoclick.com/iframe.html',
    'http://googleads.g.doubleclick.net/pagead/ads',
    'http://maps.test/embed',
  ])
    site.setPage(url, AD);
  site.setPage('http://blank.exoclick.com/empty.html', '<body></body>');
  const write = `const at = document.getElementById('into');
    at.innerHTML = '<a href="http://shop.test/a"><img src="http://cdn.test/written.svg" width="300" height="250"></a><a href="http://shop.test/a">Buy now</a>'`;
  site.setText('http://cdn.test/written.svg', 'image/svg+xml', PICTURE);
  site.setText('http://cdn.test/own.svg', 'image/svg+xml', PICTURE);
  site.setText('http://a.juicyads.com/write.js', 'text/javascript', write);
  site.setText('http://c1.popads.net/pop.js', 'text/javascript', "window.open('http://offer.test/')");
  site.setPage('http://offer.test/', '<title>Offer</title><p>An offer');
  site.setText('http://cdn.taboola.com/loader.js', 'text/javascript', '1');
  site.setText('http://ads.teads.tv/vast', 'text/xml', '<VAST version="3.0"></VAST>');
}

const EXPECTED = [
  ['pop', 0, 0, 0, 0, ''],
  ['banner', 283, 80, 800, 473, 'ads.exoclick.com'],
  ['banner', 20, 400, 300, 250, 'cdn.test'],
  ['banner', 1000, 573, 300, 60, 'ads.exoclick.com'],
  ['banner', 600, 700, 314, 266, 'ads.exoclick.com'],
  ['banner', 20, 1000, 300, 250, 'ads.exoclick.com'],
  ['banner', 20, 1400, 300, 250, 'googleads.g.doubleclick.net'],
  ['banner', 600, 1400, 300, 250, 'a.juicyads.com'],
  ['banner', 20, 1800, 600, 120, 'trc.taboola.com'],
  ['video', 700, 1800, 400, 225, 'ads.teads.tv'],
  ['banner', 20, 2320, 300, 250, ''],
  ['banner', 20, 3200, 300, 250, 'ads.exoclick.com'],
] as const;

it('the ads of a page are found in its order, each with its place and its ad server, and nothing else is', async () => {
  serveAds();
  const at = (left: number, top: number, more = '') => `style="position:absolute;left:${left}px;top:${top}px;${more}"`;
  world.site.setPage(
    'http://news.test/',
    `<!doctype html><title>News</title><body style="margin:10px;height:4000px"><h1>News</h1>
    <script src="http://c1.popads.net/pop.js"></script>
    <div ${at(600, 700)} id="side"><iframe src="http://ads.exoclick.com/iframe.html" width="300" height="250" style="border:3px solid;padding:4px"></iframe></div>
    <div id="div-gpt-ad-1699999999999-0" data-google-query-id="CJ" ${at(20, 400, 'width:300px;height:250px')}>
      <div id="google_ads_iframe_/1/news_0__container__"><iframe id="google_ads_iframe_/1/news_0" srcdoc='${AD}' width="300" height="250" style="border:0;vertical-align:bottom"></iframe></div></div>
    <div id="closed" ${at(20, 1000)}></div>
    <script>document.getElementById('closed').attachShadow({ mode: 'closed' }).innerHTML = '<iframe src="http://ads.exoclick.com/iframe.html" width="300" height="250" style="border:0"></iframe>'</script>
    <ins class="adsbygoogle" data-ad-client="ca-pub-1" ${at(20, 1400, 'display:block;width:300px;height:250px')}><iframe src="http://googleads.g.doubleclick.net/pagead/ads?x=1" width="300" height="250" style="border:0"></iframe></ins>
    <div id="written" class="box" ${at(600, 1400, 'width:300px;height:270px')}><div id="into"></div><script src="http://a.juicyads.com/write.js"></script></div>
    <div id="taboola-below-article" ${at(20, 1800, 'width:600px;height:120px')}><a href="http://trc.taboola.com/click?1"><img src="http://cdn.test/ad.svg" width="200" height="100"></a><a href="http://trc.taboola.com/click?2"><img src="http://cdn.test/ad.svg" width="200" height="100"></a></div>
    <script src="http://cdn.taboola.com/loader.js"></script>
    <div class="player" ${at(700, 1800)}><video width="400" height="225" style="display:block;background:#000"></video></div><script>fetch('http://ads.teads.tv/vast').catch(() => {})</script>
    <div ${at(20, 2300, 'width:300px')}><small style="display:block;height:20px">Advertisement</small><a href="http://shop.test/house"><img src="http://cdn.test/ad.svg" width="300" height="250" style="display:block"></a></div>
    <div id="lazy" ${at(20, 3200, 'width:300px;height:250px')}></div>
    <script>new IntersectionObserver(([seen], observer) => { if (!seen.isIntersecting) return; observer.disconnect();
      document.getElementById('lazy').innerHTML = '<iframe src="http://ads.exoclick.com/iframe.html?lazy" width="300" height="250" style="border:0"></iframe>' }).observe(document.getElementById('lazy'))</script>
    <div id="sticky" style="position:fixed;right:66px;bottom:0;width:300px;height:60px"><iframe src="http://ads.exoclick.com/iframe.html?sticky" width="300" height="60" style="border:0"></iframe></div>
    <div id="interstitial" style="position:fixed;inset:0;background:#000a"><button id="close" aria-label="Close" ${at(1100, 10)}>x</button><iframe src="http://ads.exoclick.com/iframe.html?cover" width="800" height="473" style="position:absolute;left:283px;top:80px;border:0"></iframe></div>

    <iframe src="http://maps.test/embed" width="300" height="250" ${at(1000, 1000)}></iframe>
    <iframe src="http://blank.exoclick.com/empty.html" width="300" height="250" ${at(1000, 1300)}></iframe>
    <div class="ad-banner" ${at(20, 2700, 'width:728px;height:90px')}></div>
    <div class="ad" ${at(20, 2800)}><a href="http://news.test/subscribe"><img src="http://cdn.test/own.svg" width="300" height="250"></a></div>
    <a href="http://partner.test/" ${at(600, 2800)}><img src="http://cdn.test/own.svg" width="300" height="250"></a>
    <iframe src="http://ads.exoclick.com/iframe.html" width="1" height="1"></iframe>
    <iframe src="http://ads.exoclick.com/iframe.html" width="300" height="250" ${at(-5000, 10)}></iframe>`,
  );
  const ads = await findAdsOn(world, 'http://news.test/');
  const found = ads.map(({ block: { ad_kind, x, y, width, height, network_host } }) => [
    ad_kind,
    x,
    y,
    width,
    height,
    network_host,
  ]);
  assert.equal(
    found.length,
    EXPECTED.length,
    JSON.stringify(
      ads.map(({ block }) => block),
      null,
      1,
    ),
  );
  for (const [index, [kind, ...place]] of EXPECTED.entries()) {
    const [foundKind, ...foundPlace] = found[index]!;
    assert.equal(foundKind, kind);
    assert.equal(foundPlace.at(-1), place.at(-1));
    for (const side of [0, 1, 2, 3])
      assert.ok(Math.abs(Number(foundPlace[side]) - Number(place[side])) <= 4, `${index}: ${foundPlace}`);
  }
  assert.equal(ads[0]?.block.network, 'Popads');
  assert.deepEqual(
    ads.map(({ overlay, closeButton }) => [overlay !== null, closeButton !== null]).filter(([covers]) => covers),
    [[true, true]],
  );
  const again = await findAdsOn(world, 'http://news.test/');
  const identities = (all: typeof ads) => all.map(({ block }) => block.identity);
  assert.deepEqual(identities(again), identities(ads));
  assert.equal(new Set(identities(ads)).size, EXPECTED.length);
});

it('a page that scrolls in a fixed element under a consent wall is read to its end, and no ad of it counts as covering it', async () => {
  serveAds();
  const frame = (name: string) =>
    `<iframe src="http://ads.exoclick.com/iframe.html?${name}" width="300" height="250" style="border:0"></iframe>`;
  world.site.setPage(
    'http://app.test/',
    `<!doctype html><title>News</title><style>html, body { height: 100%; margin: 0; overflow: hidden }</style>
    <div id="app" style="position:fixed;inset:0;overflow:auto"><h1>News</h1>${'<p>Text of the page.</p>'.repeat(6)}
    <div id="first">${frame('first')}</div><p style="height:3000px">More text.</p><div id="lazy" style="height:250px"></div></div>
    <div style="position:fixed;inset:0;z-index:9;background:#fff">We value your privacy</div>
    <script>const lazy = document.getElementById('lazy');
      new IntersectionObserver(([seen], observer) => { if (!seen.isIntersecting) return; observer.disconnect();
      lazy.innerHTML = '${frame('lazy')}' }).observe(lazy)</script>`,
  );
  const ads = await findAdsOn(world, 'http://app.test/');
  assert.deepEqual(
    ads.map(({ block, overlay }) => [block.network_host, overlay]),
    [
      ['ads.exoclick.com', null],
      ['ads.exoclick.com', null],
    ],
  );
});

it('a page that scrolls in an element of a closed shadow root is read to its end', async () => {
  serveAds();
  const frame = '<iframe src="http://ads.exoclick.com/iframe.html" width="300" height="250" style="border:0"></iframe>';
  world.site.setPage(
    'http://rooted-page.test/',
    `<!doctype html><title>News</title><style>html, body { height: 100%; margin: 0; overflow: hidden }</style><div id="host"></div><script>
    const root = host.attachShadow({ mode: 'closed' });
    root.innerHTML = '<div style="height:100vh;overflow:auto"><h1>News</h1><p style="height:3000px">Text.</p><div id="lazy" style="height:250px"></div></div>';
    const lazy = root.getElementById('lazy');
    new IntersectionObserver(([seen], observer) => { if (!seen.isIntersecting) return; observer.disconnect();
      lazy.innerHTML = '${frame}' }).observe(lazy)</script>`,
  );
  const ads = await findAdsOn(world, 'http://rooted-page.test/');
  assert.deepEqual(
    ads.map(({ block }) => block.network_host),
    ['ads.exoclick.com'],
  );
});

it('a page that shows another one in a frame in its whole view is read to the end of that one', async () => {
  serveAds();
  const frame = '<iframe src="http://ads.exoclick.com/iframe.html" width="300" height="250" style="border:0"></iframe>';
  world.site.setPage(
    'http://around.test/',
    '<body style="margin:0"><iframe src="http://shown.test/" style="border:0;display:block;width:100%;height:100vh"></iframe>',
  );
  world.site.setPage(
    'http://shown.test/',
    `<!doctype html><title>News</title><h1>News</h1><p style="height:3000px">Text.</p><div id="lazy" style="height:250px"></div>
    <script>new IntersectionObserver(([seen], observer) => { if (!seen.isIntersecting) return; observer.disconnect();
      lazy.innerHTML = '${frame}' }).observe(lazy)</script>`,
  );
  const ads = await findAdsOn(world, 'http://around.test/');
  assert.deepEqual(
    ads.map(({ block }) => [block.network_host, block.y > 3_000]),
    [['ads.exoclick.com', true]],
  );
});

it('pictures of ads are matched with their requests also where the page has a base address, a choice of pictures, or long addresses', async () => {
  serveAds();
  const { site } = world;
  for (const name of [1, 2, 3]) site.setText(`http://ads.exoclick.com/pictures/${name}.svg`, 'image/svg+xml', PICTURE);
  const size = 'width="300" height="250"';
  const [second, third] = [2, 3].map((name) => `http://ads.exoclick.com/pictures/${name}.svg`);
  site.setPage(
    'http://based.test/',
    `<!doctype html><title>News</title><base href="http://ads.exoclick.com/pictures/"><p><img src="1.svg" ${size}></p><p>Text.</p>
    <p><picture><source srcset="${second} 1x"><img src="http://based.test/none.svg" ${size}></picture></p><p>Text.</p>
    <p><img src="${third}?${'x'.repeat(600)}#part" ${size}></p>`,
  );
  const ads = await findAdsOn(world, 'http://based.test/');
  assert.deepEqual(
    ads.map(({ block }) => [block.signals.includes('ad_server_request'), block.network_host]),
    Array.from({ length: 3 }, () => [true, 'ads.exoclick.com']),
  );
});

it('the ads of a page are found also while it makes thousands of its elements anew again and again', async () => {
  serveAds();
  const render = "document.getElementById('feed').innerHTML = '<p>a</p>'.repeat(12000)";
  world.site.setPage(
    'http://feed.test/',
    `<!doctype html><title>News</title><div id="feed" hidden></div><script>setInterval(() => { ${render} }, 250)</script>
    <iframe src="http://ads.exoclick.com/iframe.html" width="300" height="250"></iframe>`,
  );
  assert.equal((await findAdsOn(world, 'http://feed.test/')).length, 1);
});

it("what is requested in a frame of an ad is that ad's alone, also where one script made several", async () => {
  serveAds();
  const script = 'http://ads.exoclick.com/tag.js';
  world.site.setText(
    script,
    'text/javascript',
    `{ const { currentScript } = document, frame = document.createElement('iframe');
    Object.assign(frame, { src: 'http://ads.exoclick.com/iframe.html?' + currentScript.dataset.zone, width: 300, height: 250 });
    currentScript.after(frame); }`,
  );
  const zone = (name: string) => `<div><script src="${script}" data-zone="${name}"></script></div>`;
  world.site.setPage('http://zones.test/', `<!doctype html><title>News</title>${zone('a')}<p>News</p>${zone('b')}`);
  const [first, second, ...others] = await findAdsOn(world, 'http://zones.test/');
  assert.ok(first && second && others.length === 0);
  const requested = (frameId: string | undefined) => ({
    ...emptyEntry('http://cdn.test/pixel', 'GET', 0),
    frameId: frameId ?? '',
    initiatorScripts: [script],
  });
  const owners = (frameId: string | undefined) => [first, second].map((ad) => ad.ownsRequest(requested(frameId)));
  assert.deepEqual(owners(first.frameIds[0]), [true, false]);
  assert.deepEqual(owners(second.frameIds[0]), [false, true]);
});

/** A script that shows of a list the items near the view; every sixth is an ad. `scrolled`: what scrolls it. */
const virtualList = (list: string, scrolled: string, items = 20) => `{
  const frame = '<iframe src="http://ads.exoclick.com/iframe.html" width="300" height="250" style="border:0"></iframe>';
  const list = ${list}, scrolled = ${scrolled}, shown = new Map();
  list.style.cssText = 'position:relative;display:block;height:${items * 300}px';
  const show = () => { for (let n = 0; n < ${items}; n++) {
    const top = scrolled === window ? scrollY : scrolled.scrollTop, height = scrolled.innerHeight ?? scrolled.clientHeight;
    const isIn = n * 300 < top + height + 200 && n * 300 + 300 > top - 200;
    if (!isIn) { shown.get(n)?.remove(); shown.delete(n); continue; }
    if (shown.has(n)) continue;
    const item = document.createElement('div');
    item.style.cssText = 'position:absolute;width:100%;height:300px;top:' + n * 300 + 'px';
    item.innerHTML = n % 6 === 1 ? frame : '<p>Item ' + n;
    list.append(item); shown.set(n, item);
  } };
  scrolled.addEventListener('scroll', show); show();
}`;

it('the ads of a list that has only the items in view are found, each once, also in a closed shadow root and where the list scrolls below the middle of the view', async () => {
  serveAds();
  const start = '<!doctype html><title>News</title><style>body { margin: 0 }</style>';
  const pages = {
    'virtual.test': `<main></main><script>${virtualList('document.querySelector("main")', 'window')}</script>`,
    'virtual-closed.test': `<div id="host"></div><script>
      const root = host.attachShadow({ mode: 'closed' }); root.innerHTML = '<main></main>';
      ${virtualList('root.querySelector("main")', 'window')}</script>`,
    'virtual-low.test': `<div style="height:60vh">Above</div><div id="host"></div><script>
      const root = host.attachShadow({ mode: 'closed' });
      root.innerHTML = '<div style="height:40vh;overflow:auto"><main></main></div>';
      ${virtualList('root.querySelector("main")', 'root.firstChild', 8)}</script>`,
  };
  for (const [host, page] of Object.entries(pages)) {
    world.site.setPage(`http://${host}/`, start + page);
    const ads = await findAdsOn(world, `http://${host}/`);
    const places = ads.map(({ block }) => block.y);
    if (host === 'virtual-low.test') assert.equal(places.length, 2, host);
    else assert.deepEqual(places, [300, 2100, 3900, 5700], host);
  }
});

it('the ads are found in what scrolls within a page, below its view too, once the page itself was scrolled to its end', async () => {
  serveAds();
  const frame = '<iframe src="http://ads.exoclick.com/iframe.html" width="300" height="250" style="border:0"></iframe>';
  const lazy = '<div class="lazy" style="height:250px"></div>';
  const box = `<div style="height:400px;overflow:auto"><p style="height:1500px">Text.</p>${lazy}</div>`;
  world.site.setPage(
    'http://boxes.test/',
    `<!doctype html><title>News</title><h1>News</h1><p style="height:1200px">Text.</p>${box}<p style="height:1200px">Text.</p>${lazy}
    <script>for (const at of document.getElementsByClassName('lazy'))
      new IntersectionObserver(([seen], observer) => { if (!seen.isIntersecting) return; observer.disconnect();
      at.innerHTML = '${frame}' }).observe(at)</script>`,
  );
  const ads = await findAdsOn(world, 'http://boxes.test/');
  assert.equal(ads.length, 2);
});
