import { openedLandings, subjectLanding } from '@adsweep/shared/capture/capture.ts';
import { type Html, html } from './html.ts';
import type { Report, ReportLanding } from './report.ts';
import { chainWords, showChain, showStatus } from './show-chain.ts';
import { showUrl } from './show-url.ts';

/** Pixels that pictures are asked to be wide; they are shown at about half of that. */
const PICTURE_WIDTH = 800;

/** The page's own tab: what it looked like at the end; null where nothing was there to be seen. */
export function showPicture(report: Report): Html | null {
  const page = subjectLanding(report.landings);
  if (!page || (!page.picture && page.title === '')) return null;
  return showFrame(page, `${report.token}/screenshot`, report.is_tall, page.title || UNTITLED);
}

/** How the browser got to the page. */
export function showMainChain({ landings }: Report): Html | null {
  const chain = subjectLanding(landings)?.chain ?? [];
  if (chain.length === 0) return null;
  return html`<section class="card" id="chain"><h2>Redirect chain <span class="count">${chainWords(chain)}</span></h2>${showChain(chain)}</section>`;
}

/** Tabs that the page opened, side by side. */
export function showTabs(report: Report): Html | null {
  const tabs = openedLandings(report.landings);
  if (tabs.length === 0) return null;
  return html`<section class="card" id="tabs"><h2>Tabs that opened <span class="count">${tabs.length}</span></h2>${sideBySide(report, tabs)}</section>`;
}

/** The landings of an ad, side by side: where the click led, and what opened by itself. */
export function showLandings(report: Report): Html {
  const { landings } = report;
  const count = landings.length === 1 ? '1 tab' : `${landings.length} tabs`;
  if (landings.length === 0)
    return html`<section class="card" id="landings"><h2>Where it leads</h2><p class="quiet">No tab opened.</p></section>`;
  return html`<section class="card" id="landings"><h2>Where it leads <span class="count">${count}</span></h2>${sideBySide(report, landings)}</section>`;
}

const UNTITLED = 'A page without a title';

const sideBySide = ({ token, is_tall }: Report, tabs: readonly ReportLanding[]): Html =>
  html`<div class="side-by-side">${tabs.map((tab) => showTab(tab, `${token}/landings/${tab.ord}/screenshot`, is_tall))}</div>`;

/** Findings name a tab by its ordinal. */
function showTab(tab: ReportLanding, picture: string, isTall: boolean): Html {
  const status = tab.chain.at(-1)?.status_code ?? 0;
  const problem = status >= 400 && showStatus(status);
  return html`<article class="tab">${showFrame(tab, picture, isTall)}<h3 class="clamped"><bdi>${tab.title || UNTITLED}</bdi></h3>
<div class="where">${showUrl(tab.url)}</div><p class="meta"><span>landing ${tab.ord}</span>${problem}</p><details class="rest"><summary>Redirect chain: ${chainWords(tab.chain)}</summary>${showChain(tab.chain)}</details></article>`;
}

/** `picture` is a relative path of ours, so it may stand in an attribute; `caption` null: what is around it says what it is. */
function showFrame(
  { url, picture: has }: ReportLanding,
  picture: string,
  isTall: boolean,
  caption: string | null = null,
): Html {
  const host = URL.parse(url)?.host || 'no address';
  const image = has
    ? html`<a class="shot${isTall && ' tall'}" href="${picture}"><img src="${picture}?w=${PICTURE_WIDTH}" alt="Full screenshot of ${host}" loading="lazy"></a>`
    : html`<p class="no-shot">No picture could be taken</p>`;
  return html`<figure class="window"><div class="bar-top" aria-hidden="true"><i></i><i></i><i></i><bdi>${host}</bdi></div>${image}${caption !== null && html`<figcaption><span class="clamped"><bdi>${caption}</bdi></span></figcaption>`}</figure>`;
}
