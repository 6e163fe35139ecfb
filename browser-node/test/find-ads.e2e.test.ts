import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
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

it('finds the ads of a page in the order of the page, each with its place and its ad server', async () => {
  const { site } = world;
  site.setText('http://cdn.test/ad.svg', 'image/svg+xml', PICTURE);
  site.setPage('http://ads.exoclick.com/iframe.html', AD);
  site.setPage('http://googleads.g.doubleclick.net/pagead/ads', AD);
  site.setPage('http://maps.test/embed', AD);
  site.setPage(
    'http://news.test/',
    `<title>News</title><body style="margin:10px;height:3000px"><h1>News</h1>
    <div style="position:absolute;left:600px;top:700px" id="side"><iframe src="http://ads.exoclick.com/iframe.html" width="300" height="250" style="border:3px solid;padding:4px"></iframe></div>
    <div id="div-gpt-ad-1699999999999-0" data-google-query-id="CJ" style="position:absolute;left:20px;top:400px;width:300px;height:250px">
      <div id="google_ads_iframe_/1/news_0__container__"><iframe id="google_ads_iframe_/1/news_0" srcdoc='${AD}' width="300" height="250" style="border:0;vertical-align:bottom"></iframe></div></div>
    <ins class="adsbygoogle" data-ad-client="ca-pub-1" style="position:absolute;display:block;left:20px;top:1400px;width:300px;height:250px"><iframe src="http://googleads.g.doubleclick.net/pagead/ads?x=1" width="300" height="250" style="border:0"></iframe></ins>
    <iframe src="http://maps.test/embed" width="300" height="250" style="position:absolute;left:20px;top:1800px"></iframe>
    <div class="ad-banner" style="position:absolute;left:20px;top:2200px;width:728px;height:90px"></div>
    <iframe src="http://ads.exoclick.com/iframe.html" width="1" height="1"></iframe>`,
  );
  const ads = await findAdsOn(world, 'http://news.test/');
  const found = ads.map(({ block }) => ({ ...block, identity: '' }));
  const expected = [
    { x: 20, y: 400, width: 300, height: 250, network_host: 'cdn.test', signals: ['google_publisher_tag', 'ad_size'] },
    { x: 600, y: 700, width: 314, height: 264, network_host: 'ads.exoclick.com', signals: ['ad_server_frame'] },
    {
      x: 20,
      y: 1400,
      width: 300,
      height: 250,
      network_host: 'googleads.g.doubleclick.net',
      signals: ['adsense', 'ad_server_frame', 'ad_size'],
    },
  ];
  assert.equal(found.length, expected.length, JSON.stringify(found));
  for (const [index, { x, y, width, height, network_host, signals }] of expected.entries()) {
    const block = found[index]!;
    assert.deepEqual([block.slot_index, block.network_host, block.signals], [index, network_host, signals]);
    const distances = [block.x - x, block.y - y, block.width - width, block.height - height];
    assert.ok(
      distances.every((one) => Math.abs(one) <= 4),
      `${index}: ${distances}`,
    );
  }
});
