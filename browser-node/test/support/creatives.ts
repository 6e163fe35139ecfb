/** A creative of the test's ad world, and what a capture of it is to show. URLs are of `CDN`, `ADS` and `SHOP`. */
export type Creative = {
  kind: string;
  tag: string;
  emulator?: string;
  /** Pages of the ad world that it needs, by URL. */
  pages?: Record<string, string>;
  /** Width and height of what is rendered; null: nothing is. */
  size: [number, number] | null;
  /** The innermost document that shows it; absent: the publisher's page. */
  document?: string;
  /** Where the click leads; null: nowhere. */
  landing: string | null;
  /** What its markup holds. */
  markup: RegExp;
  /** What opens nothing on it; absent: everything opens something. */
  inert?: string;
};

export const PUBLISHER = 'http://news.publisher.example/articles/1?from=home';
export const ADS = 'http://ads.example';
export const CDN = 'http://cdn.example';
export const SHOP = 'http://shop.example/offer';
const FRAME = `${ADS}/frame`;

const img = (size: string, more = '') =>
  `<img src="${CDN}/${size}.svg" width="${size.split('x')[0]}" height="${size.split('x')[1]}" style="display:block" ${more}>`;
const linked = (inner: string, attributes = 'target="_blank"') =>
  `<a id="banner" href="${ADS}/click" ${attributes}>${inner}</a><img src="${ADS}/pixel.gif" width="1" height="1" style="position:absolute">`;
const frameOf = (url: string, size = '300x250', more = '') =>
  `<iframe src="${url}" width="${size.split('x')[0]}" height="${size.split('x')[1]}" frameborder="0" scrolling="no" ${more}></iframe>`;
const document_ = (body: string) => `<!doctype html><body style="margin:0">${body}</body>`;
const written = (text: string) => `document.write(${JSON.stringify(text).replace(/</g, '\\x3c')})`;
const box = (more: string, inner = 'Buy a lamp') =>
  `<div style="width:300px;height:250px;background:#cde;${more}">${inner}</div>`;

