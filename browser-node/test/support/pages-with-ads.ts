import sharp, { type Sharp } from 'sharp';
import type { Box } from '../../src/capture/box.ts';

/** The URL of an ad on the ad server of the pages. */
export const adUrl = (name: string) => `http://securepubads.g.doubleclick.net/${name}`;
/** A slot of Google Publisher Tag with a creative. */
export const slot = (name: string, url = adUrl(name)) => `<p>Text of the page about ${name}.</p>
  <div id="div-gpt-ad-${name}" data-google-query-id="query-${name}"><div id="google_ads_iframe_/1/${name}_0__container__">
  <iframe id="google_ads_iframe_/1/${name}_0" src="${url}" width="300" height="250" style="border:0"></iframe></div></div>
  <div style="height:300px"></div>`;
/** A banner that runs `script` when it is clicked. */
export const banner = (name: string, script: string) =>
  `<body style="margin:0"><a id="ad" style="display:block;height:100vh;background:#ace" href="#">Offer ${name}</a>
  <script>ad.onclick = (event) => { event.preventDefault(); ${script} }</script>`;

/** A banner whose link comes some time after a visitor first touched it. */
export const lateBanner = (name: string, script: string) =>
  `<body style="margin:0;height:100vh;background:#ace">Offer ${name}<script>addEventListener('pointerdown', () => setTimeout(() => {
    document.body.innerHTML = '<a style="display:block;height:100vh" href="#">Offer ${name}</a>';
    document.body.onclick = (event) => { event.preventDefault(); ${script} };
  }, 2000), { once: true })</script>`;

/** Content in a form and document whose properties are shadowed by elements with their names. */
export const shadowing = (content: string) =>
  `<form><fieldset name="parentNode" style="all:unset;display:block">${content}</fieldset></form>
  ${['scrollingElement', 'elementFromPoint', 'body'].map((name) => `<img name="${name}" hidden>`).join('')}`;

/** The colour of each banner. */
export const BANNER_COLOUR = '#aaccee';

/** The colour in the middle of a block of a page's screenshot. */
export async function colourIn(picture: Sharp, { x, y, width, height }: Box): Promise<string> {
  const place = { left: Math.round(x + width / 2), top: Math.round(y + height / 2), width: 4, height: 4 };
  const { dominant } = await sharp(await picture.clone().extract(place).png().toBuffer()).stats();
  // Histogram bins of 16 values: their middle.
  return `#${[dominant.r, dominant.g, dominant.b].map((one) => (one & 0xf0).toString(16).slice(0, 1).repeat(2)).join('')}`;
}
