import { ADS, CDN, CLICK, type Creative, frameOf, img, linked, page, quoted, SHOP } from './creative.ts';

const FRAME = `${ADS}/frame`;

/** HTML5 banners as authoring tools export them. */
export const HTML5_CREATIVES: Creative[] = [
  {
    kind: 'a banner of custom elements with an Enabler',
    tag: frameOf(FRAME),
    pages: {
      [`${CDN}/Enabler.js`]: `window.Enabler = { isInitialized: () => false, addEventListener(event, listener) { addEventListener('load', listener); }, exit: (name) => window.open('${CLICK}?exit=' + name) };`,
      [FRAME]:
        page(`<script src="${CDN}/Enabler.js"></script><style>gwd-page,gwd-taparea{display:block;width:300px;height:250px;position:absolute;left:0;top:0}</style>
        <gwd-page style="background:#cde"><img src="${CDN}/300x250.svg" width="300" height="250"></gwd-page><gwd-taparea id="tap" style="cursor:pointer"></gwd-taparea>
        <script>Enabler.addEventListener('init', () => document.getElementById('tap').addEventListener('click', () => Enabler.exit('background')))</script>`),
    },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    chain: [`${CLICK}?exit=background`, SHOP],
    markup: /gwd-taparea/,
  },
  {
    kind: 'an animated canvas with clickTAG from its address',
    tag: frameOf(`${FRAME}?clickTAG=${encodeURIComponent(CLICK)}`),
    pages: {
      [FRAME]:
        page(`<canvas id="canvas" width="300" height="250" style="display:block"></canvas><script>var clickTAG = new URLSearchParams(location.search).get('clickTAG');
        const c = document.getElementById('canvas').getContext('2d'); let at = 0; (function draw() { c.fillStyle = '#cde'; c.fillRect(0, 0, at = Math.min(at + 10, 300), 250); if (at < 300) requestAnimationFrame(draw); })();
        document.body.onclick = () => window.open(window.clickTAG, '_blank')</script>`),
    },
    size: [300, 250],
    document: `${FRAME}?clickTAG=${encodeURIComponent(CLICK)}`,
    landing: SHOP,
    markup: /canvas/,
    isUnchecked: true,
  },
  {
    kind: 'a call to action that appears after four seconds',
    tag: `<div style="position:relative;width:300px;height:250px">${img('300x250')}<div id="cta"></div></div><script>setTimeout(() => { document.getElementById('cta').innerHTML = ${quoted(`<a href="${CLICK}" target="_blank" style="position:absolute;left:0;bottom:0;width:300px;height:200px;background:#edc">Buy</a>`)} }, 4000)</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /cta/,
  },
  {
    kind: 'a frame that is scaled to its placement',
    isTested: true,
    tag: `<div style="width:300px;height:250px;overflow:hidden"><iframe src="${FRAME}" width="600" height="500" frameborder="0" scrolling="no" style="transform:scale(.5);transform-origin:0 0"></iframe></div>`,
    pages: {
      [FRAME]: page(
        `<div style="width:600px;height:500px;background:#cde;position:relative"><a id="banner" href="${CLICK}" target="_blank" style="position:absolute;left:420px;top:380px;width:150px;height:100px;background:#fff">Buy</a></div>`,
      ),
    },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a video without sound in a link',
    tag: linked(
      `<video src="${CDN}/none.mp4" poster="${CDN}/300x250.svg" width="300" height="250" autoplay muted loop playsinline style="display:block"></video>`,
    ),
    size: [300, 250],
    landing: SHOP,
    markup: /video/,
  },
  {
    kind: 'backgrounds of imported style sheets',
    tag: `<link rel="stylesheet" href="${CDN}/ad.css"><a id="banner" class="ad" href="${CLICK}" target="_blank"></a>`,
    pages: {
      [`${CDN}/ad.css`]: `@import url("${CDN}/more.css"); .ad { display: block; width: 300px; height: 250px }`,
      [`${CDN}/more.css`]: `.ad { background: url("${CDN}/300x250.svg?of=css") }`,
    },
    size: [300, 250],
    landing: SHOP,
    markup: /ad\.css/,
  },
];
