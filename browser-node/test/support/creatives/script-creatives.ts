import { ADS, type Creative, img, linked, SHOP, written } from './creative.ts';

/** Creatives that scripts draw, at once or late. */
export const SCRIPT_CREATIVES: Creative[] = [
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
    kind: 'a full HTML5 document with clickTag',
    asksNothing: true,
    tag: `<!doctype html><html><head><meta name="ad.size" content="width=300,height=250"><script>var clickTag = '${ADS}/click';</script></head>
      <body><div style="width:300px;height:250px;background:#cde;cursor:pointer" onclick="window.open(window.clickTag)">Lamp</div></body></html>`,
    size: [300, 250],
    landing: SHOP,
    markup: /Lamp/,
  },
  {
    kind: 'a canvas',
    asksNothing: true,
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
];
