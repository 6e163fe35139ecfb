import { type Creative, img, linked, quoted, SHOP } from './creative.ts';

/** Creatives in shadow roots. */
export const SHADOW_CREATIVES: Creative[] = [
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
    kind: 'a carousel in a closed shadow root',
    tag: `<div></div><script>const root = document.currentScript.previousElementSibling.attachShadow({ mode: 'closed' }); root.innerHTML = ${quoted(`<div style="position:relative;width:300px;height:250px">${linked(img('300x250'))}<button id="next" style="position:absolute;right:4px;top:110px;width:30px;height:30px">1</button></div>`)}</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /<div>/,
    inert: 'button#next',
  },
];
