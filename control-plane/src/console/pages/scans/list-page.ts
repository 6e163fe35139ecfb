import { isFinal, isFinished, SCAN_STATUSES } from '@adsweep/shared/scan/scan-status.ts';
import { ApiError } from '../../../http/api-error.ts';
import { type Html, html } from '../../../http/pages/html.ts';
import { countryName, durationWords, STATUSES } from '../../../scanning/reports/words.ts';
import { at } from '../../api/console-api.ts';
import type { Listed, Schemas } from '../../api/schemas.ts';
import { hidden, linkButton, selectField, textField } from '../../components/fields.ts';
import { NO_PROBLEMS, type Problems, problemsOf } from '../../components/problems.ts';
import { empty, pager, table, unread } from '../../components/tables.ts';
import { chip, short, showTime, statusChip } from '../../components/texts.ts';
import type { PageRoute, Visit } from '../../visit.ts';

type Brief = Schemas['ScanBrief'];
type Scans = Listed<Brief>;

const PER_PAGE = 50;
const NOTHING: Scans = { items: [], total: 0, page: 1, limit: PER_PAGE, pages: 0 };

/** The filters that have a field of their own; all others of the API are kept and shown. */
const FIELDS = ['status', 'url', 'country_code', 'tag', 'date_from', 'date_to'];
const PAGING = ['page', 'limit', 'cursor', 'done'];

/** The query of the API in the address of the page. */
export function queryOfPage(query: URLSearchParams, limit = PER_PAGE): URLSearchParams {
  const asked = new URLSearchParams([...query].filter(([name, value]) => name !== 'done' && value !== ''));
  if (!asked.has('limit')) asked.set('limit', String(limit));
  return asked;
}

/** The scans that match the API's query, which is that of the page: an address is a view. */
export const scanList: PageRoute = {
  method: 'GET',
  path: '/scans',
  handle: async (visit) => {
    const { api, may, link, query } = visit;
    if (!may('scans.read'))
      return {
        title: 'Scans',
        actions: newActions(visit),
        body: html`<p>This key may create scans but not see them.</p>`,
      };
    const [scans, problems] = await api
      .get<Scans>(at`/scans`, queryOfPage(query))
      .then((found): [Scans, Problems] => [found, NO_PROBLEMS])
      .catch((error: unknown): [Scans, Problems] => {
        const isOfFilters = error instanceof ApiError && [422, 504].includes(error.status);
        if (isOfFilters) return [NOTHING, problemsOf(error)];
        throw error;
      });
    const isFiltered = [...query.keys()].some((name) => !PAGING.includes(name));
    const all = linkButton('All scans', link('/scans'));
    const none =
      scans === NOTHING
        ? unread(all)
        : isFiltered
          ? empty('No scan matches', 'Other filters may find some.', all)
          : empty(
              'No scans yet',
              'A scan loads a page or an ad in a real browser and says what it does.',
              may('scans.write') && linkButton('New scan', link('/scans/new'), 'main'),
            );
    const list =
      scans.items.length === 0 ? none : html`${scanTable(visit, scans.items)}${pager(visit, '/scans', scans, 'scans')}`;
    return {
      title: 'Scans',
      actions: newActions(visit),
      problems,
      // What was refused would be refused again, or take as long.
      ...(scans !== NOTHING && { everySeconds: scans.items.some(({ status }) => !isFinal(status)) ? 5 : 30 }),
      body: html`${filters(visit, problems)}<section class="card flush" data-region="list">${list}</section>`,
    };
  },
};

const newActions = ({ may, link }: Visit): Html | false =>
  may('scans.write') &&
  html`${linkButton('Many at once', link('/scans/bulk'))}${linkButton('New scan', link('/scans/new'), 'main')}`;

