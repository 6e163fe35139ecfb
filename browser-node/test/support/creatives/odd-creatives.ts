import {
  ADS,
  box,
  CDN,
  CLICK,
  type Creative,
  frameOf,
  img,
  linked,
  PUBLISHER,
  page,
  quoted,
  SHOP,
} from './creative.ts';

const FRAME = `${ADS}/frame`;
const BANNER = page(linked(img('300x250')));

/** Controls that shadow these properties of their form. */
const SHADOWING = [
  ...['checkVisibility', 'getBoundingClientRect', 'firstChild', 'nextSibling', 'nodeType', 'localName', 'shadowRoot'],
  ...['firstElementChild', 'getRootNode', 'parentNode', 'nextElementSibling', 'cloneNode', 'outerHTML', 'getHTML'],
]
  .map((name) => `<input type="hidden" name="${name}">`)
  .join('');

/** Documents and frames of rarer kinds, requests of every kind, and tags of which nothing is to be seen. */
export const ODD_CREATIVES: Creative[] = [
  {
    kind: 'a sandboxed frame without popups',
    isTested: true,
    tag: frameOf(FRAME, '300x250', 'sandbox="allow-scripts"'),
    pages: { [FRAME]: page(linked(img('300x250'))) },
    size: [300, 250],
    document: FRAME,
    landing: null,
    markup: /banner/,
  },
  {
    kind: 'a form whose controls are named after what the DOM calls its properties, and elements named after what we keep',
    isTested: true,
    tag: `<form hidden>${SHADOWING}</form><form style="margin:0">${SHADOWING}<fieldset name="parentElement"
      style="width:300px;height:250px;margin:0;padding:0;border:0;background:#cde">${linked(img('300x50'))}Buy a lamp</fieldset></form>
      ${['closedRoots', 'emptyHosts', 'clickableNumbers', 'presses', 'addEventListener'].map((id) => `<i id="${id}"></i>`).join('')}
      <img name="title" hidden><script>document.body.insertAdjacentHTML('beforeend', ${quoted(`<form id="after" hidden>${SHADOWING}</form>`)})</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /<form id="after" hidden="">.*name="cloneNode"/,
  },
  {
    kind: 'a blob: frame',
    tag: `<script>const f = document.createElement('iframe'); f.width = 300; f.height = 250; f.frameBorder = 0; f.src = URL.createObjectURL(new Blob([${quoted(BANNER)}], { type: 'text/html' })); document.currentScript.parentNode.append(f)</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a data: frame',
    tag: `<iframe width="300" height="250" frameborder="0" src="data:text/html,${encodeURIComponent(BANNER)}"></iframe>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a javascript: frame',
    tag: `<iframe width="300" height="250" frameborder="0" src="javascript:parent.markup"></iframe><script>window.markup = ${quoted(BANNER)}</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a document whose policy forbids scripts',
    tag: frameOf(FRAME),
    pages: {
      [FRAME]: `<!doctype html><meta http-equiv="content-security-policy" content="default-src 'none'; img-src *; style-src 'unsafe-inline'"><body style="margin:0">${linked(img('300x250'))}<script>document.body.remove()</script>`,
    },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'an object that holds a page',
    tag: `<object data="${FRAME}" type="text/html" width="300" height="250" style="display:block"></object>`,
    pages: { [FRAME]: BANNER },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'an embed that holds a page',
    tag: `<embed src="${FRAME}" type="text/html" width="300" height="250" style="display:block">`,
    pages: { [FRAME]: BANNER },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'an old frameset',
    tag: frameOf(`${ADS}/frameset`),
    pages: {
      [`${ADS}/frameset`]: `<html><frameset cols="*" border="0"><frame src="${FRAME}" noresize></frameset></html>`,
      [FRAME]: BANNER,
    },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a declared shadow root with a frame in it',
    tag: `<ad-unit><template shadowrootmode="open">${frameOf(FRAME)}</template></ad-unit>`,
    pages: { [FRAME]: BANNER },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a frame in a closed shadow root',
    tag: `<div></div><script>document.currentScript.previousElementSibling.attachShadow({ mode: 'closed' }).innerHTML = ${quoted(frameOf(FRAME))}</script>`,
    pages: { [FRAME]: BANNER },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a frame that loads when it is seen',
    tag: frameOf(FRAME, '300x250', 'loading="lazy"'),
    pages: { [FRAME]: BANNER },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a page that is written anew after its load',
    tag: `<script>addEventListener('load', () => setTimeout(() => { document.open(); document.write(${quoted(BANNER)}); document.close() }, 300))</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a page whose URL the history API changes',
    isTested: true,
    tag: `${linked(img('300x250'))}<script>setTimeout(() => history.pushState(null, '', '/next-article'), 100)</script>`,
    size: [300, 250],
    document: new URL('/next-article', PUBLISHER).href,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a banner that sticks to the bottom of the page',
    tag: `<script>const bar = document.createElement('div'); bar.style = 'position:fixed;left:0;bottom:0;width:728px;height:90px;z-index:2147483647'; bar.innerHTML = ${quoted(linked(img('728x90')))}; document.body.append(bar)</script>`,
    size: [728, 90],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'text of another charset',
    tag: frameOf(FRAME),
    pages: {
      [FRAME]: `latin1:<!doctype html><meta charset="iso-8859-1"><body style="margin:0"><a id="banner" href="${CLICK}" target="_blank" style="display:block;width:300px;height:250px;background:#cde">Glühbirne für Ångström</a>`,
    },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /Glühbirne für Ångström/,
  },
  {
    kind: 'a document of five megabytes',
    tags: ['heavy_ad'],
    tag: frameOf(FRAME),
    pages: { [FRAME]: `${page(linked(img('300x250')))}<!-- ${'x'.repeat(5_000_000)} -->` },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'requests of workers, preloads, modules and sockets, and preflights',
    isTested: true,
    tag: `${linked(img('300x250'))}<link rel="preload" as="image" href="${CDN}/preloaded.svg"><link rel="prefetch" href="${CDN}/prefetched.js"><link rel="dns-prefetch" href="//unused.example"><link rel="modulepreload" href="${CDN}/module.js">
      <picture><source srcset="${CDN}/preloaded.svg?once 1x, ${CDN}/preloaded.svg?twice 2x"><img width="1" height="1" style="position:absolute"></picture>
      <script type="module" src="${CDN}/module.js"></script><script>new Worker(URL.createObjectURL(new Blob(["fetch('${CDN}/worker.json')"]))); new EventSource('${CDN}/events.json');
      fetch('${CDN}/kept.json', { method: 'POST', keepalive: true, body: 'x', mode: 'no-cors' }); fetch('${CDN}/granted.json', { headers: { 'x-creative': '1' } });
      fetch('${CDN}/refused.json', { method: 'PUT' }).catch(() => 0);</script>`,
    pages: {
      [`${CDN}/module.js`]: `import '${CDN}/imported.js'`,
      [`${CDN}/imported.js`]: `fetch('${CDN}/module.json')`,
      [`${CDN}/prefetched.js`]: '',
      [`${CDN}/preloaded.svg`]: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      [`${CDN}/worker.json`]: '{}',
      [`${CDN}/module.json`]: '{}',
      [`${CDN}/kept.json`]: '{}',
      [`${CDN}/granted.json`]: '{}',
      [`${CDN}/refused.json`]: '{}',
    },
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'pixels of trackers and nothing else',
    tag: `<img src="${ADS}/pixel.gif" width="1" height="1"><iframe src="${FRAME}" width="1" height="1" style="display:none"></iframe><script>new Image().src = '${ADS}/pixel.gif?sync'</script>`,
    pages: { [FRAME]: page(`<img src="${ADS}/pixel.gif?frame" width="1" height="1">`) },
    size: null,
    landing: null,
    markup: /pixel/,
  },
  {
    kind: 'an ad that takes itself away',
    tag: `<div id="ad">${linked(img('300x250'))}</div><script>setTimeout(() => document.getElementById('ad').remove(), 400)</script>`,
    size: null,
    landing: null,
    markup: /script/,
  },
  {
    kind: 'an element that is never closed',
    asksNothing: true,
    tag: box(`cursor:pointer" onclick="window.open('${CLICK}')`).replace('</div>', '<b>'),
    size: [300, 250],
    landing: SHOP,
    markup: /Buy a lamp/,
  },
];
