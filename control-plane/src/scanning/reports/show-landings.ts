import { openedLandings, subjectLanding } from '@adsweep/shared/capture/capture.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { ByteBudget, showLeftOut } from './byte-budget.ts';
import type { Report, ReportHop, ReportLanding } from './report.ts';
import { showUrl } from './show-url.ts';
import { durationWords, HOPS, statusWords } from './words.ts';

/** Requested width in pixels, about twice the width in which pictures are shown. */
const PICTURE_WIDTH = 800;

/** The bytes for a redirect chain, and for all tabs with their chains. */
const CHAIN_BYTES = 80_000;
const TABS_BYTES = 160_000;

/** The final screenshot of the page's own tab; null if no page was loaded. */
export function showPicture(report: Report): Html | null {
  const page = subjectLanding(report.landings);
  if (!page || (!page.picture && page.title === '')) return null;
  return showFrame(page, `${report.token}/screenshot`, report.is_tall, page.title || UNTITLED);
}

/**
 * The redirect chain of the page's own tab; null if it is empty. `id`: of its section, null where a page has several
 * chains.
 */
export function showMainChain({ landings }: Report, id: string | null = 'chain'): Html | null {
  const chain = subjectLanding(landings)?.chain ?? [];
  if (chain.length === 0) return null;
  return html`<section class="card"${id !== null && html` id="${id}"`}><h2>Redirect chain <span class="count">${chainWords(chain)}</span></h2>${showChain(chain, new ByteBudget(CHAIN_BYTES))}</section>`;
}

/** The tabs that the page opened, side by side; null if there are none. */
export function showTabs(report: Report): Html | null {
  const tabs = openedLandings(report.landings);
  if (tabs.length === 0) return null;
  return html`<section class="card" id="tabs"><h2>Tabs that opened <span class="count">${tabs.length}</span></h2>${sideBySide(report, tabs)}</section>`;
}

/** The landings of an ad, side by side: those that a click opened and those that opened without one. */
export function showLandings(report: Report): Html {
  const { landings } = report;
  const count = landings.length === 1 ? '1 tab' : `${landings.length} tabs`;
  if (landings.length === 0)
    return html`<section class="card" id="landings"><h2>Landings</h2><p class="quiet">No tab opened.</p></section>`;
  return html`<section class="card" id="landings"><h2>Landings <span class="count">${count}</span></h2>${sideBySide(report, landings)}</section>`;
}

const UNTITLED = 'Untitled page';

function sideBySide({ token, is_tall }: Report, tabs: readonly ReportLanding[]): Html {
  const budget = new ByteBudget(TABS_BYTES);
  const chainBytes = Math.min(CHAIN_BYTES, TABS_BYTES / tabs.length);
  const shown = budget.list(tabs, (tab) => {
    const chain = showChain(tab.chain, new ByteBudget(chainBytes));
    return showTab(tab, chain, `${token}/landings/${tab.ord}/screenshot`, is_tall);
  });
  return html`<div class="side-by-side">${shown}</div>${showLeftOut(budget.leftOut, 'more tabs are')}`;
}

/** A tab with its ordinal, by which findings refer to it. */
function showTab(tab: ReportLanding, chain: Html, picture: string, isTall: boolean): Html {
  const status = tab.chain.at(-1)?.status_code ?? 0;
  const problem = status >= 400 && showStatus(status);
  return html`<article class="tab">${showFrame(tab, picture, isTall)}<h3 class="clamped"><bdi>${tab.title || UNTITLED}</bdi></h3>
<div class="where">${showUrl(tab.url)}</div><p class="meta"><span>landing ${tab.ord}</span>${problem}</p><details class="rest"><summary>Redirect chain: ${chainWords(tab.chain)}</summary>${chain}</details></article>`;
}

/**
 * `picture` is a relative path made here, so that it is safe in an attribute; `caption` null: the caller shows the
 * title.
 */
function showFrame(
  { url, picture: has }: ReportLanding,
  picture: string,
  isTall: boolean,
  caption: string | null = null,
): Html {
  const host = URL.parse(url)?.host || 'no URL';
  const image = has
    ? html`<a class="shot${isTall && ' tall'}" href="${picture}"><img src="${picture}?w=${PICTURE_WIDTH}" alt="Full screenshot of ${host}" loading="lazy"></a>`
    : html`<p class="no-shot">There is no screenshot</p>`;
  return html`<figure class="window"><div class="bar-top" aria-hidden="true"><i></i><i></i><i></i><bdi>${host}</bdi></div>${image}${caption !== null && html`<figcaption><span class="clamped"><bdi>${caption}</bdi></span></figcaption>`}</figure>`;
}

/** Further steps are collapsed: a redirect loop can have hundreds. */
const SHOWN_MAX = 30;

/**
 * A redirect chain: each step with the kind of navigation that led to it. Once the budget is used up, only the last
 * step is shown.
 */
export function showChain(chain: readonly ReportHop[], budget: ByteBudget): Html {
  const hops = budget.list(chain.slice(0, -1), (hop, index) => showHop(hop, index, chain[index - 1] ?? null));
  const last = chain.slice(-1).map((hop) => showHop(hop, chain.length - 1, chain.at(-2) ?? null));
  if (budget.leftOut === 0) return foldedChain([...hops, ...last]);
  return html`${foldedChain(hops)}${showLeftOut(budget.leftOut, 'more steps are')}<ol class="chain">${last}</ol>`;
}

function foldedChain(hops: readonly Html[]): Html {
  const rest = hops.slice(SHOWN_MAX);
  const list = html`<ol class="chain">${hops.slice(0, SHOWN_MAX)}</ol>`;
  if (rest.length === 0) return list;
  const more = html`<details class="rest"><summary>${rest.length} more steps</summary><ol class="chain">${rest}</ol></details>`;
  return html`${list}${more}`;
}

/** `11 steps over 4 hosts, 2.3 s`. */
function chainWords(chain: readonly ReportHop[]): string {
  const hosts = new Set(chain.map(({ url }) => URL.parse(url)?.host)).size;
  const first = chain[0]?.at_ms ?? 0;
  const ms = (chain.at(-1)?.at_ms ?? 0) - first;
  if (chain.length < 2) return 'no redirect';
  return `${chain.length} steps over ${hosts} ${hosts === 1 ? 'host' : 'hosts'}, ${durationWords(ms)}`;
}

function showHop(hop: ReportHop, index: number, previous: ReportHop | null): Html {
  const how = previous && html`<p class="how">${howWords(hop, previous)}</p>`;
  return html`<li>${how}<div class="hop"><span class="number">${index + 1}</span><div class="step">${showUrl(hop.url)}
<p class="meta">${showStatus(hop.status_code)}${hop.content_type && html`<span>${hop.content_type}</span>`}<span>at ${durationWords(hop.at_ms)}</span></p></div></div></li>`;
}

/** The kind of navigation; an HTTP redirect is named by the status code of the previous step. */
function howWords({ kind }: ReportHop, previous: ReportHop): string {
  if (kind === 'http') return previous.status_code ? `HTTP ${previous.status_code}` : 'HTTP redirect';
  return kind === 'initial' ? 'opened' : HOPS[kind];
}

/** A status code with its name; `no response` for 0. */
export function showStatus(code: number): Html {
  const tone = code === 0 || code >= 400 ? 'bad' : code >= 300 ? 'moved' : 'good';
  return html`<span class="code ${tone}">${statusWords(code)}</span>`;
}
