import { DAY_MS } from '@adsweep/shared/durations.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Html, html, type Inserted } from '../../http/pages/html.ts';
import { showUrl } from '../../scanning/reports/show-url.ts';
import { countryName } from '../../scanning/reports/words.ts';
import { at } from '../api/console-api.ts';
import { itemsOf, type Listed, type Schemas } from '../api/schemas.ts';
import { action } from '../components/actions.ts';
import { linkButton, selectField, textField } from '../components/fields.ts';
import { linkFor } from '../components/links.ts';
import { card, empty, facts, pager, table } from '../components/tables.ts';
import { agoWords, chip, counted, number, short, showTime } from '../components/texts.ts';
import type { PageRoute, Visit } from '../visit.ts';
import { CAMPAIGN_TYPES } from './campaign-form.ts';
import { DAYS, scheduleCard } from './campaign-schedule.ts';
import { queryOfPage } from './scans/list-page.ts';
import { CATEGORY_WORDS } from './scans/new-page.ts';

type Campaign = Schemas['Campaign'];
type Run = Schemas['Run'];

/** Campaigns, with when each runs next. */
export const campaignList: PageRoute = {
  method: 'GET',
  path: '/campaigns',
  handle: async (visit) => {
    const { api, query, link, may, now } = visit;
    const [campaigns, groups] = await Promise.all([
      api.get<Listed<Campaign>>(at`/campaigns`, queryOfPage(query)),
      api.ask<Schemas['CampaignGroup'][] | Listed<Schemas['CampaignGroup']>>(at`/campaign-groups`).then(itemsOf),
    ]);
    const rows = campaigns.items.map((one) => [
      html`<a class="row-link" href="${link(`/campaigns/${one.id}`)}"><bdi>${short(one.name, 80)}</bdi></a><span class="meta"><bdi>${short(one.url || CAMPAIGN_TYPES[one.campaign_type], 60)}</bdi></span>`,
      html`<bdi>${groups.find(({ id }) => id === one.group_id)?.name ?? ''}</bdi>`,
      countryWords(one.country_codes),
      one.last_run_at === null ? html`<span class="quiet">never</span>` : agoWords(one.last_run_at, now),
      one.next_run_at === null ? html`<span class="quiet">not scheduled</span>` : agoWords(one.next_run_at, now),
      one.last_schedule_problem !== null ? chip('medium', 'skipped') : one.is_archived ? chip('off', 'archived') : '',
    ]);
    const isFiltered = ['q', 'group_id', 'archived'].some((name) => (query.get(name) ?? '') !== '');
    const none = isFiltered
      ? empty('No campaign matches', 'Other filters may find some.', linkButton('All campaigns', link('/campaigns')))
      : empty(
          'No campaigns',
          'A campaign scans its target again and again, in its countries and on its devices, and raises alerts.',
          may('campaigns.write') && linkButton('New campaign', link('/campaigns/new'), 'main'),
        );
    const form = html`<form class="filters card" method="get" action="${link('/campaigns')}" role="search">${textField({ name: 'q', label: 'Part of the name', type: 'search', value: query.get('q') })}
${selectField({ name: 'group_id', label: 'Group', value: query.get('group_id'), options: [{ value: '', label: 'Any' }, ...groups.map(({ id, name }) => ({ value: id, label: name }))] })}
${selectField({
  name: 'archived',
  label: 'Archived',
  value: query.get('archived'),
  options: [
    { value: '', label: 'No' },
    { value: 'true', label: 'Yes' },
  ],
})}<div class="filter-buttons"><button class="button main">Filter</button></div></form>`;
    const columns = [
      { label: 'Campaign' },
      { label: 'Group' },
      { label: 'Countries' },
      { label: 'Last run' },
      { label: 'Next run' },
      { label: 'State', kind: 'unseen' as const },
    ];
    return {
      title: 'Campaigns',
      everySeconds: 30,
      actions: may('campaigns.write') && linkButton('New campaign', link('/campaigns/new'), 'main'),
      body: html`${form}<section class="card flush" data-region="campaigns">${rows.length === 0 ? none : html`${table('Campaigns', columns, rows)}${pager(visit, '/campaigns', campaigns, 'campaigns')}`}</section>${groupCard(visit, groups)}`,
    };
  },
};

