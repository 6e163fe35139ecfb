import { article, banner, frame, lines, literal, picture, type Size, script } from '../markup.ts';
import { adAt, type PublisherPage, popOf } from '../publisher-page.ts';
import { gptFrame, gptSlot, withGpt } from './google.ts';

const tag = (unit: string, size: Size, id: string) => frame(`https://ib.adnxs.com/tt?unit=${unit}`, size, `id="${id}"`);
const unit = (name: string, size: Size, shop: string) => ({ [name]: banner(size, shop, 'anchor', ['clk.adnxs.com']) });
const inShadow = (mode: string, markup: string) =>
  `<div id="host"></div>${script(`document.getElementById('host').attachShadow({ mode: '${mode}' }).innerHTML = ${literal(markup)};`)}`;
const PHONE = 'android_phone_pixel_8';
const outOfPage = (path: string, format: string) =>
  script(
    `googletag.cmd.push(() => googletag.display(googletag.defineOutOfPageSlot('${path}', googletag.enums.OutOfPageFormat.${format})));`,
  );

/** Where and when ads are shown, and windows that open. */
export const PLACEMENT_PAGES: PublisherPage[] = [
  {
    subject: 'shadow_roots',
    name: 'open-shadow-root',
    html: article(lines(1) + inShadow('open', tag('sh-1', '300x250', 'shadow-ad')) + lines(2)),
    units: unit('sh-1', '300x250', 'paint.example'),
    ads: [adAt('#shadow-ad', [300, 250], 'appnexus', 'paint.example')],
  },
  {
    subject: 'shadow_roots',
    name: 'closed-shadow-root',
    html: article(lines(1) + inShadow('closed', tag('sh-2', '300x250', 'shadow-ad')) + lines(2)),
    units: unit('sh-2', '300x250', 'paper.example'),
    ads: [adAt('#shadow-ad', [300, 250], 'appnexus', 'paper.example')],
  },
  {
    subject: 'late',
    name: 'lazy-far-below',
    html: withGpt(
      lines(50) + gptSlot('/81/lazy/one', '300x250') + lines(30) + gptSlot('/81/lazy/two', '728x90') + lines(3),
      'googletag.pubads().enableLazyLoad();',
    ),
    units: { '/81/lazy/one': banner('300x250', 'slow.example'), '/81/lazy/two': banner('728x90', 'slower.example') },
    ads: [
      adAt(gptFrame('/81/lazy/one'), [300, 250], 'gpt', 'slow.example'),
      adAt(gptFrame('/81/lazy/two'), [728, 90], 'gpt', 'slower.example'),
    ],
  },
  {
    subject: 'late',
    name: 'three-seconds-late',
    html: article(
      `${lines(1)}<div id="box" style="height:250px"></div>${lines(2)}${script(`setTimeout(() => { document.getElementById('box').innerHTML = ${literal(tag('late-1', '300x250', 'late'))}; }, 3000);`)}`,
    ),
    units: unit('late-1', '300x250', 'train.example'),
    ads: [adAt('#late', [300, 250], 'appnexus', 'train.example')],
  },
  {
    subject: 'late',
    name: 'infinite-scroll',
    html: article(
      `<div id="feed">${lines(10)}</div>${script(`let n = 0; addEventListener('scroll', () => { if (n >= 3 || scrollY + innerHeight < document.documentElement.scrollHeight - 300) return; n += 1; document.getElementById('feed').insertAdjacentHTML('beforeend', ${literal(tag('feed-N', '300x250', 'feed-N') + lines(8))}.replaceAll('feed-N', 'feed-' + n)); });`)}`,
    ),
    units: Object.assign({}, ...[1, 2, 3].map((n) => unit(`feed-${n}`, '300x250', `feed-${n}.example`))),
    ads: [1, 2, 3].map((n) => adAt(`#feed-${n}`, [300, 250], 'appnexus', `feed-${n}.example`)),
  },
  {
    subject: 'late',
    name: 'link-after-a-click',
    html: article(lines(2) + tag('late-2', '300x250', 'late') + lines(2)),
    units: {
      'late-2': `${picture('300x250', 'cdn.creatives.example')}${script(`addEventListener('pointerdown', () => setTimeout(() => { document.body.innerHTML = ${literal(banner('300x250', 'harbour.example', 'anchor', ['clk.adnxs.com']))}; }, 2000), { once: true });`)}`,
    },
    ads: [adAt('#late', [300, 250], 'appnexus', 'harbour.example')],
  },
  {
    subject: 'fixed',
    name: 'sticky-footer',
    html: article(
      `${lines(20)}<div style="position:fixed;bottom:0;left:100px;width:728px;height:90px;z-index:9">${tag('foot', '728x90', 'foot')}<button style="position:absolute;top:-20px;right:0;height:20px" onclick="this.parentNode.remove()">x</button></div>`,
    ),
    units: unit('foot', '728x90', 'soap.example'),
    ads: [adAt('#foot', [728, 90], 'appnexus', 'soap.example')],
  },
  {
    subject: 'fixed',
    name: 'sticky-sidebar',
    html: article(
      `<div style="display:flex"><div style="width:680px">${lines(25)}</div><aside><div style="position:sticky;top:10px">${tag('side', '300x600', 'side')}</div></aside></div>`,
    ),
    units: unit('side', '300x600', 'sofa.example'),
    ads: [adAt('#side', [300, 600], 'appnexus', 'sofa.example')],
  },
  {
    subject: 'fixed',
    name: 'interstitial-with-close',
    html: article(
      `${lines(10)}${tag('under', '300x250', 'under')}<div id="cover" style="position:fixed;inset:0;background:rgba(0,0,0,.7);z-index:99"><div style="position:absolute;left:200px;top:100px">${tag('cover', '320x480', 'cover-ad')}</div><button aria-label="Close" style="position:absolute;right:20px;top:20px" onclick="document.getElementById('cover').remove()">Close</button></div>`,
    ),
    units: { ...unit('under', '300x250', 'plants.example'), ...unit('cover', '320x480', 'loans.example') },
    ads: [
      adAt('#cover-ad', [320, 480], 'appnexus', 'loans.example'),
      adAt('#under', [300, 250], 'appnexus', 'plants.example'),
    ],
  },
  {
    subject: 'fixed',
    name: 'phone-adhesion',
    emulator: PHONE,
    html: withGpt(lines(12) + outOfPage('/81/anchor', 'BOTTOM_ANCHOR')),
    units: { '/81/anchor': banner('320x50', 'taxi.example') },
    ads: [adAt(gptFrame('/81/anchor'), [320, 50], 'gpt', 'taxi.example')],
  },
  {
    subject: 'layouts',
    name: 'right-to-left',
    html: article(lines(1) + tag('rtl', '300x250', 'rtl') + lines(2), { dir: 'rtl' }),
    units: unit('rtl', '300x250', 'carpets.example'),
    ads: [adAt('#rtl', [300, 250], 'appnexus', 'carpets.example')],
  },
  {
    subject: 'layouts',
    name: 'scaled',
    html: article(
      `${lines(1)}<div style="height:300px"><div style="transform:scale(1.2);transform-origin:0 0;width:300px">${tag('scaled', '300x250', 'scaled')}</div></div>${lines(2)}`,
    ),
    units: unit('scaled', '300x250', 'lenses.example'),
    ads: [adAt('#scaled', [360, 300], 'appnexus', 'lenses.example')],
  },
  {
    subject: 'layouts',
    name: 'zoomed',
    html: article(`${lines(1)}<div style="zoom:0.5">${tag('zoomed', '970x250', 'zoomed')}</div>${lines(2)}`),
    units: unit('zoomed', '970x250', 'maps-shop.example'),
    ads: [adAt('#zoomed', [485, 125], 'appnexus', 'maps-shop.example')],
  },
  {
    subject: 'layouts',
    name: 'wide-slot',
    html: withGpt(
      lines(1) + gptSlot('/81/wide', '728x90', { style: 'width:100%;background:#eee;padding:20px 0' }) + lines(2),
    ),
    units: { '/81/wide': banner('728x90', 'beds.example') },
    ads: [adAt(gptFrame('/81/wide'), [728, 90], 'gpt', 'beds.example')],
  },
  {
    subject: 'pops',
    name: 'pop-on-load',
    html: article(`${lines(6)}<script src="https://c1.popads.net/pop.js"></script>`),
    files: { 'https://c1.popads.net/pop.js': "window.open('https://www.casino.example/');" },
    ads: [popOf('popads', 'casino.example')],
  },
  {
    subject: 'pops',
    name: 'pop-from-frame',
    html: article(lines(1) + tag('popper', '300x250', 'popper') + lines(2)),
    units: {
      popper: `${banner('300x250', 'dolls.example', 'anchor', ['clk.adnxs.com'])}${script("window.open('https://www.lottery.example/');")}`,
    },
    ads: [popOf('appnexus', 'lottery.example'), adAt('#popper', [300, 250], 'appnexus', 'dolls.example')],
  },
  {
    subject: 'pops',
    name: 'tab-under',
    html: article(`${lines(6)}<script src="https://c1.popads.net/under.js"></script>`),
    files: {
      'https://c1.popads.net/under.js':
        "if (!location.hash) { window.open(location.href + '#read'); location.href = 'https://www.betting.example/'; }",
    },
    ads: [popOf('popads', 'betting.example')],
  },
];
