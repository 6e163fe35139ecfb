import { ADS, type Creative, img, linked, SHOP } from './creative.ts';

/** Creatives with parts of their own: arrows, panels, slides. */
export const RICH_CREATIVES: Creative[] = [
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
];