const countryWords = (codes: readonly string[]): string =>
  codes.length <= 3 ? codes.map(countryName).join(', ') : counted(codes.length, 'country', 'countries');

/** An organization may have a thousand groups. */
const GROUPS_SHOWN = 50;

function groupCard(visit: Visit, groups: Schemas['CampaignGroup'][]): Html | null {
  const { may, link, query } = visit;
  const back = link('/campaigns');
  if (groups.length < 2 && !may('campaigns.write')) return null;
  const chosen = query.get('group_id') || null;
  const active = groups.filter(({ id, is_archived }) => !is_archived && (chosen === null || id === chosen));
  const rows = active
    .slice(0, GROUPS_SHOWN)
    .map(({ id, name, campaign_count, schedule_paused, last_run_at }) => [
      html`<a href="${link('/campaigns', { group_id: id })}"><bdi>${name}</bdi></a>${schedule_paused && html` ${chip('medium', 'schedules paused')}`}`,
      number(campaign_count),
      last_run_at === null ? 'never' : showTime(last_run_at, visit.now),
      may('campaigns.write') &&
        html`<div class="decisions">${action(visit, { label: 'Run all', method: 'POST', path: at`/campaign-groups/${id}/run`, done: 'started', back, asks: `Start a run of each of the ${number(campaign_count)} campaigns? They are charged.`, of: name })}${schedule_paused ? action(visit, { label: 'Resume schedules', method: 'POST', path: at`/campaign-groups/${id}/resume-schedule`, done: 'resumed', back, of: name }) : action(visit, { label: 'Pause schedules', method: 'POST', path: at`/campaign-groups/${id}/pause-schedule`, done: 'paused', back, of: name })}</div>`,
    ]);
  return html`<section class="card flush"><h2>Groups</h2>${table('Groups', [{ label: 'Group' }, { label: 'Campaigns', kind: 'number' }, { label: 'Last run', kind: 'number' }, { label: 'Actions', kind: 'unseen' }], rows)}${active.length > rows.length && html`<div class="pager"><span class="quiet">The newest ${number(rows.length)} of ${number(active.length)} groups. The filter shows any other one.</span></div>`}</section>`;
}

/** A campaign: what it scans, when it runs, and its runs. */
export const campaignPage: PageRoute = {
  method: 'GET',
  path: '/campaigns/{id}',
  handle: async (visit) => {
    const { api, params, link, may, query } = visit;
    const id = params.id!;
    const [campaign, runs, changes, weeks] = await Promise.all([
      api.get<Campaign>(at`/campaigns/${id}`),
      api.get<Listed<Run>>(at`/campaigns/${id}/runs`, { limit: 25, page: query.get('page') }),
      api.get<Listed<Schemas['ChangedScan']>>(at`/campaigns/${id}/changes`, { limit: 8 }),
      // The calendar is no region that is read again.
      visit.openSeconds === 0 ? readWeeks(visit, id) : null,
    ]);
    // Nor is what the campaign scans.
    const policySet = visit.openSeconds === 0 ? await policySetWords(visit, campaign) : '';
    const back = link(`/campaigns/${id}`);
    const actions =
      may('campaigns.write') &&
      html`${campaign.is_archived ? action(visit, { label: 'Restore', method: 'POST', path: at`/campaigns/${id}/unarchive`, done: 'restored', back }) : html`${action(visit, { label: 'Archive', method: 'POST', path: at`/campaigns/${id}/archive`, done: 'archived', back, asks: 'Archive this campaign? It runs no more until it is restored.' })}${linkButton('Change', link(`/campaigns/${id}/edit`))}${action(visit, { label: 'Run now', method: 'POST', path: at`/campaigns/${id}/run`, done: 'started', back, tone: 'main' })}`}`;
    return {
      title: campaign.name,
      above: html`<a href="${link('/campaigns')}">Campaigns</a>`,
      actions,
      everySeconds: 5,
      body: html`<div class="columns-2"><div class="stack">${settingsCard(campaign, policySet)}</div><div class="stack">${scheduleCard(visit, campaign)}</div></div>
${weeks && calendar(weeks)}<section class="card flush" data-region="runs"><h2>Runs <span class="count">${number(runs.total)}</span></h2>${runTable(visit, runs)}</section>${changesCard(visit, changes.items)}`,
    };
  },
};

