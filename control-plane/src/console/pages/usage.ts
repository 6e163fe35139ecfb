import { DAY_MS } from '@adsweep/shared/durations.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { at } from '../api/console-api.ts';
import type { Listed, Schemas } from '../api/schemas.ts';
import { linkButton, textField } from '../components/fields.ts';
import { linkFor } from '../components/links.ts';
import { NO_PROBLEMS, type Problems, problemsOf } from '../components/problems.ts';
import { card, empty, pager, table, tile } from '../components/tables.ts';
import { money, number, shortId, showTime } from '../components/texts.ts';
import type { PageRoute, Visit } from '../visit.ts';

type Day = Schemas['UsageOfDay'];

const KINDS: Record<Day['kind'], { label: string; group: string }> = {
  url: { label: 'pages', group: 'of-documents' },
  ad_tag: { label: 'ad tags', group: 'of-scripts' },
  vast_tag: { label: 'video ad tags', group: 'of-calls' },
  ad_discovery: { label: 'sweeps', group: 'of-pictures' },
  discovered_ad: { label: 'ads of sweeps', group: 'of-media' },
};
const DAYS_SHOWN = 30;
const ROWS_MAX = 200;

const daysOf = ({ query, now }: Visit): { date_from: string; date_to: string } => ({
  date_from: query.get('date_from') || new Date(now.getTime() - (DAYS_SHOWN - 1) * DAY_MS).toISOString().slice(0, 10),
  date_to: query.get('date_to') || now.toISOString().slice(0, 10),
});

/** All rows of the days, in the pages in which the API has them. */
async function readDays({ api }: Visit, range: { date_from: string; date_to: string }): Promise<Day[]> {
  const first = await api.get<Listed<Day>>(at`/billing/usage/daily`, { ...range, limit: ROWS_MAX });
  const rest = Array.from({ length: Math.max(0, first.pages - 1) }, (_, index) =>
    api.get<Listed<Day>>(at`/billing/usage/daily`, { ...range, limit: ROWS_MAX, page: index + 2 }),
  );
  return [first, ...(await Promise.all(rest))].flatMap(({ items }) => items);
}

/** Usage by day and kind, the balance, and the ledger. */
export const usagePage: PageRoute = {
  method: 'GET',
  path: '/usage',
  handle: async (visit) => {
    const { api, link, query } = visit;
    const range = daysOf(visit);
    const [[days, problems], billing, summary, ledger] = await Promise.all([
      readDays(visit, range)
        .then((found): [Day[], Problems] => [found, NO_PROBLEMS])
        .catch((error: unknown): [null, Problems] => {
          if (error instanceof ApiError && error.status === 422) return [null, problemsOf(error)];
          throw error;
        }),
      api.get<Schemas['Billing']>(at`/billing`),
      api.get<Schemas['UsageSummary']>(at`/billing/usage/summary`),
      api.get<Listed<Schemas['Ledger']>>(at`/billing/history`, { limit: 15, page: query.get('page') }),
    ]);
    const quota =
      billing.checks_per_period === null
        ? 'checks this month'
        : `of ${number(billing.checks_per_period)} checks this month`;
    const form = html`<form class="filters card" method="get" action="${link('/usage')}">${textField({ name: 'date_from', label: 'From (UTC)', type: 'date', value: range.date_from, problems })}${textField({ name: 'date_to', label: 'To (UTC)', type: 'date', value: range.date_to, problems })}<div class="filter-buttons"><button class="button main">Show</button></div></form>`;
    return {
      title: 'Usage',
      problems,
      actions: linkButton('CSV', link('/usage.csv', range)),
      body: html`<div class="tiles">${tile(number(billing.checks_used), quota)}${tile(money(summary.charged_micros), 'charged this month')}${tile(money(billing.balance_micros), 'balance', { tone: billing.can_create_scan ? '' : 'high' })}${tile(money(billing.price_per_extra_check_micros), 'a check')}</div>${form}${days && html`${chart(days, range)}${dayTable(days)}`}
<section class="card flush"><h2>Ledger <span class="count">${number(ledger.total)}</span></h2>${ledgerTable(visit, ledger)}</section>`,
    };
  },
};

const HEIGHT = 150;

