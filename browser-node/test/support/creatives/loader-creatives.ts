import { ADS, type Creative, img, linked, page, SHOP } from './creative.ts';

const FRAME = `${ADS}/frame`;

/** Creatives that the script of an ad server fetches and puts into a slot. */
export const LOADER_CREATIVES: Creative[] = [
  {
    kind: 'a GPT-like loader with a slot',
    tag: `<div id="slot"></div><script src="${ADS}/gpt.js"></script><script>loader.defineSlot('/1/home', [300, 250], 'slot').display()</script>`,
    pages: {
      [`${ADS}/gpt.js`]: `window.loader = { defineSlot: (path, [w, h], id) => ({ display: () => fetch('${ADS}/bid.json').then((r) => r.json()).then(({ url }) => {
        const f = document.createElement('iframe'); f.width = w; f.height = h; f.frameBorder = 0; f.src = url; document.getElementById(id).append(f); }) }) };`,
      [`${ADS}/bid.json`]: `{"url":"${FRAME}"}`,
      [FRAME]: page(linked(img('300x250'))),
    },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a SafeFrame container',
    tag: `<iframe width="300" height="250" frameborder="0" src="${ADS}/container" name='${page(linked(img('300x250'))).replace(/'/g, '')}'></iframe>`,
    pages: {
      [`${ADS}/container`]: `<!doctype html><script>window.$sf = { ext: { register() {}, geom: () => ({}), supports: () => ({}) } }; document.write(name)</script>`,
    },
    size: [300, 250],
    document: `${ADS}/container`,
    landing: SHOP,
    markup: /banner/,
  },
];
