import { ApiError } from '../../http/api-error.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { countryName } from '../../scanning/reports/words.ts';
import { at } from '../api/console-api.ts';
import type { Listed, Schemas } from '../api/schemas.ts';
import { action, backTo, type Done } from '../components/actions.ts';
import { button, hidden, linkButton, selectField, textField } from '../components/fields.ts';
import { linkFor } from '../components/links.ts';
import { NO_PROBLEMS, type Problems, problemsOf } from '../components/problems.ts';
import { empty, pager, table, unread } from '../components/tables.ts';
import { agoWords, chip, counted, hostOf, number, short } from '../components/texts.ts';
import type { PageRoute, Visit } from '../visit.ts';

type Alert = Schemas['Alert'];
type Status = Alert['status'];
type Alerts = Listed<Alert>;

const STATUSES: Status[] = ['open', 'escalated', 'resolved', 'dismissed'];
const TONES: Record<Status, string> = { open: 'high', escalated: 'medium', resolved: 'clean', dismissed: 'off' };
const PER_PAGE = 50;
const NOTHING: Alerts = { items: [], total: 0, page: 1, limit: PER_PAGE, pages: 0 };

/** What can be decided about an alert, by its status, each with its key. */
const DECISIONS: { status: Status; label: string; key: string; done: Done; from: Status[] }[] = [
  { status: 'escalated', label: 'Escalate', key: 'e', done: 'escalated', from: ['open'] },
  { status: 'resolved', label: 'Resolve', key: 'r', done: 'resolved', from: ['open', 'escalated'] },
  { status: 'dismissed', label: 'Dismiss', key: 'd', done: 'dismissed', from: ['open', 'escalated'] },
  { status: 'open', label: 'Reopen', key: 'o', done: 'reopened', from: ['resolved', 'dismissed'] },
];

const CLOSED: Status[] = ['resolved', 'dismissed'];

/** The parameters of an address, or the fields of a form, but for those with these names. */
const without = (from: URLSearchParams, ...names: string[]) => [...from].filter(([name]) => !names.includes(name));

/** The filters of the API in the address; without a status, what is open, and with an empty one all. */
function queryOf(query: URLSearchParams): URLSearchParams {
  const asked = new URLSearchParams(without(query, 'done', 'undo', 'status').filter(([, value]) => value !== ''));
  asked.set('status', (query.get('status') ?? 'open') || STATUSES.join(','));
  asked.set('limit', String(PER_PAGE));
  return asked;
}

/** Alerts, to be decided one by one by keyboard, or many at once. */
export const alertList: PageRoute = {
  method: 'GET',
  path: '/alerts',
  handle: async (visit) => {
    const { api, query, may, link } = visit;
    const filters = new URLSearchParams(without(queryOf(query), 'status', 'limit', 'page'));
    const [[alerts, stats, problems], campaigns] = await Promise.all([
      Promise.all([
        api.get<Alerts>(at`/alerts`, queryOf(query)),
        api.get<Schemas['AlertStats']>(at`/alerts/stats`, filters),
      ])
        .then((found): [Alerts, Schemas['AlertStats'] | null, Problems] => [...found, NO_PROBLEMS])
        .catch((error: unknown): [Alerts, null, Problems] => {
          if (error instanceof ApiError && error.status === 422) return [NOTHING, null, problemsOf(error)];
          throw error;
        }),
      campaignNames(visit),
    ]);
    const body = html`${undo(visit)}${stats && tabs(visit, stats)}${filterForm(visit, campaigns, problems)}
<section class="card flush" data-region="alerts">${alerts === NOTHING ? unread(linkButton('Open alerts', link('/alerts'))) : alerts.items.length === 0 ? none(visit) : html`${alertTable(visit, alerts, campaigns)}${pager(visit, '/alerts', alerts, 'alerts')}`}</section>${KEYS}`;
    return {
      title: 'Alerts',
      everySeconds: 15,
      problems,
      actions: html`<button class="button plain" type="button" popovertarget="keys">Keys <kbd>?</kbd></button>${may('alerts.manage') && alerts.total > 0 && linkButton(`Decide all ${number(alerts.total)}`, link('/alerts/all', queryOf(query)))}`,
      body,
    };
  },
};

