import { article, banner, clickUrl, lines, load, type Size, script } from '../markup.ts';
import { adAt, type PublisherPage } from '../publisher-page.ts';

const GPT = load('https://securepubads.g.doubleclick.net/tag/js/gpt.js');
const ADSENSE = load('https://pagead2.googlesyndication.com/pagead/js/adsbygoogle.js?client=ca-pub-1');

/** A div of a slot and the call that fills it; `more`: calls on the slot. */
export const gptSlot = (
  unit: string,
  size: Size,
  { id = unit.slice(1).replace(/\W/g, '-'), style = '', more = '' } = {},
) => {
  const [width, height] = size.split('x');
  return `<div id="${id}" style="min-height:${height}px;${style}"></div>${script(
    `window.googletag = window.googletag || { cmd: [] }; googletag.cmd.push(() => { const slot = googletag.defineSlot('${unit}', [${width}, ${height}], '${id}').addService(googletag.pubads())${more}; googletag.display(slot); window.lastSlot = slot; });`,
  )}`;
};
/** What shows the ad of a GPT slot. */
export const gptFrame = (unit: string): string => `[id="google_ads_iframe_${unit}_0"]`;
export const withGpt = (body: string, setup = ''): string =>
  article(body, { head: script(`window.googletag = { cmd: [() => { ${setup} }] };`) + GPT });
const ins = (unit: string, size: Size) => {
  const [width, height] = size.split('x');
  return `<ins class="adsbygoogle" id="ins-${unit}" style="display:inline-block;width:${width}px;height:${height}px" data-ad-client="ca-pub-1" data-ad-slot="${unit}"></ins>${script('(window.adsbygoogle = window.adsbygoogle || []).push({});')}`;
};

const UNITS_25 = Array.from({ length: 25 }, (_, at) => `/81/many/${at}`);
const UNITS_30 = Array.from({ length: 30 }, (_, at) => `/81/more/${at}`);
const many = (units: string[]) => ({
  html: withGpt(units.map((unit) => lines(1) + gptSlot(unit, '300x250')).join('')),
  units: Object.fromEntries(units.map((unit, at) => [unit, banner('300x250', `shop-${at}.example`)])),
  ads: units.map((unit, at) => adAt(gptFrame(unit), [300, 250], 'gpt', `shop-${at}.example`)),
});