/** Every way of rendering a creative and of leading on from it that is named in the field. */
export const CREATIVES: Creative[] = [
  { kind: 'an image in a link', tag: linked(img('300x250')), size: [300, 250], landing: SHOP, markup: /300x250\.svg/ },
  {
    kind: 'a leaderboard',
    tag: linked(img('728x90')),
    size: [728, 90],
    landing: SHOP,
    markup: /728x90/,
  },
  {
    kind: 'a phone banner',
    tag: linked(img('320x50')),
    emulator: 'android_phone_pixel_8',
    size: [320, 50],
    landing: SHOP,
    markup: /320x50/,
  },
  {
    kind: 'a link to the top page',
    tag: linked(img('300x250'), 'target="_top"'),
    size: [300, 250],
    landing: SHOP,
    markup: /_top/,
  },
  {
    kind: 'a link without a target',
    tag: linked(img('300x250'), ''),
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'window.open by a handler',
    tag: box('cursor:pointer" onclick="window.open(\'http://ads.example/click\')'),
    size: [300, 250],
    landing: SHOP,
    markup: /Buy a lamp/,
  },
  {
    kind: 'window.open without an opener',
    tag: box("cursor:pointer\" onclick=\"open('http://ads.example/click', '_blank', 'noopener')"),
    size: [300, 250],
    landing: SHOP,
    markup: /noopener/,
  },
  {
    kind: 'top.location by a handler',
    tag: box('cursor:pointer" onclick="top.location.href = \'http://ads.example/click\''),
    size: [300, 250],
    landing: SHOP,
    markup: /top\.location/,
  },
  {
    kind: 'an empty window that is led on',
    tag: box(`cursor:pointer" onclick="const w = window.open('about:blank'); w.location = 'http://ads.example/click'`),
    size: [300, 250],
    landing: SHOP,
    markup: /about:blank/,
  },
  {
    kind: 'a form in a new window',
    tag: `<form action="${ADS}/click" target="_blank"><button style="width:300px;height:250px">Buy</button></form>`,
    size: [300, 250],
    landing: `${SHOP}`,
    markup: /<form/,
  },
  {
    kind: 'document.write',
    tag: `<script>${written(linked(img('300x250')))}</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'document.write from another server',
    tag: `<script src="${ADS}/write.js"></script>`,
    pages: { [`${ADS}/write.js`]: written(linked(img('300x250'))) },
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a frame of another site',
    tag: frameOf(FRAME),
    pages: { [FRAME]: document_(linked(img('300x250'))) },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /<body.*banner/s,
  },
  {
    kind: 'a frame behind redirects',
    tag: frameOf(`${ADS}/hop-1`),
    pages: { [`${ADS}/hop-1`]: '-> /hop-2', [`${ADS}/hop-2`]: '-> /frame', [FRAME]: document_(linked(img('300x250'))) },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'nested frames of three sites',
    tag: frameOf(`${ADS}/outer`),
    pages: {
      [`${ADS}/outer`]: document_(frameOf('http://second.example/inner')),
      'http://second.example/inner': document_(frameOf('http://third.example/innermost')),
      'http://third.example/innermost': document_(linked(img('300x250'))),
    },
    size: [300, 250],
    document: 'http://third.example/innermost',
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a srcdoc frame',
    tag: `<iframe width="300" height="250" frameborder="0" srcdoc='${document_(linked(img('300x250')))}'></iframe>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a friendly frame that is written',
    tag: `<script>const f = document.createElement('iframe'); f.width = 300; f.height = 250; f.frameBorder = 0;
      document.currentScript.parentNode.append(f); f.contentDocument.open();
      f.contentDocument.write(${JSON.stringify(document_(linked(img('300x250')))).replace(/</g, '\\x3c')}); f.contentDocument.close();</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a link in a frame that keeps to it',
    tag: frameOf(FRAME),
    pages: { [FRAME]: document_(linked(img('300x250'), '')) },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a sandboxed frame with popups',
    tag: frameOf(FRAME, '300x250', 'sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"'),
    pages: { [FRAME]: document_(linked(img('300x250'))) },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'an open shadow root',
    tag: `<div id="host"></div><script>document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML = ${JSON.stringify(linked(img('300x250'))).replace(/</g, '\\x3c')}</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /<template shadowrootmode="open"><a id="banner"/,
  },
  {
    kind: 'a closed shadow root in an ordinary element',
    tag: `<div></div><script>document.currentScript.previousElementSibling.attachShadow({ mode: 'closed' }).innerHTML = ${JSON.stringify(linked(img('300x250'))).replace(/</g, '\\x3c')}</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /<div>/,
  },
  {
    kind: 'a closed shadow root',
    tag: `<ad-unit style="display:block;width:300px;height:250px"></ad-unit><script>document.querySelector('ad-unit').attachShadow({ mode: 'closed' }).innerHTML = ${JSON.stringify(linked(img('300x250'))).replace(/</g, '\\x3c')}</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /ad-unit/,
  },
  {
    kind: 'a GPT-like loader with a slot',
    tag: `<div id="slot"></div><script src="${ADS}/gpt.js"></script><script>loader.defineSlot('/1/home', [300, 250], 'slot').display()</script>`,
    pages: {
      [`${ADS}/gpt.js`]: `window.loader = { defineSlot: (path, [w, h], id) => ({ display: () => fetch('${ADS}/bid.json').then((r) => r.json()).then(({ url }) => {
        const f = document.createElement('iframe'); f.width = w; f.height = h; f.frameBorder = 0; f.src = url; document.getElementById(id).append(f); }) }) };`,
      [`${ADS}/bid.json`]: `{"url":"${FRAME}"}`,
      [FRAME]: document_(linked(img('300x250'))),
    },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a SafeFrame container',
    tag: `<iframe width="300" height="250" frameborder="0" src="${ADS}/container" name='${document_(linked(img('300x250'))).replace(/'/g, '')}'></iframe>`,
    pages: {
      [`${ADS}/container`]: `<!doctype html><script>window.$sf = { ext: { register() {}, geom: () => ({}), supports: () => ({}) } }; document.write(name)</script>`,
    },
    size: [300, 250],
    document: `${ADS}/container`,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'MRAID 3',
    emulator: 'iphone_15',
    tag: `<script src="mraid.js"></script><div id="ad" style="width:300px;height:250px"></div><script>
      const show = () => { document.getElementById('ad').style.background = '#cde'; document.getElementById('ad').textContent = 'ready ' + mraid.getVersion() + ' ' + mraid.getState() + ' ' + mraid.isViewable(); };
      mraid.getState() === 'loading' ? mraid.addEventListener('ready', show) : show();
      document.getElementById('ad').style.cursor = 'pointer'; document.getElementById('ad').onclick = () => mraid.open('${ADS}/click');</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /ready 3\.0 default true/,
  },
  {
    kind: 'an MRAID ad that expands first',
    emulator: 'iphone_15',
    tag: `<script src="${CDN}/lib/mraid.js"></script><div id="ad" style="width:100%;height:100%;background:#cde"><button id="more" style="position:absolute;left:10px;top:10px">More</button></div><script>
      document.getElementById('more').onclick = () => mraid.getState() === 'default' ? mraid.expand() : mraid.open('${ADS}/click');</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /More/,
  },
  {
    kind: 'a full HTML5 document with clickTag',
    tag: `<!doctype html><html><head><meta name="ad.size" content="width=300,height=250"><script>var clickTag = '${ADS}/click';</script></head>
      <body><div style="width:300px;height:250px;background:#cde;cursor:pointer" onclick="window.open(window.clickTag)">Lamp</div></body></html>`,
    size: [300, 250],
    landing: SHOP,
    markup: /Lamp/,
  },
  {
    kind: 'a canvas',
    tag: `<canvas id="c" width="300" height="250" style="cursor:pointer;display:block"></canvas><script>const c = document.getElementById('c'); c.getContext('2d').fillRect(0, 0, 300, 250); c.onclick = () => open('${ADS}/click')</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /canvas/,
  },
  {
    kind: 'late rendering',
    tag: `<div id="late"></div><script>setTimeout(() => { document.getElementById('late').innerHTML = ${JSON.stringify(linked(img('300x250'))).replace(/</g, '\\x3c')} }, 1200)</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'rendering after an auction of three seconds',
    tag: `<div id="late"></div><script>setTimeout(() => { document.getElementById('late').innerHTML = ${JSON.stringify(linked(img('300x250'))).replace(/</g, '\\x3c')} }, 3000)</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a carousel with arrows',
    tag: `<div style="position:relative;width:300px;height:250px">${linked(img('300x250'))}<button id="next" style="position:absolute;right:4px;top:110px;width:30px;height:30px" onclick="this.textContent = '2'; fetch('${ADS}/slide', { mode: 'no-cors' })">1</button></div>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
    inert: 'button#next',
  },
  {
    kind: 'an expandable with a panel',
    tag: `<div style="width:300px">${linked(img('300x50'))}<span id="grow" role="button" style="display:block;width:300px;height:30px;background:#ecc" onclick="document.getElementById('panel').style.display = 'block'">More</span><div id="panel" style="display:none;width:300px;height:200px;background:#cec">Panel</div></div>`,
    size: [300, 80],
    landing: SHOP,
    markup: /Panel/,
    inert: 'span#grow',
  },
  {
    kind: 'an arrow in the middle',
    tag: `<div style="position:relative;width:300px;height:250px">${linked(img('300x250'))}<button id="middle" style="position:absolute;left:130px;top:105px;width:40px;height:40px">o</button></div>`,
    size: [300, 250],
    landing: SHOP,
    markup: /middle/,
    inert: 'button#middle',
  },
  {
    kind: 'the address of a page with the creative',
    tag: `${ADS}/preview?id=7`,
    pages: {
      [`${ADS}/preview`]: `<!doctype html><title>Preview</title><body><h1>Preview of creative 7</h1>${linked(img('300x250'))}</body>`,
    },
    size: [300, 250],
    document: `${ADS}/preview?id=7`,
    landing: SHOP,
    markup: /Preview of creative 7/,
  },
  {
    kind: 'an address that refuses to be framed',
    tag: `${ADS}/alone`,
    pages: { [`${ADS}/alone`]: `deny:${document_(linked(img('300x250')))}` },
    size: [300, 250],
    document: `${ADS}/alone`,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a tag that renders nothing',
    tag: `<script src="${ADS}/nothing.js"></script>`,
    size: null,
    landing: null,
    markup: /nothing\.js/,
  },
  { kind: 'a creative that leads nowhere', tag: box(''), size: [300, 250], landing: null, markup: /Buy a lamp/ },
];
