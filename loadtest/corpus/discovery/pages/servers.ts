import { article, attribute, banner, clickUrl, creativePage, frame, lines, picture, script } from '../markup.ts';
import { adAt, type PublisherPage } from '../publisher-page.ts';

const PREBID = '<script async src="https://acdn.adnxs.com/prebid/prebid.js"></script>';
const at = (name: string) => `https://www.${name}.example`;
/** Requests a bid and runs `render` with `code`. */
const bid = (code: string, endpoint: string, render: string): string =>
  script(
    `window.pbjs = { que: [() => pbjs.requestBids({ adUnits: [{ code: '${code}', endpoint: '${endpoint}' }], bidsBackHandler() { const code = '${code}'; ${render} } })] };`,
  ) + PREBID;
const APPNEXUS_BIDS = 'https://ib.adnxs.com/ut/v3/prebid';
const RUBICON_BIDS = 'https://fastlane.rubiconproject.com/a/api/fastlane.json';
const column = (inner: string): string => `<div style="width:300px;margin-bottom:10px">${inner}</div>`;

/** Ad servers that a page asks by itself, and header bidding. */
export const SERVER_PAGES: PublisherPage[] = [
  {
    subject: 'header_bidding',
    name: 'prebid-blank-frame',
    html: article(
      `${lines(1)}<div id="pb-1"><iframe id="pb-1-frame" width="300" height="250" style="border:0;display:block" scrolling="no"></iframe></div>${lines(3)}${bid('pb-1', APPNEXUS_BIDS, "pbjs.renderAd(document.getElementById('pb-1-frame').contentDocument, code);")}`,
    ),
    units: { 'pb-1': creativePage(banner('300x250', 'garden.example', 'anchor', ['clk.adnxs.com'])) },
    ads: [adAt('#pb-1-frame', [300, 250], 'appnexus', 'garden.example')],
  },
  {
    subject: 'header_bidding',
    name: 'prebid-srcdoc',
    html: article(
      `${lines(1)}<div id="pb-2" style="height:90px"></div>${lines(3)}${bid('pb-2', RUBICON_BIDS, "const frame = document.createElement('iframe'); Object.assign(frame, { width: 728, height: 90, srcdoc: pbjs.markupOf(code) }); frame.style.cssText = 'border:0;display:block'; document.getElementById(code).append(frame);")}`,
    ),
    units: { 'pb-2': creativePage(banner('728x90', 'pets.example', 'open', ['beacon.rubiconproject.com'])) },
    ads: [adAt('#pb-2 iframe', [728, 90], 'rubicon', 'pets.example')],
  },
  {
    subject: 'header_bidding',
    name: 'prebid-friendly',
    html: article(
      `${lines(1)}<div id="pb-3" style="width:300px;height:250px"></div>${lines(3)}${bid('pb-3', APPNEXUS_BIDS, 'document.getElementById(code).innerHTML = pbjs.markupOf(code);')}`,
    ),
    units: { 'pb-3': banner('300x250', 'music.example', 'anchor', ['clk.adnxs.com']) },
    ads: [adAt('#pb-3', [300, 250], 'appnexus', 'music.example')],
  },
  {
    subject: 'servers',
    name: 'amazon-frame',
    html: article(
      lines(1) +
        frame('https://aax.amazon-adsystem.com/e/dtb/admi?unit=amz-1', '300x250', 'id="apstag-f-1"') +
        lines(3),
    ),
    units: { 'amz-1': banner('300x250', 'books.example', 'anchor', ['aax.amazon-adsystem.com']) },
    ads: [adAt('#apstag-f-1', [300, 250], 'amazon', 'books.example')],
  },
  {
    subject: 'servers',
    name: 'direct-frames',
    html: article(
      frame('https://ads.eu.criteo.com/delivery/r/afr.php?unit=df-1', '970x250', 'id="f1"') +
        lines(2) +
        frame('https://ads.pubmatic.com/AdServer/AdServerServlet?unit=df-2', '300x250', 'id="f2"') +
        lines(2) +
        frame('https://u.openx.net/w/1.0/arj?unit=df-3', '728x90', 'id="f3"') +
        lines(2) +
        frame('https://ib.adnxs.com/tt?unit=df-4', '160x600', 'id="f4"'),
    ),
    units: {
      'df-1': banner('970x250', 'fashion.example', 'anchor', ['cat.criteo.com']),
      'df-2': banner('300x250', 'games.example', 'open', ['clktrack.pubmatic.com']),
      'df-3': banner('728x90', 'tickets.example', 'handler', ['clicks.openx.net']),
      'df-4': banner('160x600', 'tools.example', 'clickTag', ['clk.adnxs.com']),
    },
    ads: [
      adAt('#f1', [970, 250], 'criteo', 'fashion.example'),
      adAt('#f2', [300, 250], 'pubmatic', 'games.example'),
      adAt('#f3', [728, 90], 'openx', 'tickets.example'),
      adAt('#f4', [160, 600], 'appnexus', 'tools.example'),
    ],
  },
  {
    subject: 'servers',
    name: 'script-tag',
    html: article(
      `${lines(1)}<div id="tag" style="width:300px;height:250px"><script src="https://ib.adnxs.com/ttj?unit=js-1"></script></div>${lines(3)}`,
    ),
    units: {
      'js-1': `<a href="${clickUrl('wine.example', ['clk.adnxs.com'])}" target="_blank">${picture('300x250', 'cdn.creatives.example')}</a>`,
    },
    ads: [adAt('#tag', [300, 250], 'appnexus', 'wine.example')],
  },
  {
    subject: 'servers',
    name: 'small-server-frame',
    html: article(
      `${lines(1)}<p style="margin:0;height:20px">Advertisement</p>${frame('https://ads.small-server.example/www/delivery/afr.php?zoneid=1&unit=own-1', '300x250', 'id="zone"')}${lines(3)}`,
    ),
    units: { 'own-1': banner('300x250', 'tea.example', 'anchor', ['clicks.small-server.example']) },
    ads: [adAt('#zone', [300, 250], 'unknownServer', 'tea.example')],
  },
  {
    subject: 'servers',
    name: 'nested-frames',
    html: article(lines(1) + frame('https://u.openx.net/w/1.0/arj?unit=nest-1', '300x250', 'id="outer"') + lines(3)),
    units: {
      'nest-1': frame('https://ib.adnxs.com/tt?unit=nest-2', '300x250'),
      'nest-2': frame('https://ads.eu.criteo.com/delivery/r/afr.php?unit=nest-3', '300x250'),
      'nest-3': banner('300x250', 'knives.example', 'anchor', ['cat.criteo.com']),
    },
    ads: [adAt('#outer', [300, 250], 'openx', 'knives.example')],
  },
  {
    subject: 'servers',
    name: 'column-of-three',
    html: article(
      `<div style="float:right;width:300px">${[1, 2, 3].map((n) => column(frame(`https://ib.adnxs.com/tt?unit=col-${n}`, '300x250', `id="col-${n}"`))).join('')}</div>${lines(9)}`,
    ),
    units: Object.fromEntries(
      [1, 2, 3].map((n) => [`col-${n}`, banner('300x250', `column-${n}.example`, 'anchor', ['clk.adnxs.com'])]),
    ),
    ads: [1, 2, 3].map((n) => adAt(`#col-${n}`, [300, 250], 'appnexus', `column-${n}.example`)),
  },
  {
    subject: 'servers',
    name: 'two-equal-side-by-side',
    html: article(
      `${lines(1)}<div style="display:flex">${[1, 2].map((n) => frame('https://ib.adnxs.com/tt?unit=twin', '300x250', `id="twin-${n}"`)).join('')}</div>${lines(3)}`,
    ),
    units: { twin: banner('300x250', 'twins.example', 'anchor', ['clk.adnxs.com']) },
    ads: [1, 2].map((n) => adAt(`#twin-${n}`, [300, 250], 'appnexus', 'twins.example')),
  },
  {
    subject: 'own_banners',
    name: 'labelled-house-ad',
    html: article(
      `${lines(1)}<div class="promo"><p style="margin:0;height:20px">Advertisement</p><a id="house" style="display:block;width:300px" href="https://www.partner-fair.example/" target="_blank">${picture('300x250', 'www.labelled-house-ad.example')}</a></div>${lines(3)}`,
    ),
    ads: [adAt('#house', [300, 250], 'none', 'partner-fair.example')],
  },
  {
    subject: 'own_banners',
    name: 'own-subscription',
    html: article(
      `${lines(1)}<a href="/subscribe">${picture('728x90', 'www.own-subscription.example')}</a>${lines(2)}<p>Advertisement</p><a href="https://shop.own-subscription.example/">${picture('300x250', 'www.own-subscription.example')}</a>${lines(2)}`,
    ),
    ads: [],
  },
  {
    subject: 'servers',
    name: 'in-publishers-frame',
    html: article(lines(1) + frame(`${at('in-publishers-frame')}/ad-frame`, '300x250', 'id="own"') + lines(3)),
    files: {
      [`${at('in-publishers-frame')}/ad-frame`]: creativePage(
        frame('https://ads.pubmatic.com/AdServer/AdServerServlet?unit=wrapped', '300x250'),
      ),
    },
    units: { wrapped: banner('300x250', 'bags.example', 'anchor', ['clktrack.pubmatic.com']) },
    ads: [adAt('#own', [300, 250], 'pubmatic', 'bags.example')],
  },
  {
    subject: 'servers',
    name: 'frame-of-markup',
    html: article(
      `${lines(1)}<iframe id="doc" width="300" height="250" style="border:0;display:block" srcdoc="${attribute(creativePage('<script src="https://ads.small-server.example/www/delivery/ajs.php?zoneid=2&unit=own-2"></script>'))}"></iframe>${lines(3)}`,
    ),
    units: { 'own-2': banner('300x250', 'rugs.example', 'anchor', ['clicks.small-server.example']) },
    ads: [adAt('#doc', [300, 250], 'unknownServer', 'rugs.example')],
  },
];
