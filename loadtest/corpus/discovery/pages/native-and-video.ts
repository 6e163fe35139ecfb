import { article, banner, clickUrl, frame, lines, load, picture, script } from '../markup.ts';
import { adAt, type PublisherPage } from '../publisher-page.ts';

/** A container and the loader that fills it with `count` items; each item is 240 pixels wide and 200 high. */
const widget = (id: string, loader: string, from: string, unit: string): string =>
  `<div id="${id}" style="width:960px;min-height:400px"></div>${load(`${loader}?id=${id}&from=${from}&unit=${unit}`)}`;
const TABOOLA = ['https://cdn.taboola.com/libtrc/publisher/loader.js', 'trc.taboola.com'] as const;
const OUTBRAIN = ['https://widgets.outbrain.com/outbrain.js', 'odb.outbrain.com'] as const;
const MGID = ['https://jsc.mgid.com/site.js', 'servicer.mgid.com'] as const;
const items = (label: string, click: string, shop: string): string =>
  `<div style="height:400px"><div style="height:20px">${label}</div><div style="display:grid;grid-template-columns:repeat(4,240px)">${`<a href="${clickUrl(shop, [click])}" target="_blank" rel="sponsored" style="display:block;height:190px">${picture('240x160', 'images.taboola.com')}<span>You will not believe this</span></a>`.repeat(8)}</div></div>`;
const PLAYER = '<script src="https://imasdk.googleapis.com/js/sdkloader/ima3.js"></script>';
const vast = (shop: string): string =>
  `<VAST version="3.0"><Ad id="1"><InLine><AdSystem>A</AdSystem><AdTitle>T</AdTitle><Impression>https://s0.2mdn.net/pictures/300x250.svg</Impression><Creatives><Creative><Linear><Duration>00:00:05</Duration><MediaFiles><MediaFile delivery="progressive" type="video/webm" width="640" height="360">https://s0.2mdn.net/film.webm</MediaFile></MediaFiles><VideoClicks><ClickThrough>${clickUrl(shop).replaceAll('&', '&amp;')}</ClickThrough></VideoClicks></Linear></Creative></Creatives></InLine></Ad></VAST>`;
const IMA_URL = 'https://pubads.g.doubleclick.net/gampad/ads?output=xml_vast4&unit=';

/** Native widgets, outstream and instream players. */
export const NATIVE_AND_VIDEO_PAGES: PublisherPage[] = [
  {
    subject: 'native',
    name: 'taboola-feed',
    html: article(lines(6) + widget('taboola-below', ...TABOOLA, 'tb-1')),
    units: { 'tb-1': items('Sponsored links by Taboola', 'trc.taboola.com', 'gadget.example') },
    ads: [adAt('#taboola-below', [960, 400], 'taboola', 'gadget.example')],
  },
  {
    subject: 'native',
    name: 'outbrain-grid',
    html: article(lines(4) + widget('ob-widget-1', ...OUTBRAIN, 'ob-1')),
    units: { 'ob-1': items('Recommended by Outbrain', 'paid.outbrain.com', 'health.example') },
    ads: [adAt('#ob-widget-1', [960, 400], 'outbrain', 'health.example')],
  },
  {
    subject: 'native',
    name: 'mgid-and-banner',
    html: article(
      frame('https://ib.adnxs.com/tt?unit=mg-top', '728x90', 'id="top"') + lines(4) + widget('M123', ...MGID, 'mg-1'),
    ),
    units: {
      'mg-top': banner('728x90', 'bank.example', 'anchor', ['clk.adnxs.com']),
      'mg-1': items('Promoted content', 'clicks.mgid.com', 'diet.example'),
    },
    ads: [adAt('#top', [728, 90], 'appnexus', 'bank.example'), adAt('#M123', [960, 400], 'mgid', 'diet.example')],
  },
  {
    subject: 'video',
    name: 'instream-player',
    html: article(
      `${lines(1)}<div id="player" style="width:640px;height:360px"><video></video></div>${lines(3)}${PLAYER}${script(`playVideoAd(document.getElementById('player'), '${IMA_URL}in-1');`)}`,
    ),
    units: { 'in-1': vast('series.example') },
    ads: [adAt('#player', [640, 360], 'ima', 'series.example', 'video')],
  },
  {
    subject: 'video',
    name: 'outstream-teads',
    html: article(
      `${lines(2)}<script src="https://a.teads.tv/page/1/tag"></script>${script("const box = document.createElement('div'); box.id = 'teads0'; box.className = 'teads-inread'; box.style.cssText = 'width:640px;height:360px'; document.querySelector('main').append(box); playVideoAd(box, 'https://a.teads.tv/vast?unit=out-1');")}${lines(2)}`,
    ),
    units: { 'out-1': vast('perfume.example') },
    ads: [adAt('#teads0', [640, 360], 'teads', 'perfume.example', 'video')],
  },
];
