import { ADS, box, type Creative, img, linked, page, SHOP } from './creative.ts';

/** Creatives given by the address of a page, and tags of which little is to be seen. */
export const ADDRESS_CREATIVES: Creative[] = [
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
    pages: { [`${ADS}/alone`]: `deny:${page(linked(img('300x250')))}` },
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
  {
    kind: 'a creative that leads nowhere',
    asksNothing: true,
    tag: box(''),
    size: [300, 250],
    landing: null,
    markup: /Buy a lamp/,
  },
];
