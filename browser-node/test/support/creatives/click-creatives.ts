import { ADS, box, CDN, CLICK, type Creative, frameOf, img, linked, PUBLISHER, page, SHOP } from './creative.ts';

const opens = `window.open('${CLICK}')`;

/** Creatives with unusual click-throughs, or without any. */
export const CLICK_CREATIVES: Creative[] = [
  {
    kind: 'a form that is posted to a new window',
    asksNothing: true,
    tag: `<form action="${CLICK}" method="post" target="_blank"><input type="hidden" name="campaign" value="1"><button style="width:300px;height:250px">Buy</button></form>`,
    size: [300, 250],
    landing: SHOP,
    markup: /<form/,
  },
  {
    kind: 'a form that is posted to the top page',
    asksNothing: true,
    tag: `<form action="${CLICK}" method="post" target="_top"><button style="width:300px;height:250px">Buy</button></form>`,
    size: [300, 250],
    landing: SHOP,
    markup: /<form/,
    isUnchecked: true,
  },
  {
    kind: 'a form that is posted in the frame of the creative',
    tag: frameOf(`${ADS}/form`),
    pages: {
      [`${ADS}/form`]: page(
        `<form action="${CLICK}" method="post"><input type="hidden" name="campaign" value="1"><button style="width:300px;height:250px">Buy</button></form>`,
      ),
    },
    document: `${ADS}/form`,
    size: [300, 250],
    landing: SHOP,
    markup: /<form/,
  },
  {
    kind: 'pointer events',
    asksNothing: true,
    tag: `${box('', '<i id="seen">Lamp</i>')}<script>document.addEventListener('pointerup', () => ${opens})</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /seen/,
    isUnchecked: true,
  },
  {
    kind: 'touch alone, on a phone',
    asksNothing: true,
    emulator: 'iphone_15',
    tag: `<div id="touch" style="width:300px;height:250px;background:#cde">Lamp</div><script>document.getElementById('touch').addEventListener('touchend', (event) => { event.preventDefault(); ${opens} })</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /touch/,
    isUnchecked: true,
  },
  {
    kind: 'an image map',
    tag: `<img src="${CDN}/300x250.svg" width="300" height="250" style="display:block" usemap="#map"><map name="map"><area id="left" shape="rect" coords="0,0,100,250" href="${CLICK}?area=left" target="_blank"><area shape="rect" coords="200,0,300,250" href="${CLICK}?area=right" target="_blank"></map>`,
    size: [300, 250],
    landing: SHOP,
    chain: [`${CLICK}?area=left`, SHOP],
    markup: /<area/,
  },
  {
    kind: 'links of an SVG',
    asksNothing: true,
    tag: `<svg width="300" height="250" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" style="display:block"><a xlink:href="${CLICK}" target="_blank"><rect width="300" height="250" fill="#cde"/></a></svg>`,
    size: [300, 250],
    landing: SHOP,
    markup: /xlink/,
  },
  {
    kind: 'a link with a ping, and a beacon',
    tag: `<a id="banner" href="${CLICK}" target="_blank" ping="${ADS}/ping" onclick="navigator.sendBeacon('${ADS}/beacon', 'x')">${img('300x250')}</a>`,
    size: [300, 250],
    landing: SHOP,
    markup: /ping/,
  },
  {
    kind: 'a click tracker of several hops',
    tag: `<a id="banner" href="${ADS}/c/1" target="_blank">${img('300x250')}</a>`,
    pages: {
      [`${ADS}/c/1`]: '-> http://second.example/c/2',
      'http://second.example/c/2': '-> http://third.example/c/3',
      'http://third.example/c/3': `<meta http-equiv="refresh" content="0;url=http://fourth.example/c/4">`,
      'http://fourth.example/c/4': `<script>location.replace('${SHOP}')</script>`,
    },
    size: [300, 250],
    landing: SHOP,
    chain: [`${ADS}/c/1`, 'http://second.example/c/2', 'http://third.example/c/3', 'http://fourth.example/c/4', SHOP],
    markup: /banner/,
  },
  {
    kind: 'a URL that the click requests',
    tag: `<div id="ad" style="width:300px;height:250px;background:#cde;cursor:pointer">Lamp</div><script>document.getElementById('ad').onclick = () => fetch('${ADS}/where.json').then((r) => r.json()).then(({ url }) => window.open(url))</script>`,
    pages: { [`${ADS}/where.json`]: `{"url":"${CLICK}"}` },
    size: [300, 250],
    landing: SHOP,
    markup: /Lamp/,
  },
  {
    kind: 'a link whose URL is set on mousedown',
    tag: `<a id="banner" href="${PUBLISHER}#" target="_blank" onmousedown="this.href = '${CLICK}'">${img('300x250')}</a>`,
    size: [300, 250],
    landing: SHOP,
    markup: /onmousedown/,
  },
  {
    kind: 'a javascript: link',
    tag: `<a id="banner" href="javascript:void(window.open('${CLICK}'))">${img('300x250')}</a>`,
    size: [300, 250],
    landing: SHOP,
    markup: /javascript:/,
  },
  {
    kind: 'a dialog before the landing',
    asksNothing: true,
    tag: box(`cursor:pointer" onclick="if (confirm('Leave for the shop?')) ${opens.replaceAll('"', '&quot;')}`),
    size: [300, 250],
    landing: null,
    markup: /confirm/,
  },
  {
    kind: 'a base element with a target',
    tag: `<base href="${ADS}/" target="_blank"><a id="banner" href="click">${img('300x250')}</a><img src="pixel.gif" width="1" height="1" style="position:absolute">`,
    size: [300, 250],
    landing: SHOP,
    markup: /base/,
  },
  {
    kind: 'a consent wall over the banner',
    tag: `<div style="position:relative;width:300px;height:250px">${linked(img('300x250'))}<div id="wall" style="position:absolute;inset:0;background:#fff">We value your privacy<button id="accept" style="position:absolute;left:20px;bottom:20px">Accept</button></div></div><script>document.getElementById('accept').onclick = () => document.getElementById('wall').remove()</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /wall/,
  },
  {
    kind: 'an ad that is gone after the click',
    isTested: true,
    tag: `<div id="ad">${linked(img('300x250'))}</div><script>document.getElementById('banner').addEventListener('click', () => setTimeout(() => document.getElementById('ad').remove(), 50))</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
    isUnchecked: true,
  },
  {
    kind: 'three products that lead to shops of their own',
    tag: `<div style="display:flex;width:300px;height:250px">${[1, 2, 3].map((n) => `<a id="p${n}" href="http://shop-${n}.example/" target="_blank" style="width:100px;background:#cd${n}">${n}</a>`).join('')}</div>`,
    asksNothing: true,
    pages: { 'http://shop-2.example/': '<title>Shop 2</title>' },
    size: [300, 250],
    landing: 'http://shop-2.example/',
    chain: ['http://shop-2.example/'],
    markup: /p3/,
  },
  {
    kind: 'macros that are not filled in',
    tag: `<a id="banner" href="${CLICK}?c=%%CLICK_URL_UNESC%%&cb=[timestamp]&u=\${CLICK_URL}" target="_blank">${img('300x250')}</a>`,
    size: [300, 250],
    landing: SHOP,
    chain: [`${CLICK}?c=%%CLICK_URL_UNESC%%&cb=[timestamp]&u=\${CLICK_URL}`, SHOP],
    markup: /CLICK_URL_UNESC/,
  },
  {
    kind: 'a link for visitors, and another one for pages that were activated before the click',
    isTested: true,
    tag: `<a id="banner" href="${CLICK}" target="_blank">${img('300x250')}</a><script>
const banner = document.getElementById('banner');
const watch = setInterval(() => { if (navigator.userActivation.hasBeenActive) banner.href = '${ADS}/for-robots'; }, 10);
banner.addEventListener('pointerdown', () => clearInterval(watch));
</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /hasBeenActive/,
  },
  {
    kind: 'a link for visitors, and another one for clicks without a path and a hold',
    isTested: true,
    tag: `<a id="banner" href="${ADS}/for-robots" target="_blank">${img('300x250')}</a><script>
const banner = document.getElementById('banner');
let moves = 0;
let pressedAt = 0;
banner.addEventListener('pointermove', () => moves++);
banner.addEventListener('pointerdown', () => { pressedAt = performance.now(); });
banner.addEventListener('pointerup', () => { if (moves > 2 && performance.now() - pressedAt > 40) banner.href = '${CLICK}'; });
</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /pressedAt/,
  },
  {
    kind: 'a click tracker that takes its time',
    isTested: true,
    tag: `<a href="${CLICK}" target="_blank">${img('300x250')}</a>`,
    pages: { [CLICK]: `slow -> ${SHOP}` },
    size: [300, 250],
    landing: SHOP,
    markup: /click/,
  },
];