function chart(days: readonly Day[], { date_from, date_to }: { date_from: string; date_to: string }): Html {
  const [first, last] = [Date.parse(date_from), Date.parse(date_to)];
  const count = Math.min(370, Math.max(1, Math.round((last - first) / DAY_MS) + 1));
  const of = Map.groupBy(days, ({ date }) => date);
  const sums = Array.from({ length: count }, (_, index) => {
    const date = new Date(first + index * DAY_MS).toISOString().slice(0, 10);
    return {
      date,
      rows: of.get(date) ?? [],
      checks: (of.get(date) ?? []).reduce((sum, { checks }) => sum + checks, 0),
    };
  });
  const most = Math.max(1, ...sums.map(({ checks }) => checks));
  const width = 100 / count;
  const bars = sums.map(({ date, rows, checks }, index) => {
    let top = HEIGHT;
    const parts = rows.map(({ kind, checks: own }) => {
      const height = (HEIGHT * own) / most;
      top -= height;
      return html`<rect class="${KINDS[kind]?.group ?? 'of-others'}" x="${(index * width + width * 0.1).toFixed(3)}%" y="${top.toFixed(1)}" width="${(width * 0.8).toFixed(3)}%" height="${height.toFixed(1)}"/>`;
    });
    return html`<g><title>${date}: ${number(checks)} checks</title>${parts}</g>`;
  });
  const kinds = [...new Set(days.map(({ kind }) => kind))];
  const legend = kinds.map(
    (kind) => html`<span class="${KINDS[kind]?.group ?? 'of-others'}"><i></i>${KINDS[kind]?.label ?? kind}</span>`,
  );
  const total = sums.reduce((sum, { checks }) => sum + checks, 0);
  return card(
    'Checks by day',
    html`<p class="legend">${legend}</p><svg class="chart" width="100%" height="180" role="img" aria-label="Checks by day and kind, the numbers are in the table below"><rect class="line" y="${HEIGHT}" width="100%" height="1"/>${bars}<text x="0" y="${HEIGHT + 18}">${date_from}</text><text x="100%" y="${HEIGHT + 18}" text-anchor="end">${date_to}</text><text x="0" y="10">${number(most)}</text></svg>`,
    { count: `${number(total)} in all` },
  );
}

function dayTable(days: readonly Day[]): Html {
  const rows = days.map(({ date, kind, checks, charged_micros, refunds, refunded_micros }) => [
    date,
    KINDS[kind]?.label ?? kind,
    number(checks),
    money(charged_micros),
    number(refunds),
    money(refunded_micros),
  ]);
  const columns = [
    { label: 'Day' },
    { label: 'Kind' },
    ...['Checks', 'Charged', 'Refunds', 'Refunded'].map((label) => ({ label, kind: 'number' as const })),
  ];
  return html`<details class="card fold"><summary>The numbers</summary>${rows.length > 0 ? table('Usage by day and kind', columns, rows) : html`<p class="quiet">Nothing was charged in these days.</p>`}</details>`;
}

function ledgerTable(visit: Visit, ledger: Listed<Schemas['Ledger']>): Html {
  if (ledger.items.length === 0) return empty('No entries', 'Charges, refunds and credits are listed here.');
  const rows = ledger.items.map((one) => [
    html`<code>${one.type}</code><span class="meta"><bdi>${one.description}</bdi></span>`,
    one.reference_kind === 'scan' && one.reference_id !== null
      ? linkFor(visit, 'scans.read', `/scans/${one.reference_id}`, html`scan ${shortId(one.reference_id)}`)
      : '',
    html`<span class="${one.amount_micros < 0 ? '' : 'good-text'}">${one.amount_micros > 0 && '+'}${money(one.amount_micros)}</span>`,
    money(one.balance_after_micros),
    showTime(one.created_at, visit.now),
  ]);
  return html`${table('Ledger', [{ label: 'Entry' }, { label: 'For' }, { label: 'Amount', kind: 'number' }, { label: 'Balance', kind: 'number' }, { label: 'When', kind: 'number' }], rows)}${pager(visit, '/usage', ledger, 'entries')}`;
}

/** What the page of usage shows, as CSV (RFC 4180). */
export const usageCsv: PageRoute = {
  method: 'GET',
  path: '/usage.csv',
  handle: async (visit) => {
    const days = await readDays(visit, daysOf(visit));
    const lines = days.map(({ date, kind, checks, charged_micros, refunds, refunded_micros }) =>
      [date, kind, checks, charged_micros, refunds, refunded_micros].join(','),
    );
    const body = ['date,kind,checks,charged_micros,refunds,refunded_micros', ...lines, ''].join('\r\n');
    return {
      answer: {
        status: 200,
        body,
        type: 'text/csv; charset=utf-8',
        headers: { 'Content-Disposition': 'attachment; filename="usage.csv"' },
      },
    };
  },
};
