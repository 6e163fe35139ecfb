import { type Html, html } from './html.ts';
import type { ReportHop } from './report.ts';
import { showUrl } from './show-url.ts';
import { durationWords, HOPS, statusWords } from './words.ts';

/** Steps beyond these are folded away: a loop can have hundreds. */
const SHOWN_MAX = 30;

/** A redirect chain, drawn as one: each step with how it came about. */
export function showChain(chain: readonly ReportHop[]): Html {
  const hops = chain.map((hop, index) => showHop(hop, index, chain[index - 1] ?? null));
  const rest = hops.slice(SHOWN_MAX);
  const list = html`<ol class="chain">${hops.slice(0, SHOWN_MAX)}</ol>`;
  if (rest.length === 0) return list;
  const more = html`<details class="rest"><summary>${rest.length} more steps</summary><ol class="chain">${rest}</ol></details>`;
  return html`${list}${more}`;
}

/** `11 steps over 4 hosts, 2.3 s`. */
export function chainWords(chain: readonly ReportHop[]): string {
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

/** An HTTP redirect is named by the code that the step before answered. */
function howWords({ kind }: ReportHop, previous: ReportHop): string {
  if (kind === 'http') return previous.status_code ? `HTTP ${previous.status_code}` : 'HTTP redirect';
  return kind === 'initial' ? 'opened' : HOPS[kind];
}

/** A status code with its name; `no answer` for 0. */
export function showStatus(code: number): Html {
  const tone = code === 0 || code >= 400 ? 'bad' : code >= 300 ? 'moved' : 'good';
  return html`<span class="code ${tone}">${statusWords(code)}</span>`;
}