function filters({ query, link }: Visit, problems: Problems): Html {
  const value = (name: string) => query.get(name);
  const zone = value('timezone') || 'UTC';
  const others = [...query].filter(([name, text]) => text !== '' && ![...FIELDS, ...PAGING].includes(name));
  const statuses = [
    { value: '', label: 'Any' },
    { value: 'pending,running,crawled,checking,rechecking', label: 'not finished' },
    ...SCAN_STATUSES.filter((one) => one !== 'crawled').map((one) => ({ value: one, label: STATUSES[one] })),
  ];
  const kept = others.map(([name, text]) => {
    const without = new URLSearchParams([...query].filter(([other]) => other !== name && other !== 'done'));
    return html`<li>${hidden(name, text)}<code>${name}</code> <bdi>${short(text, 60)}</bdi> <a href="${link('/scans', without)}" aria-label="Remove the filter ${name}">×</a></li>`;
  });
  return html`<form class="filters card" method="get" action="${link('/scans')}" role="search">
${selectField({ name: 'status', label: 'State', value: value('status'), options: statuses, problems })}
${textField({ name: 'url', label: 'Part of the URL', type: 'search', value: value('url'), problems })}
${textField({ name: 'country_code', label: 'Countries', value: value('country_code'), placeholder: 'US,DE', problems })}
${textField({ name: 'tag', label: 'Findings', value: value('tag'), placeholder: 'auto_redirect', problems })}
${textField({ name: 'date_from', label: `From (${zone})`, type: 'date', value: value('date_from'), problems })}
${textField({ name: 'date_to', label: `To (${zone})`, type: 'date', value: value('date_to'), problems })}
<div class="filter-buttons"><button class="button main">Filter</button>${query.size > 0 && html`<a class="button plain" href="${link('/scans')}">Clear</a>`}</div>
${kept.length > 0 && html`<ul class="kept">${kept}</ul>`}</form>`;
}

/** Rows whose pictures are loaded with the page; others are when they come into view. */
const AT_ONCE = 12;

/** The worst finding of a scan, and how many more it has. */
function showFindings({ tags: [worst, ...more], status }: Brief): Html | null {
  if (!worst) return isFinished(status) ? html`<span class="quiet">none</span>` : null;
  const names = more.map(({ display_name }) => short(display_name, 60)).join(', ');
  return html`<span class="one-line">${chip(worst.severity, short(worst.display_name, 40))}${more.length > 0 && html` <span class="quiet" title="${names}">+${more.length}<span class="unseen"> more: ${names}</span></span>`}</span>`;
}

/** Scans as rows, each with its picture. */
export function scanTable({ link, now }: Visit, scans: readonly Brief[]): Html {
  const rows = scans.map((scan, row) => [
    html`<a class="shot-cell" href="${link(`/scans/${scan.id}`)}" tabindex="-1" aria-hidden="true">${scan.screenshot_url !== '' && html`<img src="${link(`/scans/${scan.id}/thumbnail`, { of: pictureOf(scan) })}" alt="" loading="${row < AT_ONCE ? 'eager' : 'lazy'}" width="80" height="50">`}</a>`,
    html`<a class="row-link" href="${link(`/scans/${scan.id}`)}"><bdi>${short(targetWords(scan), 110)}</bdi></a><span class="meta">${kindWords(scan)}${scan.campaign_name !== null && html` · <bdi>${short(scan.campaign_name, 40)}</bdi>`}</span>`,
    statusChip(scan.status),
    showFindings(scan),
    html`${countryName(scan.country_code)}<span class="meta"><bdi>${scan.emulator_display_name}</bdi></span>`,
    scan.elapsed_ms > 0 ? durationWords(scan.elapsed_ms) : '',
    showTime(scan.created_at, now),
  ]);
  return table(
    'Scans',
    [
      { label: 'Picture', kind: 'unseen', width: 'picture' },
      { label: 'Target' },
      { label: 'State', width: 'chip' },
      { label: 'Findings', width: 'words' },
      { label: 'From', width: 'facts' },
      { label: 'Took', kind: 'number', width: 'duration' },
      { label: 'Requested', kind: 'number', width: 'moment' },
    ],
    rows,
  );
}

/** Which picture shows a scan best. */
const pictureOf = (scan: Pick<Brief, 'is_ad_tag' | 'is_vast' | 'ad_kind'>): string =>
  scan.is_ad_tag || scan.is_vast || (scan.ad_kind !== null && scan.ad_kind !== 'pop')
    ? 'creative-screenshot'
    : 'screenshot';

/** What was scanned, in a line. */
export const targetWords = ({ url, is_ad_tag, is_vast, network, network_host, slot_index }: Brief): string => {
  if (slot_index !== null) return `Ad ${slot_index + 1} on ${URL.parse(url)?.host ?? url}`;
  if (url !== '') return url.replace(/^https?:\/\//, '').replace(/\/$/, '');
  const by = network || network_host;
  return `${is_vast ? 'Video ad tag' : is_ad_tag ? 'Ad tag' : 'Target'}${by && ` of ${by}`}`;
};

const kindWords = (scan: Brief): string => {
  const kind =
    scan.slot_index !== null
      ? `${scan.ad_kind} found by a sweep`
      : scan.ad_discovery
        ? 'sweep'
        : scan.is_vast
          ? 'video ad tag'
          : scan.is_ad_tag
            ? 'ad tag'
            : 'page';
  return scan.repeat_total > 1 ? `${kind}, ${scan.repeat_index + 1} of ${scan.repeat_total}` : kind;
};