export async function campaignNames({ api, may }: Visit): Promise<Map<string, string>> {
  if (!may('campaigns.read')) return new Map();
  const picks = await api.ask<Schemas['CampaignPick'][]>(at`/campaigns/picker`);
  return new Map(picks.map(({ id, name }) => [id, name]));
}

const none = ({ query, link, may }: Visit): Html =>
  [...query].every(
    ([name, value]) => ['done', 'undo', 'page'].includes(name) || (name === 'status' && value === 'open'),
  )
    ? empty(
        'Nothing is open',
        'Alerts are raised when a scan of a campaign has what its policy set names.',
        may('policies.read') && linkButton('Policy sets', link('/policies')),
      )
    : empty('No alert matches', 'Other filters may find some.', linkButton('Open alerts', link('/alerts')));

function tabs({ query, link }: Visit, stats: Schemas['AlertStats']): Html {
  const current = query.get('status') ?? 'open';
  const to = (status: string) => {
    const other = new URLSearchParams(without(query, 'page', 'done', 'undo'));
    other.set('status', status);
    return link('/alerts', other);
  };
  const tab = (status: string, label: string, count: number) =>
    html`<li><a href="${to(status)}"${current === status && html` aria-current="true"`}>${label} <b>${number(count)}</b></a></li>`;
  return html`<nav aria-label="Status" data-region="stats"><ul class="tabs">${STATUSES.map((status) => tab(status, status, stats[status]))}</ul></nav>`;
}

function filterForm({ query, link }: Visit, campaigns: Map<string, string>, problems: Problems): Html {
  const value = (name: string) => query.get(name);
  const zone = value('timezone') || 'UTC';
  return html`<details class="card fold"${['campaign_id', 'tag', 'country_code', 'date_from', 'date_to', 'policy_set_id', 'scan_id'].some((name) => query.has(name)) && html` open`}><summary>Filters</summary><form class="filters" method="get" action="${link('/alerts')}">${hidden('status', value('status'))}${hidden('policy_set_id', value('policy_set_id'))}${hidden('scan_id', value('scan_id'))}${hidden('timezone', value('timezone'))}
${selectField({ name: 'campaign_id', label: 'Campaign', value: value('campaign_id'), options: [{ value: '', label: 'Any' }, ...[...campaigns].map(([id, name]) => ({ value: id, label: name }))], problems })}
${textField({ name: 'tag', label: 'Policy entry', value: value('tag'), placeholder: 'auto_redirect', problems })}
${textField({ name: 'country_code', label: 'Countries', value: value('country_code'), placeholder: 'US,DE', problems })}
${textField({ name: 'date_from', label: `From (${zone})`, type: 'date', value: value('date_from'), problems })}
${textField({ name: 'date_to', label: `To (${zone})`, type: 'date', value: value('date_to'), problems })}
<div class="filter-buttons"><button class="button main">Filter</button><a class="button plain" href="${link('/alerts')}">Clear</a></div></form></details>`;
}

