import { openedLandings, subjectLanding } from '@adsweep/shared/capture/subject-landing.ts';
import { type Html, html } from './html.ts';
import type { Report, ReportLanding } from './report.ts';
import { chainWords, showChain } from './show-chain.ts';
import { showUrl } from './show-url.ts';

/** Pixels that pictures are asked to be wide; they are shown at about half of that. */
const PICTURE_WIDTH = 800;

/** The page's own tab: what it looked like at the end. */
export function showPicture({ token, landings }: Report): Html | null {
  const page = subjectLanding(landings);
  return page ? showFrame(page, `${token}/screenshot`) : null;
}

/** How the browser got to the page. */
export function showMainChain({ landings }: Report): Html | null {
  const chain = subjectLanding(landings)?.chain ?? [];
  if (chain.length === 0) return null;
  return html`<section class="card" id="chain"><h2>Redirect chain <span class="count">${chainWords(chain)}</span></h2>${showChain(chain)}</section>`;
}

/** Tabs that the page opened. */
export function showTabs({ token, landings }: Report): Html | null {
  const tabs = openedLandings(landings);
  if (tabs.length === 0) return null;
  const shown = tabs.map((tab) => showTab(tab, `${token}/landings/${tab.ord}/screenshot`));
  return html`<section class="card" id="tabs"><h2>Tabs that opened <span class="count">${tabs.length}</span></h2>${shown}</section>`;
}

/** The landings of an ad, side by side: where the click led, and what opened by itself. */
export function showLandings({ token, landings }: Report): Html {
  const count = landings.length === 1 ? '1 tab' : `${landings.length} tabs`;
  const shown = landings.map((tab) => showTab(tab, `${token}/landings/${tab.ord}/screenshot`));
  const none = html`<p class="quiet">No click on the creative opened anything.</p>`;
  return html`<section class="card" id="landings"><h2>Where it leads <span class="count">${count}</span></h2>${landings.length === 0 ? none : html`<div class="side-by-side">${shown}</div>`}</section>`;
}

function showTab(tab: ReportLanding, picture: string): Html {
  return html`<article class="tab">${showFrame(tab, picture)}<div><h3><bdi>${tab.title || 'A page without a title'}</bdi></h3>
<div class="where">${showUrl(tab.url)}</div><details class="rest"><summary>Redirect chain: ${chainWords(tab.chain)}</summary>${showChain(tab.chain)}</details></div></article>`;
}

/** `picture` is a relative path of ours, so it may stand in an attribute. */
function showFrame({ title, url, picture: has }: ReportLanding, picture: string): Html {
  const host = URL.parse(url)?.host || 'no address';
  const image = has
    ? html`<a class="shot" href="${picture}"><img src="${picture}?w=${PICTURE_WIDTH}" alt="Screenshot of the page" loading="lazy"></a>`
    : html`<p class="no-shot">No picture could be taken</p>`;
  return html`<figure class="window"><div class="bar-top"><i></i><i></i><i></i><bdi>${host}</bdi></div>${image}<figcaption><bdi>${title || 'A page without a title'}</bdi></figcaption></figure>`;
}