/** By which policy set the scans of a campaign raise alerts. */
async function policySetWords({ api, link, may }: Visit, { policy_set_id: id }: Campaign): Promise<Inserted> {
  if (id === null) return 'none: it raises no alerts';
  if (!may('policies.read')) return 'one that this key may not read';
  const set = await api.ask<Schemas['PolicySet']>(at`/policy-sets/${id}`).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
  // Its approved copy still raises alerts.
  if (!set) return 'one of another organization, which does not share it any more';
  return html`<a href="${link(`/policies/${id}`)}"><bdi>${short(set.name, 80)}</bdi></a>`;
}

function settingsCard(one: Campaign, policySet: Inserted): Html {
  const places = [one.proxy_region, one.proxy_city, one.proxy_isp].filter((text) => text !== '').join(', ');
  const { specific_ids, categories, mode } = one.emulator_selection;
  const kinds = categories.map((kind) => CATEGORY_WORDS[kind] ?? kind).join(', ');
  const devices = [
    ...specific_ids.map((id) => findEmulator(id)?.display_name ?? id),
    ...(kinds === '' ? [] : [`${mode === 'all' ? 'each' : 'one at random of each kind'} of ${kinds}`]),
  ].join('; ');
  return card(
    'What it scans',
    facts([
      [
        CAMPAIGN_TYPES[one.campaign_type],
        one.url !== ''
          ? showUrl(one.url)
          : html`${number((one.ad_tag ?? one.vast_tag ?? '').length)} characters of markup`,
      ],
      ['Countries', one.country_codes.map(countryName).join(', ')],
      ['Devices', devices],
      ['Connection', html`${one.proxy_type}${places !== '' && html`, <bdi>${places}</bdi>`}`],
      [
        'Repeats and retries',
        `${one.repeat_count} (${one.repeat_mode}), ${counted(one.retry_max_attempts, 'retry', 'retries')}`,
      ],
      ['Policy set', policySet],
      ...Object.entries(one.labels).map(([key, value]): [string, Html] => [key, html`<bdi>${value}</bdi>`]),
    ]),
  );
}

function runTable(visit: Visit, runs: Listed<Run>): Html {
  const { link, now, params } = visit;
  if (runs.items.length === 0) return empty('No runs yet', 'Each run is a set of scans that belong together.');
  const rows = runs.items.map((run) => [
    html`<a class="row-link" href="${link(`/runs/${run.id}`)}"><bdi>${run.label || 'Run'}</bdi></a><span class="meta">${run.trigger}</span>`,
    progress(run),
    number(run.total),
    run.failed > 0 ? html`<span class="high-text">${number(run.failed)}</span>` : '0',
    showTime(run.created_at, now),
  ]);
  return html`${table('Runs', [{ label: 'Run' }, { label: 'Progress' }, { label: 'Scans', kind: 'number' }, { label: 'Failed', kind: 'number' }, { label: 'Started', kind: 'number' }], rows)}${pager(visit, `/campaigns/${params.id}`, runs, 'runs')}`;
}