function alertTable(visit: Visit, { items }: Alerts, campaigns: Map<string, string>): Html {
  const { link, may, query, now, token } = visit;
  const mayDecide = may('alerts.manage');
  const here = (undoable: string[]) =>
    link(
      '/alerts',
      new URLSearchParams([
        ...without(query, 'done', 'undo'),
        ...(undoable.length > 0 ? [['undo', undoable.join(',')]] : []),
      ]),
    );
  const rows = items.map((alert) => [
    mayDecide
      ? html`<input type="checkbox" form="bulk" name="ids" value="${alert.id}" aria-label="Select ${nameOf(alert)}">`
      : '',
    may('scans.read') &&
      html`<a class="shot-cell" href="${link(`/scans/${alert.scan_id}`)}" tabindex="-1" aria-hidden="true"><img src="${link(`/scans/${alert.scan_id}/screenshot`, { w: 160 })}" alt="" loading="lazy" width="80" height="50"></a>`,
    html`${linkFor(visit, 'scans.read', `/scans/${alert.scan_id}`, html`<bdi>${short(alert.tag_display_name, 80)}</bdi>`, 'row-link')}<span class="meta"><a href="${link('/alerts', { tag: alert.tag_slug, status: query.get('status') })}"><code>${short(alert.tag_slug, 40)}</code></a>${alert.matched_value !== null && html` <bdi>${short(alert.matched_value, 60)}</bdi>`}</span>`,
    html`<bdi>${short(campaigns.get(alert.campaign_id) ?? '', 40)}</bdi><span class="meta"><bdi>${short(hostOf(alert.offer_url || alert.scan_url) || 'a tag', 50)}</bdi></span>`,
    countryName(alert.country_code),
    html`<time datetime="${alert.created_at}" title="${alert.created_at}">${agoWords(alert.created_at, now)}</time>`,
    html`${chip(TONES[alert.status], alert.status)}`,
    mayDecide ? decisionsOf(visit, alert, here) : '',
  ]);
  const all = html`<input type="checkbox" data-selects="ids" aria-label="Select all on this page">`;
  const columns = [
    { label: 'Select', kind: 'unseen' as const },
    { label: 'Picture', kind: 'unseen' as const },
    { label: 'Finding' },
    { label: 'Campaign' },
    { label: 'Country' },
    { label: 'Raised' },
    { label: 'Status' },
    { label: 'Decide', kind: 'unseen' as const },
  ];
  const bulk = html`<form id="bulk" class="bulk-bar" method="post" action="${link('/alerts/selected')}">${token()}${hidden('back', here([]))}${hidden('open', items.flatMap(({ id, status }) => (status === 'open' ? id : [])).join(','))}<label class="choice">${all}<span>all on this page</span></label>${DECISIONS.filter(({ from }) => items.some(({ status }) => from.includes(status))).map(({ label, status }) => button(label, { name: 'status', value: status, tone: 'plain' }))}<span class="quiet">what is selected</span></form>`;
  return html`${mayDecide && bulk}${table('Alerts', columns, rows, (row) => html` data-row="${items[row]!.id}"`)}`;
}

/** What a row is about, in a line. An alert is raised once for each scan and entry of a policy set. */
const nameOf = ({ tag_display_name, offer_url, scan_url, country_code, scan_id }: Alert): string =>
  `${short(tag_display_name, 40)}, ${short(hostOf(offer_url || scan_url) || 'a tag', 20)}, ${country_code}, ${scan_id.slice(0, 8)}`;

const decisionsOf = (visit: Visit, alert: Alert, here: (undo: string[]) => string): Html => {
  const { id, status } = alert;
  return html`<div class="decisions">${DECISIONS.filter(({ from }) => from.includes(status)).map(
    ({ label, key, done, status: next }) =>
      action(visit, {
        label,
        method: 'PATCH',
        path: at`/alerts/${id}/status`,
        body: { status: next },
        done,
        key,
        back: here(status === 'open' && CLOSED.includes(next) ? [id] : []),
        of: nameOf(alert),
      }),
  )}</div>`;
};

/** Takes back the last decision: what was open, and then resolved or dismissed, is open again. */
function undo(visit: Visit): Html | null {
  const { query, link } = visit;
  const ids = (query.get('undo') ?? '').split(',').filter((id) => /^[\w-]{1,100}$/.test(id));
  if (ids.length === 0 || !visit.may('alerts.manage')) return null;
  const back = link('/alerts', new URLSearchParams(without(query, 'done', 'undo')));
  return html`<div class="undo">${action(visit, { label: html`Undo ${ids.length > 1 && `all ${ids.length}`} <kbd>u</kbd>`, method: 'POST', path: at`/alerts/bulk-status`, body: { status: 'open', ids }, done: 'reopened', back, key: 'u' })}</div>`;
}

/** Decides about the selected alerts. */
export const decideSelected: PageRoute = {
  method: 'POST',
  path: '/alerts/selected',
  handle: async (visit) => {
    const { api, form } = visit;
    const ids = form.getAll('ids');
    if (ids.length === 0) return { redirect: backTo(visit, {}) };
    const status = form.get('status') ?? '';
    const done = DECISIONS.find((one) => one.status === status)?.done ?? 'saved';
    await api.send('POST', at`/alerts/bulk-status`, { status, ids });
    const wereOpen = (form.get('open') ?? '').split(',');
    const undo = CLOSED.some((one) => one === status) ? ids.filter((id) => wereOpen.includes(id)).join(',') : '';
    return { redirect: backTo(visit, { done, ...(undo !== '' && { undo }) }) };
  },
};

/** The statuses that a view names. */
const statusesIn = (text: string | null): Status[] => {
  const named = (text ?? '').split(',').map((one) => one.trim());
  return STATUSES.filter((status) => named.includes(status));
};

