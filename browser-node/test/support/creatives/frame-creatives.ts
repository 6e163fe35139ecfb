import { ADS, type Creative, frameOf, img, linked, page, SHOP } from './creative.ts';

const FRAME = `${ADS}/frame`;

/** Creatives in frames, of any origin and depth. */
export const FRAME_CREATIVES: Creative[] = [
  {
    kind: 'a frame of another site',
    tag: frameOf(FRAME),
    pages: { [FRAME]: page(linked(img('300x250'))) },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /<body.*banner/s,
  },
  {
    kind: 'a frame behind redirects',
    tag: frameOf(`${ADS}/hop-1`),
    pages: { [`${ADS}/hop-1`]: '-> /hop-2', [`${ADS}/hop-2`]: '-> /frame', [FRAME]: page(linked(img('300x250'))) },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'nested frames of three sites',
    tag: frameOf(`${ADS}/outer`),
    pages: {
      [`${ADS}/outer`]: page(frameOf('http://second.example/inner')),
      'http://second.example/inner': page(frameOf('http://third.example/innermost')),
      'http://third.example/innermost': page(linked(img('300x250'))),
    },
    size: [300, 250],
    document: 'http://third.example/innermost',
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a srcdoc frame',
    tag: `<iframe width="300" height="250" frameborder="0" srcdoc='${page(linked(img('300x250')))}'></iframe>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a friendly frame that is written',
    tag: `<script>const f = document.createElement('iframe'); f.width = 300; f.height = 250; f.frameBorder = 0;
      document.currentScript.parentNode.append(f); f.contentDocument.open();
      f.contentDocument.write(${JSON.stringify(page(linked(img('300x250')))).replace(/</g, '\\x3c')}); f.contentDocument.close();</script>`,
    size: [300, 250],
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a link that targets its own frame',
    tag: frameOf(FRAME),
    pages: { [FRAME]: page(linked(img('300x250'), '')) },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
  {
    kind: 'a sandboxed frame with popups',
    tag: frameOf(FRAME, '300x250', 'sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"'),
    pages: { [FRAME]: page(linked(img('300x250'))) },
    size: [300, 250],
    document: FRAME,
    landing: SHOP,
    markup: /banner/,
  },
];
