import { isFinished } from '@adsweep/shared/scan/scan-status.ts';
import { type Html, html } from '../../../http/pages/html.ts';
import { showCreative } from '../../../scanning/reports/show-creative.ts';
import { showMainChain, showPicture } from '../../../scanning/reports/show-landings.ts';
import { showUrl } from '../../../scanning/reports/show-url.ts';
import { verdictOf } from '../../../scanning/reports/verdict.ts';
import { STATUSES } from '../../../scanning/reports/words.ts';
import { textField } from '../../components/fields.ts';
import { facts } from '../../components/tables.ts';
import { shortId, showTime } from '../../components/texts.ts';
import type { PageRoute, Visit } from '../../visit.ts';
import { reportOfScan, type ScanAnswers } from './report-of-scan.ts';
import { readAnswers } from './scan-page.ts';

/** Two scans side by side. */
export const comparePage: PageRoute = {
  method: 'GET',
  path: '/scans/compare',
  handle: async (visit) => {
    const { query, link } = visit;
    const ids = ['a', 'b'].map((name) => (query.get(name) ?? '').trim());
    const form = html`<form class="filters card" method="get" action="${link('/scans/compare')}">${['a', 'b'].map((name, index) => textField({ name, label: index === 0 ? 'One scan' : 'The other', value: ids[index]!, placeholder: 'id of a scan' }))}<div class="filter-buttons"><button class="button main">Compare</button></div></form>`;
    if (ids.some((id) => id === ''))
      return { title: 'Compare two scans', above: html`<a href="${link('/scans')}">Scans</a>`, body: form };
    const both = await Promise.all(ids.map((id) => readAnswers(visit, id)));
    const slugs = [...new Set(both.flatMap(({ tags }) => tags.map(({ tag_slug }) => tag_slug)))];
    const differing = both.map((one, index) =>
      slugs.filter(
        (slug) =>
          one.tags.some((tag) => tag.tag_slug === slug) && !both[1 - index]!.tags.some((tag) => tag.tag_slug === slug),
      ),
    );
    const columns = both.map((one, index) => compared(visit, one, new Set(differing[index])));
    return {
      title: 'Compare two scans',
      above: html`<a href="${link('/scans')}">Scans</a>`,
      body: html`${form}<div class="columns-2 equal">${columns}</div>`,
    };
  },
};

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