/** How many alerts the filters match, before all of them are decided. */
export const decideAll: PageRoute = {
  method: 'GET',
  path: '/alerts/all',
  handle: async (visit) => {
    const { api, query, link, token } = visit;
    const named = without(queryOf(query), 'limit', 'page');
    const filters = new URLSearchParams(named.filter(([name]) => name !== 'status'));
    const stats = await api.get<Schemas['AlertStats']>(at`/alerts/stats`, filters);
    const statuses = statusesIn(new URLSearchParams(named).get('status'));
    const countOf = (counted: Status[]) => counted.reduce((sum, status) => sum + stats[status], 0);
    const total = countOf(statuses);
    const buttons = DECISIONS.map((decision) => ({
      ...decision,
      of: statuses.filter((one) => decision.from.includes(one)),
    }))
      .filter(({ of }) => of.length > 0)
      .map(({ label, status: next, of }) =>
        button(`${label} all ${number(countOf(of))}`, {
          name: 'next',
          value: next,
          tone: next === 'resolved' ? 'main' : 'plain',
        }),
      );
    const body = html`<form class="form" method="post" action="${link('/alerts/all')}">${token()}${named.map(([name, value]) => hidden(name, value))}<section class="card"><h2>${counted(total, 'alert')} match</h2>
<ul class="kept">${named.map(([name, value]) => html`<li><code>${name}</code> <bdi>${short(value, 60)}</bdi></li>`)}</ul>
<p>All of them change at once, also those that are raised until you decide. At most 10,000 in one step.</p><div class="buttons">${buttons}${linkButton('Cancel', link('/alerts', query))}</div></section></form>`;
    return { title: 'Decide all', above: html`<a href="${link('/alerts')}">Alerts</a>`, body };
  },
};

export const decideAllNow: PageRoute = {
  method: 'POST',
  path: '/alerts/all',
  handle: async ({ api, form, link }) => {
    const list = (name: string) =>
      form
        .get(name)
        ?.split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '') ?? [];
    const decision = DECISIONS.find((one) => one.status === form.get('next'));
    if (!decision) throw new ApiError('not_found', 'There is no such decision.');
    const filter = {
      ...(form.has('scan_id') && { filter_scan_id: form.get('scan_id') }),
      ...(form.has('campaign_id') && { filter_campaign_id: form.get('campaign_id') }),
      ...(form.has('tag') && { filter_tag_slugs: list('tag') }),
      ...(form.has('policy_set_id') && { filter_policy_set_ids: list('policy_set_id') }),
      ...(form.has('country_code') && { filter_country_codes: list('country_code') }),
      ...(form.has('date_from') && { filter_date_from: form.get('date_from') }),
      ...(form.has('date_to') && { filter_date_to: form.get('date_to') }),
      ...((form.has('date_from') || form.has('date_to')) && { filter_timezone: form.get('timezone') ?? 'UTC' }),
    };
    // The API filters by one status, and a view may have several.
    for (const filter_status of statusesIn(form.get('status')).filter((one) => decision.from.includes(one)))
      await api.send('POST', at`/alerts/bulk-status`, {
        status: decision.status,
        all_matching: true,
        filter_status,
        ...filter,
      });
    const view = without(form, 'token', 'next');
    return { redirect: link('/alerts', new URLSearchParams([...view, ['done', decision.done]])) };
  },
};

const KEYS = html`<div id="keys" class="keys-popover" popover><h2>Keys</h2><dl>
<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous</dd><dt><kbd>e</kbd></dt><dd>escalate</dd><dt><kbd>r</kbd></dt><dd>resolve</dd><dt><kbd>d</kbd></dt><dd>dismiss</dd><dt><kbd>o</kbd></dt><dd>reopen</dd><dt><kbd>x</kbd></dt><dd>select</dd><dt><kbd>u</kbd></dt><dd>undo</dd><dt><kbd>Enter</kbd></dt><dd>open the scan</dd><dt><kbd>?</kbd></dt><dd>these keys</dd></dl><label class="choice"><input type="checkbox" id="keys-off"><span>Switch off all keys but <kbd>Enter</kbd><small>For speech input, and where they get in the way. This browser remembers it.</small></span></label></div>`;