/** Google Publisher Tag and AdSense. */
export const GOOGLE_PAGES: PublisherPage[] = [
  {
    subject: 'google',
    name: 'gpt-one',
    html: withGpt(lines(2) + gptSlot('/81/one/top', '300x250') + lines(4)),
    units: { '/81/one/top': banner('300x250', 'lamps.example') },
    ads: [adAt(gptFrame('/81/one/top'), [300, 250], 'gpt', 'lamps.example')],
  },
  {
    subject: 'google',
    name: 'gpt-safeframe',
    html: withGpt(lines(1) + gptSlot('/81/safe/top', '728x90', { more: '.setForceSafeFrame(true)' }) + lines(4)),
    units: { '/81/safe/top': banner('728x90', 'chairs.example', 'open') },
    ads: [adAt(gptFrame('/81/safe/top'), [728, 90], 'gpt', 'chairs.example')],
  },
  {
    subject: 'google',
    name: 'gpt-several',
    html: withGpt(
      gptSlot('/81/several/top', '970x250') +
        lines(3) +
        gptSlot('/81/several/middle', '300x250', { more: '.setForceSafeFrame(true)' }) +
        lines(3) +
        gptSlot('/81/several/bottom', '728x90') +
        lines(2),
    ),
    units: {
      '/81/several/top': banner('970x250', 'cars.example', 'clickTag'),
      '/81/several/middle': banner('300x250', 'boats.example'),
      '/81/several/bottom': banner('728x90', 'bikes.example', 'top'),
    },
    ads: [
      adAt(gptFrame('/81/several/top'), [970, 250], 'gpt', 'cars.example'),
      adAt(gptFrame('/81/several/middle'), [300, 250], 'gpt', 'boats.example'),
      adAt(gptFrame('/81/several/bottom'), [728, 90], 'gpt', 'bikes.example'),
    ],
  },
  {
    subject: 'google',
    name: 'gpt-refreshing',
    html: withGpt(
      lines(1) +
        gptSlot('/81/refreshing/top', '300x250') +
        script('setInterval(() => googletag.pubads().refresh([window.lastSlot]), 2000);') +
        lines(4),
    ),
    units: { '/81/refreshing/top': banner('300x250', 'clocks.example') },
    ads: [adAt(gptFrame('/81/refreshing/top'), [300, 250], 'gpt', 'clocks.example')],
  },
  {
    subject: 'google',
    name: 'gpt-empty',
    html: withGpt(lines(1) + gptSlot('/81/empty/top', '300x250') + lines(2) + gptSlot('/81/empty/filled', '300x250')),
    units: { '/81/empty/filled': banner('300x250', 'pens.example') },
    ads: [adAt(gptFrame('/81/empty/filled'), [300, 250], 'gpt', 'pens.example')],
  },
  {
    subject: 'google',
    name: 'gpt-random-ids',
    html: withGpt(
      lines(2) +
        script(
          'const box = Object.assign(document.createElement("div"), { id: "d" + String(Math.random()).slice(2) }); box.style.height = "280px"; document.currentScript.before(box); googletag.cmd.push(() => googletag.display(googletag.defineSlot("/81/random/top", [336, 280], box.id)));',
        ) +
        lines(2),
    ),
    units: { '/81/random/top': banner('336x280', 'shoes.example') },
    ads: [adAt(gptFrame('/81/random/top'), [336, 280], 'gpt', 'shoes.example')],
  },
  {
    subject: 'google',
    name: 'gpt-companion',
    html: withGpt(
      `<div style="display:flex;gap:20px;align-items:flex-start">${gptSlot('/81/pair/main', '728x90')}${gptSlot('/81/pair/companion', '160x600')}</div>` +
        lines(2),
    ),
    units: {
      '/81/pair/main': banner('728x90', 'hotel.example'),
      '/81/pair/companion': banner('160x600', 'hotel.example'),
    },
    ads: [
      adAt(gptFrame('/81/pair/main'), [728, 90], 'gpt', 'hotel.example'),
      adAt(gptFrame('/81/pair/companion'), [160, 600], 'gpt', 'hotel.example'),
    ],
  },
  {
    subject: 'google',
    name: 'gpt-redirect-chain',
    html: withGpt(lines(1) + gptSlot('/81/chain/top', '300x600') + lines(3)),
    units: {
      '/81/chain/top': banner('300x600', 'travel.example', 'anchor', [
        'adclick.g.doubleclick.net',
        'clk.adnxs.com',
        'cat.criteo.com',
      ]),
    },
    ads: [adAt(gptFrame('/81/chain/top'), [300, 600], 'gpt', 'travel.example')],
  },
  {
    subject: 'google',
    name: 'gpt-video-in-banner',
    html: withGpt(lines(1) + gptSlot('/81/film/top', '640x360') + lines(2)),
    units: {
      '/81/film/top': `<a href="${clickUrl('cinema.example')}" target="_blank"><video src="https://s0.2mdn.net/film.webm" width="640" height="360" style="display:block;background:#234" autoplay muted loop></video></a>`,
    },
    ads: [adAt(gptFrame('/81/film/top'), [640, 360], 'gpt', 'cinema.example')],
  },
  {
    subject: 'google',
    name: 'adsense-two',
    html: article(lines(1) + ins('9001', '336x280') + lines(3) + ins('9002', '468x60') + lines(2), { head: ADSENSE }),
    units: { '9001': banner('336x280', 'insurance.example'), '9002': banner('468x60', 'courses.example', 'top') },
    ads: [
      adAt('#ins-9001', [336, 280], 'adsense', 'insurance.example'),
      adAt('#ins-9002', [468, 60], 'adsense', 'courses.example'),
    ],
  },
  {
    subject: 'google',
    name: 'amp-page',
    html: article(
      `${lines(2)}<amp-ad type="doubleclick" width="300" height="250" data-slot="/81/amp" data-src="https://googleads.g.doubleclick.net/pagead/ads?unit=amp-1"></amp-ad>${lines(2)}<script src="https://cdn.ampproject.org/v0.js"></script>`,
    ),
    emulator: 'android_phone_pixel_8',
    units: { 'amp-1': banner('300x250', 'phones.example') },
    ads: [adAt('amp-ad iframe', [300, 250], 'adsense', 'phones.example')],
  },
  { subject: 'many', name: 'twenty-five', ...many(UNITS_25), maxAds: 25 },
  { subject: 'many', name: 'thirty', ...many(UNITS_30), maxAds: 25 },
];
