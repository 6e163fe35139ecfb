import { isFinished } from '@adsweep/shared/scan/scan-status.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { ByteBudget, showLeftOut } from './byte-budget.ts';
import type { Report, ReportCreative, ReportRequest } from './report.ts';
import { showStatus } from './show-landings.ts';
import { showUrl } from './show-url.ts';

/** Requested width in pixels. Most creatives are narrower and are sent in their original size. */
const PICTURE_WIDTH = 1_000;
/** Characters of a request's URL that are shown: there are many requests. */
const URL_MAX = 90;
/** The bytes for all requests. */
const REQUESTS_BYTES = 80_000;

/** The creative at its size. */
export function showCreative(report: Report): Html | null {
  const { token, creative } = report;
  if (!creative) return null;
  const words = interactiveWords(creative, report);
  return html`<figure class="card creative"><h2>Creative <span class="count">${sizeWords(creative)}</span></h2>${showPicture(token, creative)}
${words !== null && html`<figcaption>${words}</figcaption>`}</figure>`;
}

function showPicture(token: string, { picture, width, height }: ReportCreative): Html {
  if (!picture) return html`<p class="no-shot">There is no screenshot</p>`;
  const path = `${token}/creative-screenshot`;
  return html`<a class="creative-shot" href="${path}"><img src="${path}?w=${PICTURE_WIDTH}" width="${width}" height="${height}" alt="Screenshot of the creative"></a>`;
}

const sizeWords = ({ width, height }: ReportCreative): string =>
  width === 0 ? 'nothing was rendered' : `${width} × ${height} pixels`;

/** null: there is nothing to say. */
const interactiveWords = (
  { width, interactive }: ReportCreative,
  { landings, status }: Pick<Report, 'landings' | 'status'>,
): string | null => {
  if (width === 0) return 'It loaded, but showed nothing visible.';
  if (landings.length === 0) return isFinished(status) ? 'No click on it opened anything.' : null;
  if (interactive === null) return null;
  return interactive
    ? 'Interactive: some of its buttons or links open nothing.'
    : 'All of its buttons and links that were tried open the landing.';
};

/** The requests of the creative, as trees by initiator. */
export function showRequests({ creative }: Report): Html | null {
  if (!creative || creative.requests.length === 0) return null;
  const { requests, left_out } = creative;
  const budget = new ByteBudget(REQUESTS_BYTES);
  const tree = requests.map((request) => showRequest(request, budget));
  const more = showLeftOut(left_out + budget.leftOut, 'more are');
  return html`<section class="card" id="requests"><h2>What the creative loaded <span class="count">${count(requests) + left_out}</span></h2><ul class="tree">${tree}</ul>${more}</section>`;
}

/** A request with those that it caused; of these, only those that the budget allows. */
function showRequest({ url, type, status_code, requests }: ReportRequest, budget: ByteBudget): Html | null {
  const own = budget.draw(() => {
    const address = url === '' ? html`<bdi class="url">the publisher page</bdi>` : showUrl(url, URL_MAX);
    return html`${address}<p class="meta"><span>${type}</span>${url !== '' && showStatus(status_code)}</p>`;
  });
  const caused = requests.map((request) => showRequest(request, budget)).filter((drawn) => drawn !== null);
  return own && html`<li>${own}${caused.length > 0 && html`<ul class="branch">${caused}</ul>`}</li>`;
}

function count(requests: readonly ReportRequest[]): number {
  return requests.reduce((sum, { url, requests: inner }) => sum + (url === '' ? 0 : 1) + count(inner), 0);
}
