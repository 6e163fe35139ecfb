import { isFinished } from '@adsweep/shared/scan/scan-status.ts';
import { ApiError } from '../../../http/api-error.ts';
import { type Html, html } from '../../../http/pages/html.ts';
import { showCreative } from '../../../scanning/reports/show-creative.ts';
import { showMainChain, showPicture } from '../../../scanning/reports/show-landings.ts';
import { showUrl } from '../../../scanning/reports/show-url.ts';
import { verdictOf } from '../../../scanning/reports/verdict.ts';
import { STATUSES } from '../../../scanning/reports/words.ts';
import { textField } from '../../components/fields.ts';
import { NO_PROBLEMS, type Problems, problemsOf } from '../../components/problems.ts';
import { facts } from '../../components/tables.ts';
import { shortId, showTime } from '../../components/texts.ts';
import type { Page, PageRoute, Visit } from '../../visit.ts';
import { reportOfScan, type ScanAnswers } from './report-of-scan.ts';
import { readAnswers } from './scan-page.ts';

const NAMES = ['a', 'b'];

/** Two scans side by side. */
export const comparePage: PageRoute = {
  method: 'GET',
  path: '/scans/compare',
  handle: async (visit) => {
    const ids = NAMES.map((name) => (visit.query.get(name) ?? '').trim());
    if (ids.some((id) => id === '')) return pageOf(visit, ids, null);
    const both = await Promise.all(ids.map((id) => readAnswers(visit, id).catch(nullIfMissing)));
    const missing = NAMES.filter((_, index) => both[index] === null);
    if (missing.length > 0) {
      const detail = missing.map((name) => ({
        loc: ['query', name],
        msg: 'There is no such scan.',
        type: 'not_found',
        ctx: {},
      }));
      return { ...pageOf(visit, ids, null, problemsOf({ code: 'not_found', detail })), status: 404 };
    }
    const [one, other] = both as [ScanAnswers, ScanAnswers];
    const columns = [compared(visit, one, tagsOnlyOf(one, other)), compared(visit, other, tagsOnlyOf(other, one))];
    return pageOf(visit, ids, html`<div class="columns-2 equal">${columns}</div>`);
  },
};

/** What a person typed stays, so that a wrong id can be mended. */
function nullIfMissing(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null;
  throw error;
}

function pageOf({ link }: Visit, ids: string[], body: Html | null, problems: Problems = NO_PROBLEMS): Page {
  const form = html`<form class="filters card" method="get" action="${link('/scans/compare')}">${NAMES.map((name, index) => textField({ name, label: index === 0 ? 'One scan' : 'The other', value: ids[index]!, placeholder: 'id of a scan', problems }))}<div class="filter-buttons"><button class="button main">Compare</button></div></form>`;
  return {
    title: 'Compare two scans',
    above: html`<a href="${link('/scans')}">Scans</a>`,
    problems,
    body: html`${form}${body}`,
  };
}

/** The tags that only the first of two scans has. */
const tagsOnlyOf = (one: ScanAnswers, other: ScanAnswers): Set<string> =>
  new Set(one.tags.map(({ tag_slug }) => tag_slug)).difference(new Set(other.tags.map(({ tag_slug }) => tag_slug)));

function compared({ link, now }: Visit, answers: ScanAnswers, only: ReadonlySet<string>): Html {
  const { scan, tags } = answers;
  const report = reportOfScan(answers);
  const found = [...Map.groupBy(tags, (tag) => tag.tag_slug).values()].map(
    ([tag, ...more]) =>
      tag &&
      html`<li class="chip ${tag.severity}"><bdi>${tag.display_name}</bdi>${more.length > 0 && ` × ${more.length + 1}`}${only.has(tag.tag_slug) && html` <small>only here</small>`}</li>`,
  );
  return html`<div class="stack"><section class="card"><h2><a href="${link(`/scans/${scan.id}`)}">${verdictOf(report).title}</a></h2>${facts(
    [
      ['Target', scan.url === '' ? 'a tag' : showUrl(scan.url, 80)],
      ['Landing', scan.offer_url === '' ? 'none' : showUrl(scan.offer_url, 80)],
      ['Country and device', `${report.country}, ${report.device}`],
      ['Requested', showTime(scan.created_at, now)],
      ['Redirects', String(Math.max(0, scan.redirect_chain.length - 1))],
      ['Id', shortId(scan.id)],
    ],
  )}<ul class="chips">${found.length > 0 ? found : html`<li class="quiet">${isFinished(scan.status) ? 'No findings' : STATUSES[scan.status]}</li>`}</ul></section>${showCreative(report) ?? showPicture(report)}${showMainChain(report, null)}</div>`;
}