/** How much of a run has ended, as a bar and in words. */
function progress({ total, completed, partial, failed, cancelled }: Run): Html {
  const ended = completed + partial + failed + cancelled;
  const share = total === 0 ? 100 : (100 * ended) / total;
  return html`<svg class="meter" width="100%" height="8" role="img" aria-label="${ended} of ${total} scans have ended"><rect class="track" width="100%" height="8"/><rect class="value" width="${share.toFixed(1)}%" height="8"/></svg><span class="meta">${ended === total ? 'ended' : `${number(ended)} of ${number(total)}`}</span>`;
}

const WEEKS = 8;
const RUNS_COUNTED = 2_000;

const dayOf = ({ created_at }: Pick<Run, 'created_at'>): number => Math.floor(Date.parse(created_at) / DAY_MS);

/**
 * Runs of the last weeks by day, in days since 1970. `since`: the day whose runs, and those before, were not all read;
 * null: all were.
 */
type Weeks = { today: number; monday: number; since: number | null; counts: Map<number, number> };

async function readWeeks({ api, now }: Visit, id: string): Promise<Weeks> {
  const today = Math.floor(now.getTime() / DAY_MS);
  const monday = today - ((today + 3) % 7) - 7 * (WEEKS - 1);
  const { items, hasMore } = await api.askPages<Run>(
    at`/campaigns/${id}/runs`,
    (found, read) => read >= RUNS_COUNTED || found.some((run) => dayOf(run) < monday),
  );
  const oldest = items.at(-1);
  const counts = new Map([...Map.groupBy(items, dayOf)].map(([day, runs]) => [day, runs.length]));
  return { today, monday, since: hasMore && oldest && dayOf(oldest) >= monday ? dayOf(oldest) : null, counts };
}

/** The days of the last weeks with the numbers of their runs. */
function calendar({ today, monday, since, counts }: Weeks): Html {
  const weeks = Array.from({ length: WEEKS }, (_, week) => monday + 7 * week);
  const isoDay = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);
  const cell = (day: number) => {
    const count = counts.get(day) ?? 0;
    const isCounted = since === null || day >= since;
    const shown =
      count > 0
        ? `${number(count)}${day === since ? '+' : ''}`
        : html`<span class="unseen">${isCounted ? 'no runs' : 'not counted'}</span>`;
    return html`<td class="day${(day > today || !isCounted) && ' later'}${count > 0 && ' has'}"><span class="unseen">${isoDay(day)}: </span>${shown}</td>`;
  };
  const rows = DAYS.map(
    (name, day) => html`<tr><th scope="row">${name.slice(0, 3)}</th>${weeks.map((start) => cell(start + day))}</tr>`,
  );
  const head = weeks.map((start) => html`<th scope="col">${isoDay(start).slice(5)}</th>`);
  const cut = since !== null && html`<p class="quiet">Only the newest ${number(RUNS_COUNTED)} runs are counted.</p>`;
  return card(
    'Calendar',
    html`<div class="calendar"><table><caption class="unseen">Runs by day</caption><thead><tr><td></td>${head}</tr></thead><tbody>${rows}</tbody></table></div>${cut}`,
    { count: 'runs by day, UTC; weeks begin on the date above' },
  );
}

function changesCard(visit: Visit, changes: Schemas['ChangedScan'][]): Html | null {
  if (changes.length === 0) return null;
  const rows = changes.map((one) => [
    linkFor(visit, 'scans.read', `/scans/${one.scan_id}`, `${countryName(one.country_code)}, ${one.emulator_id}`),
    one.changes.map(({ kind, what }) => html`${chip('medium', `${kind}: ${what.join(', ')}`)} `),
    one.changes[0] &&
      visit.may('scans.read') &&
      html`<a href="${visit.link(`/runs/${one.run_id}/compare/${one.changes[0].previous_run_id}`)}">side by side</a>`,
    showTime(one.created_at, visit.now),
  ]);
  return card(
    'Changes between runs',
    table(
      'Changes',
      [
        { label: 'Scan' },
        { label: 'What changed' },
        { label: 'Compare', kind: 'unseen' },
        { label: 'When', kind: 'number' },
      ],
      rows,
    ),
  );
}
