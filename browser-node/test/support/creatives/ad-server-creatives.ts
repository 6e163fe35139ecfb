import { ADS, CDN, CLICK, type Creative, frameOf, img, linked, page, quoted, SHOP, written } from './creative.ts';

const FRAME = `${ADS}/frame`;
const BANNER = page(linked(img('300x250')));

/** Tags as ad servers hand them out, with the scripts that go with them. */
export const AD_SERVER_CREATIVES: Creative[] = [
  {
    kind: 'an ins tag with a placement in its attributes',
    tag: `<ins class="dcmads" style="display:inline-block;width:300px;height:250px" data-dcm-placement="N1/B2.3/4" data-dcm-rendering-mode="iframe"
      data-dcm-https-only data-dcm-click-tracker="${CLICK}"><script src="${ADS}/dcmads.js"></script></ins>`,
    pages: {
      [`${ADS}/dcmads.js`]: `for (const ins of document.querySelectorAll('ins.dcmads')) { const f = document.createElement('iframe');
        f.width = 300; f.height = 250; f.frameBorder = 0; f.scrolling = 'no'; f.src = '${FRAME}?sz=' + ins.offsetWidth + 'x' + ins.offsetHeight; ins.append(f); }`,
      [FRAME]: BANNER,
    },
    size: [300, 250],
    document: `${FRAME}?sz=300x250`,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a passback with a queue of commands',
    tag: `<script async src="${ADS}/tag/gpt.js"></script><div id="gpt-passback"><script>window.googletag = window.googletag || { cmd: [] };
      googletag.cmd.push(function () { googletag.defineSlot('/1/pass', [300, 250], 'gpt-passback').addService(googletag.pubads()); googletag.enableServices(); googletag.display('gpt-passback'); });</script></div>`,
    pages: {
      [`${ADS}/tag/gpt.js`]: `{ const slots = {}; const service = {}; const run = (command) => command();
        const api = { pubads: () => service, enableServices() {}, defineSlot(path, size, id) { slots[id] = size; return { addService() { return this; } }; },
          display(id) { const [w, h] = slots[id]; const f = document.createElement('iframe'); f.width = w; f.height = h; f.frameBorder = 0; f.scrolling = 'no';
            f.name = '1-0-40;' + ${quoted(BANNER)}; f.src = '${ADS}/safeframe/1-0-40/container'; document.getElementById(id).append(f); } };
        const waiting = window.googletag.cmd; window.googletag = { ...api, cmd: { push: run } }; waiting.forEach(run); }`,
      [`${ADS}/safeframe/1-0-40/container`]:
        "<!doctype html><script>const text = name.slice(name.indexOf(';') + 1); name = ''; document.write(text)</script>",
    },
    size: [300, 250],
    document: `${ADS}/safeframe/1-0-40/container`,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a script with a noscript fallback and a click macro in its address',
    tag: `<noscript><a href="${CLICK}"><img src="${CDN}/noscript.svg"></a></noscript><script src="${ADS}/js/12;300x250.js?ftClick=${encodeURIComponent(`${CLICK}?to=`)}&cachebuster=[CACHEBUSTER]"></script>`,
    pages: {
      [`${ADS}/js/12;300x250.js`]: `const own = document.currentScript.src; document.write('<iframe width="300" height="250" frameborder="0" scrolling="no" src="${FRAME}?c=' + encodeURIComponent(new URL(own).searchParams.get('ftClick')) + '"></iframe>')`,
      [FRAME]: page(
        `<div id="stage" style="width:300px;height:250px;background:#cde;cursor:pointer">Lamp</div><script>document.getElementById('stage').onclick = () => window.open(new URLSearchParams(location.search).get('c') + encodeURIComponent('${SHOP}'))</script>`,
      ),
    },
    size: [300, 250],
    document: `${FRAME}?c=${encodeURIComponent(`${CLICK}?to=`)}`,
    landing: SHOP,
    chain: [`${CLICK}?to=${encodeURIComponent(SHOP)}`, SHOP],
    markup: /Lamp/,
  },
  {
    kind: 'an AMP ad with an exit',
    isTested: true,
    tag: `<!doctype html><html amp4ads lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><style amp4ads-boilerplate>body{visibility:hidden}</style>
      <style amp-custom>amp-img{display:block;width:300px;height:250px}</style><script async src="${CDN}/amp4ads-v0.js"></script></head>
      <body><amp-ad-exit id="exit"><script type="application/json">{"targets":{"main":{"finalUrl":"${CLICK}"}}}</script></amp-ad-exit><amp-pixel src="${ADS}/pixel.gif"></amp-pixel>
      <amp-img src="${CDN}/300x250.svg" width="300" height="250" role="link" tabindex="0" on="tap:exit.exit(target='main')"></amp-img></body></html>`,
    pages: {
      [`${CDN}/amp4ads-v0.js`]: `customElements.define('amp-img', class extends HTMLElement { connectedCallback() { const i = new Image(300, 250); i.src = this.getAttribute('src'); this.append(i);
          this.addEventListener('click', () => window.open(JSON.parse(document.querySelector('#exit script').textContent).targets.main.finalUrl, '_blank')); } });
        customElements.define('amp-pixel', class extends HTMLElement { connectedCallback() { new Image().src = this.getAttribute('src'); } });
        document.body.style.visibility = 'visible';`,
    },
    size: [300, 250],
    landing: SHOP,
    markup: /amp-img/,
  },
  {
    kind: 'a tag that starts by a picture that fails',
    tag: `<div class="celtra-ad-v3"><!-- {"clickUrl":"%%CLICK_URL_UNESC%%"} --><img src="data:image/png,celtra" style="display:none" onerror="(function (image) { var script = document.createElement('script');
      script.src = '${ADS}/loader.js?placement=1&externalAdServer=DFP'; script.dataset.click = '${CLICK}'; image.parentNode.insertBefore(script, image.nextSibling); })(this);"></div>`,
    pages: {
      [`${ADS}/loader.js`]: `const own = document.currentScript; setTimeout(() => { const unit = document.createElement('div'); unit.style = 'width:300px;height:250px;background:#cde;cursor:pointer';
        unit.textContent = 'Lamp'; unit.addEventListener('click', () => window.open(own.dataset.click)); own.parentNode.append(unit); }, 300)`,
    },
    size: [300, 250],
    landing: SHOP,
    markup: /Lamp/,
  },
  {
    kind: 'a universal creative that asks the page around it for its markup',
    tag: `<script>addEventListener('message', ({ data, source, origin }) => { const asked = typeof data === 'string' ? JSON.parse(data) : {}; if (asked.message === 'Prebid Request')
      source.postMessage(JSON.stringify({ message: 'Prebid Response', adId: asked.adId, ad: ${quoted(linked(img('300x250')))} }), '*'); })</script>${frameOf(`${ADS}/puc`)}`,
    pages: {
      [`${ADS}/puc`]: page(
        `<div id="here"></div><script>addEventListener('message', ({ data }) => { const answer = JSON.parse(data); if (answer.message !== 'Prebid Response') return;
        const f = document.createElement('iframe'); f.width = 300; f.height = 250; f.frameBorder = 0; f.srcdoc = '<body style="margin:0">' + answer.ad; document.getElementById('here').replaceWith(f); });
        parent.postMessage(JSON.stringify({ message: 'Prebid Request', adId: '7' }), '*');</script>`,
      ),
    },
    size: [300, 250],
    document: `${ADS}/puc`,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a SafeFrame whose creative expands by its host',
    tag: `<div id="sf" style="width:300px;height:50px"></div><script>const f = document.createElement('iframe'); f.width = 300; f.height = 50; f.frameBorder = 0; f.scrolling = 'no'; f.src = '${ADS}/sf/container'; document.getElementById('sf').append(f);
      addEventListener('message', ({ data }) => { if (data === 'expand') { f.height = 250; f.contentWindow.postMessage('expanded', '*'); } });</script>`,
    pages: {
      [`${ADS}/sf/container`]: page(
        `<script>let tell = () => {}; addEventListener('message', ({ data }) => tell(data)); window.$sf = { ver: '1.1', ext: { register(w, h, listener) { tell = listener; }, expand() { parent.postMessage('expand', '*'); },
          collapse() {}, geom: () => ({ self: { t: 0, l: 0, w: 300, h: 50, iv: 1 } }), supports: () => ({ 'exp-ovr': true }), inViewPercentage: () => 100, status: () => 'collapsed', meta: () => '' } }</script>
        <script src="${ADS}/sf/creative.js"></script>`,
      ),
      [`${ADS}/sf/creative.js`]: `document.write(${quoted(`<button id="more" style="display:block;width:300px;height:50px">More</button><a id="banner" target="_blank" href="${CLICK}" style="display:block;width:300px;height:200px;background:#cde">Lamp</a>`)});
        $sf.ext.register(300, 50, (status) => { document.body.dataset.status = status; }); document.getElementById('more').onclick = () => $sf.ext.expand({ t: 0, l: 0, r: 0, b: 200, push: false });`,
    },
    size: [300, 50],
    document: `${ADS}/sf/container`,
    landing: SHOP,
    markup: /banner/,
    inert: 'button#more',
  },
  {
    kind: 'a friendly frame that says it is one',
    tag: `<script>const f = document.createElement('iframe'); f.width = 300; f.height = 250; f.frameBorder = 0; document.currentScript.parentNode.append(f); const d = f.contentDocument; d.open();
      d.write(${quoted(`<!doctype html><body style="margin:0"><script>var inDapIF = true;</script><script src="${ADS}/friendly.js"></script></body>`)}); d.close();</script>`,
    pages: { [`${ADS}/friendly.js`]: `if (window.inDapIF) ${written(linked(img('300x250')))}` },
    size: [300, 250],
    landing: SHOP,
    markup: /inDapIF/,
  },
  {
    kind: 'protocol-relative addresses',
    tag: linked(img('300x250')).replaceAll('http://', '//'),
    size: [300, 250],
    landing: SHOP,
    markup: /"\/\/cdn/,
  },
  {
    kind: 'a rotation that loads the next ad by itself',
    tag: frameOf(`${ADS}/rotate`),
    pages: {
      [`${ADS}/rotate`]: `<!doctype html><meta http-equiv="refresh" content="1;url=${FRAME}"><body style="margin:0">${img('300x250')}`,
      [FRAME]: BANNER,
    },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a frame that its page sends to the next ad while it is clicked',
    isTested: true,
    tag: `<iframe id="slot" src="${FRAME}" width="300" height="250" frameborder="0"></iframe><script>onmessage = () => setTimeout(() => { document.getElementById('slot').src = '${ADS}/next'; }, 500)</script>`,
    pages: {
      [FRAME]: `${BANNER}<script>onclick = () => parent.postMessage('clicked', '*')</script>`,
      [`${ADS}/next`]: BANNER,
    },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
];
