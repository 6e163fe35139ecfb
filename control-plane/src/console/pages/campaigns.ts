import { ApiError } from '../../http/api-error.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { showUrl } from '../../scanning/reports/show-url.ts';
import { countryName, durationWords } from '../../scanning/reports/words.ts';
import { nextMoment, type SchedulePlan } from '../../scanning/schedules/next-moment.ts';
import { at } from '../api/console-api.ts';
import { itemsOf, type Listed, type Schemas } from '../api/schemas.ts';
import { action } from '../components/actions.ts';
import {
  areaField,
  button,
  choice,
  choices,
  hidden,
  linkButton,
  selectField,
  textField,
} from '../components/fields.ts';
import { NO_PROBLEMS, type Problems, problemsOf } from '../components/problems.ts';
import { card, empty, facts, pager, table, tile } from '../components/tables.ts';
import { agoWords, chip, counted, number, short, showTime } from '../components/texts.ts';
import type { Page, PageRoute, Visit } from '../visit.ts';
import { queryOfPage } from './scans/list-page.ts';
import { deviceGroups, readChoices } from './scans/new-page.ts';
import { numberOr } from './scans/scan-form.ts';

type Campaign = Schemas['Campaign'];
type Run = Schemas['Run'];

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
/** Firings that are shown ahead. */
const AHEAD = 5;

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
      html`<a class="row-link" href="${link(`/campaigns/${one.id}`)}"><bdi>${short(one.name, 80)}</bdi></a><span class="meta"><bdi>${short(one.url || TYPES[one.campaign_type], 60)}</bdi></span>`,
      html`<bdi>${groups.find(({ id }) => id === one.group_id)?.name ?? ''}</bdi>`,
      countryWords(one.country_codes),
      one.last_run_at === null ? html`<span class="quiet">never</span>` : agoWords(one.last_run_at, now),
      one.next_run_at === null ? html`<span class="quiet">not scheduled</span>` : agoWords(one.next_run_at, now),
      one.last_schedule_problem !== null ? chip('medium', 'skipped') : one.is_archived ? chip('off', 'archived') : '',
    ]);
    const none = empty(
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

const TYPES: Record<Campaign['campaign_type'], string> = {
  url: 'Page',
  ad_tag: 'Ad tag',
  vast: 'Video ad tag',
  ad_discovery: 'Sweep',
};

const countryWords = (codes: readonly string[]): string =>
  codes.length <= 3 ? codes.map(countryName).join(', ') : counted(codes.length, 'country', 'countries');

function groupCard(visit: Visit, groups: Schemas['CampaignGroup'][]): Html | null {
  const { may, link } = visit;
  const back = link('/campaigns');
  if (groups.length < 2 && !may('campaigns.write')) return null;
  const rows = groups
    .filter(({ is_archived }) => !is_archived)
    .map(({ id, name, campaign_count, schedule_paused, last_run_at }) => [
      html`<a href="${link('/campaigns', { group_id: id })}"><bdi>${name}</bdi></a>${schedule_paused && html` ${chip('medium', 'schedules paused')}`}`,
      number(campaign_count),
      last_run_at === null ? 'never' : showTime(last_run_at, visit.now),
      may('campaigns.write') &&
        html`<div class="decisions">${action(visit, { label: 'Run all', method: 'POST', path: at`/campaign-groups/${id}/run`, done: 'started', back, asks: `Start a run of each of the ${number(campaign_count)} campaigns? They are charged.` })}${schedule_paused ? action(visit, { label: 'Resume schedules', method: 'POST', path: at`/campaign-groups/${id}/resume-schedule`, done: 'resumed', back }) : action(visit, { label: 'Pause schedules', method: 'POST', path: at`/campaign-groups/${id}/pause-schedule`, done: 'paused', back })}</div>`,
    ]);
  return html`<section class="card flush"><h2>Groups</h2>${table('Groups', [{ label: 'Group' }, { label: 'Campaigns', kind: 'number' }, { label: 'Last run', kind: 'number' }, { label: 'Actions', kind: 'unseen' }], rows)}</section>`;
}

/** A campaign: what it scans, when it runs, and its runs. */
export const campaignPage: PageRoute = {
  method: 'GET',
  path: '/campaigns/{id}',
  handle: async (visit) => {
    const { api, params, link, may, query } = visit;
    const id = params.id!;
    const [campaign, runs, changes] = await Promise.all([
      api.get<Campaign>(at`/campaigns/${id}`),
      api.get<Listed<Run>>(at`/campaigns/${id}/runs`, { limit: 25, page: query.get('page') }),
      api.get<Listed<Schemas['ChangedScan']>>(at`/campaigns/${id}/changes`, { limit: 8 }),
    ]);
    const back = link(`/campaigns/${id}`);
    const actions =
      may('campaigns.write') &&
      html`${campaign.is_archived ? action(visit, { label: 'Restore', method: 'POST', path: at`/campaigns/${id}/unarchive`, done: 'restored', back }) : html`${action(visit, { label: 'Archive', method: 'POST', path: at`/campaigns/${id}/archive`, done: 'archived', back, asks: 'Archive this campaign? It runs no more until it is restored.' })}${linkButton('Change', link(`/campaigns/${id}/edit`))}${action(visit, { label: 'Run now', method: 'POST', path: at`/campaigns/${id}/run`, done: 'started', back, tone: 'main' })}`}`;
    return {
      title: campaign.name,
      above: html`<a href="${link('/campaigns')}">Campaigns</a>`,
      actions,
      everySeconds: 5,
      body: html`<div class="columns-2"><div class="stack">${settingsCard(campaign)}</div><div class="stack">${scheduleCard(visit, campaign)}</div></div>
${calendar(visit, runs.items)}<section class="card flush" data-region="runs"><h2>Runs <span class="count">${number(runs.total)}</span></h2>${runTable(visit, runs)}</section>${changesCard(visit, changes.items)}`,
    };
  },
};

function settingsCard(one: Campaign): Html {
  const places = [one.proxy_region, one.proxy_city, one.proxy_isp].filter((text) => text !== '').join(', ');
  const devices = [...one.emulator_selection.specific_ids, ...one.emulator_selection.categories].join(', ') || 'any';
  return card(
    'What it scans',
    facts([
      [
        TYPES[one.campaign_type],
        one.url !== ''
          ? showUrl(one.url)
          : html`${number((one.ad_tag ?? one.vast_tag ?? '').length)} characters of markup`,
      ],
      ['Countries', one.country_codes.map(countryName).join(', ')],
      ['Devices', html`${devices} (${one.emulator_selection.mode === 'all' ? 'each of them' : 'one at random'})`],
      ['Connection', html`${one.proxy_type}${places !== '' && html`, <bdi>${places}</bdi>`}`],
      [
        'Repeats and retries',
        `${one.repeat_count} (${one.repeat_mode}), ${counted(one.retry_max_attempts, 'retry', 'retries')}`,
      ],
      ...Object.entries(one.labels).map(([key, value]): [string, Html] => [key, html`<bdi>${value}</bdi>`]),
    ]),
  );
}

/** When a campaign runs by itself, as the scheduler reckons; null: it does not. */
function planOf({
  schedule_type,
  schedule_weekly,
  schedule_timezone,
  schedule_interval_seconds,
  next_run_at,
}: Campaign): SchedulePlan | null {
  if (schedule_type === 'weekly' && schedule_weekly && Object.values(schedule_weekly).some((hours) => hours.length > 0))
    return { type: 'weekly', weekly: schedule_weekly, timezone: schedule_timezone ?? 'UTC' };
  if (schedule_type === 'interval' && schedule_interval_seconds && next_run_at)
    return { type: 'interval', seconds: schedule_interval_seconds, anchor: new Date(next_run_at) };
  return null;
}

function firings(campaign: Campaign, from: Date): Date[] {
  const plan = planOf(campaign);
  const found: Date[] = [];
  if (!plan || campaign.next_run_at === null) return found;
  let moment = new Date(Math.max(from.getTime(), Date.parse(campaign.next_run_at) - 1));
  while (found.length < AHEAD) {
    moment = nextMoment(plan, moment);
    found.push(moment);
  }
  return found;
}

function scheduleCard({ now }: Visit, campaign: Campaign): Html {
  const { schedule_type, schedule_interval_seconds, schedule_weekly, schedule_timezone, last_schedule_problem } =
    campaign;
  const zone = schedule_timezone ?? 'UTC';
  const local = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: zone,
  });
  const next = firings(campaign, now);
  const plan =
    schedule_type === 'interval'
      ? `every ${durationWords((schedule_interval_seconds ?? 0) * 1_000)}`
      : schedule_type === 'weekly'
        ? weekWords(schedule_weekly ?? {})
        : 'not scheduled';
  const rows = next.map((moment) => [
    html`${local.format(moment)}`,
    showTime(moment.toISOString(), now),
    agoWords(moment.toISOString(), now),
  ]);
  const problem =
    last_schedule_problem &&
    html`<p class="wrong">The last firing was skipped ${agoWords(last_schedule_problem.at, now)}: ${last_schedule_problem.detail} <code>${last_schedule_problem.code}</code></p>`;
  const times =
    next.length > 0
      ? table('Next firings', [{ label: `In ${zone}` }, { label: 'UTC' }, { label: 'When', kind: 'number' }], rows)
      : html`<p class="quiet">${campaign.schedule_type === null ? 'It runs when somebody starts it.' : 'The schedule is paused.'}</p>`;
  return card('Schedule', html`<p>${plan}</p>${problem}${times}`);
}

const weekWords = (weekly: Record<string, number[]>): string =>
  Object.entries(weekly)
    .filter(([, hours]) => hours.length > 0)
    .map(([day, hours]) => `${DAYS[Number(day)]} at ${hours.map((hour) => `${hour}:00`).join(', ')}`)
    .join('; ');

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
const DAY_MS = 86_400_000;

/** The days of the last weeks, darker the more scans their runs have. */
function calendar({ now }: Visit, runs: readonly Run[]): Html {
  const today = Math.floor(now.getTime() / DAY_MS);
  const monday = today - ((today + 3) % 7);
  const of = Map.groupBy(runs, ({ created_at }) => Math.floor(Date.parse(created_at) / DAY_MS));
  const weeks = Array.from({ length: WEEKS }, (_, week) => monday - 7 * (WEEKS - 1 - week));
  const cells = DAYS.map(
    (name, day) =>
      html`<tr><th scope="row">${name.slice(0, 3)}</th>${weeks.map((start) => {
        const found = of.get(start + day) ?? [];
        const words = new Date((start + day) * DAY_MS).toISOString().slice(0, 10);
        return html`<td class="day${start + day > today && ' later'}${found.length > 0 && ' has'}"><span class="unseen">${words}: </span>${found.length > 0 ? number(found.length) : html`<span class="unseen">no runs</span>`}</td>`;
      })}</tr>`,
  );
  const head = weeks.map((start) => html`<th scope="col">${new Date(start * DAY_MS).toISOString().slice(5, 10)}</th>`);
  return card(
    'Calendar',
    html`<div class="calendar"><table><caption class="unseen">Runs by day</caption><thead><tr><td></td>${head}</tr></thead><tbody>${cells}</tbody></table></div>`,
    { count: 'runs by day, UTC; weeks begin on the date above' },
  );
}

function changesCard({ link, now }: Visit, changes: Schemas['ChangedScan'][]): Html | null {
  if (changes.length === 0) return null;
  const rows = changes.map((one) => [
    html`<a href="${link(`/scans/${one.scan_id}`)}">${countryName(one.country_code)}, ${one.emulator_id}</a>`,
    one.changes.map(({ kind, what }) => html`${chip('medium', `${kind}: ${what.join(', ')}`)} `),
    one.changes[0] &&
      html`<a href="${link(`/runs/${one.run_id}/compare/${one.changes[0].previous_run_id}`)}">side by side</a>`,
    showTime(one.created_at, now),
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

/** A run: its progress, and a wall of its pictures. */
export const runPage: PageRoute = {
  method: 'GET',
  path: '/runs/{id}',
  handle: async (visit) => {
    const { api, params, link, may, query } = visit;
    const run = await api.get<Run>(at`/runs/${params.id!}`);
    const tiles = await api.get<Listed<Schemas['ScanTile']>>(at`/runs/${run.id}/scans`, {
      limit: 60,
      page: query.get('page'),
    });
    const ended = run.completed + run.partial + run.failed + run.cancelled;
    const isOpen = ended < run.total;
    const byCountry = [...Map.groupBy(tiles.items, ({ country_code }) => country_code)];
    const walls = byCountry.map(
      ([code, scans]) =>
        html`<section class="card"><h2>${countryName(code)} <span class="count">${number(scans.length)}</span></h2><ul class="wall">${scans.map((scan) => wallItem(visit, scan))}</ul></section>`,
    );
    const back = link(`/runs/${run.id}`);
    return {
      title: run.label || 'Run',
      above: html`<a href="${link('/campaigns')}">Campaigns</a> · <a href="${link(`/campaigns/${run.campaign_id}`)}">the campaign</a>`,
      actions: html`${linkButton('As a table', link('/scans', { run_id: run.id }))}${isOpen && may('campaigns.write') && action(visit, { label: 'Cancel what waits', method: 'POST', path: at`/runs/${run.id}/cancel`, done: 'cancelled', back, tone: 'danger', asks: 'Cancel the scans of this run that have not begun?' })}`,
      ...(isOpen && { everySeconds: 4 }),
      body: html`<div class="tiles" data-region="counts">${tile(`${number(ended)} of ${number(run.total)}`, 'scans have ended')}${tile(number(run.completed), 'completed')}${tile(number(run.partial), 'partly analysed', { tone: run.partial > 0 ? 'medium' : '' })}${tile(number(run.failed), 'failed', { tone: run.failed > 0 ? 'high' : '' })}</div>
<div class="stack" data-region="wall">${walls}${pager(visit, `/runs/${run.id}`, tiles, 'scans')}</div>`,
    };
  },
};

const wallItem = ({ link }: Visit, scan: Schemas['ScanTile']): Html =>
  html`<li><a href="${link(`/scans/${scan.id}`)}"><span class="pic">${scan.screenshot_url !== '' && html`<img src="${link(`/scans/${scan.id}/screenshot`, { w: 340 })}" alt="" loading="lazy">`}</span><span><bdi>${short(URL.parse(scan.offer_url)?.host ?? scan.status, 40)}</bdi>${scan.error !== '' && html` <code>${scan.error}</code>`}</span></a></li>`;

/** Two runs of a campaign with a slider over each pair of pictures. */
export const runCompare: PageRoute = {
  method: 'GET',
  path: '/runs/{id}/compare/{other}',
  handle: async (visit) => {
    const { api, params, link } = visit;
    const read = async (id: string) => {
      const [run, scans] = await Promise.all([
        api.get<Run>(at`/runs/${id}`),
        api.get<Listed<Schemas['ScanBrief']>>(at`/scans`, { run_id: id, limit: 100 }),
      ]);
      return { run, scans: scans.items };
    };
    const [after, before] = await Promise.all([read(params.id!), read(params.other!)]);
    const keyOf = (one: Schemas['ScanBrief']) => `${one.country_code} ${one.emulator_display_name} ${one.repeat_index}`;
    const earlier = new Map(before.scans.map((one) => [keyOf(one), one]));
    const pairs = after.scans.flatMap((one) => {
      const other = earlier.get(keyOf(one));
      return other && one.screenshot_url !== '' && other.screenshot_url !== '' ? [slider(visit, other, one)] : [];
    });
    return {
      title: 'Two runs',
      above: html`<a href="${link(`/campaigns/${after.run.campaign_id}`)}">Campaign</a> · <a href="${link(`/runs/${before.run.id}`)}"><bdi>${before.run.label || 'the earlier run'}</bdi></a> · <a href="${link(`/runs/${after.run.id}`)}"><bdi>${after.run.label || 'the later run'}</bdi></a>`,
      body:
        pairs.length > 0
          ? html`<div class="pairs">${pairs}</div>`
          : empty('Nothing to compare', 'The two runs have no pictures of the same country and device.'),
    };
  },
};

function slider({ link }: Visit, before: Schemas['ScanBrief'], after: Schemas['ScanBrief']): Html {
  const picture = (scan: Schemas['ScanBrief']) => link(`/scans/${scan.id}/screenshot`, { w: 600 });
  return html`<figure class="card pair"><h2>${countryName(after.country_code)} <span class="count"><bdi>${after.emulator_display_name}</bdi></span></h2>
<svg viewBox="0 0 600 400" width="100%" role="img" aria-label="The picture of the later run over that of the earlier one"><image href="${picture(before)}" width="600" preserveAspectRatio="xMidYMin slice" height="400"/><svg id="slide-${after.id}" width="50%" height="400" overflow="hidden"><image href="${picture(after)}" width="600" height="400" preserveAspectRatio="xMidYMin slice"/></svg></svg>
<input type="range" min="0" max="100" value="50" data-slides="slide-${after.id}" aria-label="How much of the later picture is shown">
<figcaption><a href="${link(`/scans/${before.id}`)}">before</a> · <a href="${link(`/scans/${after.id}`)}">after</a> · <a href="${link('/scans/compare', { a: before.id, b: after.id })}">compare all</a></figcaption></figure>`;
}

type CampaignFields = Record<
  | 'name'
  | 'kind'
  | 'target'
  | 'countries'
  | 'device'
  | 'group_id'
  | 'policy_set_id'
  | 'schedule_type'
  | 'schedule_interval_seconds'
  | 'schedule_timezone'
  | 'weekly'
  | 'repeat_count'
  | 'retry_max_attempts',
  string
>;

const fieldsOf = (form: URLSearchParams): CampaignFields => {
  const text = (name: string, initial = '') => form.get(name) ?? initial;
  return {
    ...{
      name: text('name'),
      kind: text('kind', 'url'),
      target: text('target'),
      countries: text('countries'),
      device: text('device'),
    },
    ...{ group_id: text('group_id'), policy_set_id: text('policy_set_id'), schedule_type: text('schedule_type') },
    ...{
      schedule_interval_seconds: text('schedule_interval_seconds', '86400'),
      schedule_timezone: text('schedule_timezone', 'UTC'),
      weekly: text('weekly'),
    },
    ...{ repeat_count: text('repeat_count', '1'), retry_max_attempts: text('retry_max_attempts', '0') },
  };
};

function fieldsOfCampaign(one: Campaign): CampaignFields {
  const lines = Object.entries(one.schedule_weekly ?? {}).filter(([, hours]) => hours.length > 0);
  return {
    ...{
      name: one.name,
      kind: one.campaign_type,
      target: one.ad_tag ?? one.vast_tag ?? one.url,
      countries: one.country_codes.join(', '),
    },
    ...{
      device: one.emulator_selection.specific_ids.join(', '),
      group_id: one.group_id,
      policy_set_id: one.policy_set_id ?? '',
    },
    ...{
      schedule_type: one.schedule_type ?? '',
      schedule_interval_seconds: String(one.schedule_interval_seconds ?? 86_400),
    },
    ...{
      schedule_timezone: one.schedule_timezone ?? 'UTC',
      weekly: lines.map(([day, hours]) => `${DAYS[Number(day)]} ${hours.join(' ')}`).join('\n'),
    },
    ...{ repeat_count: String(one.repeat_count), retry_max_attempts: String(one.retry_max_attempts) },
  };
}

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '');

/** The hours of each day in lines such as `Monday 8 20`. What is no day is sent as it is, so that the API says so. */
function weekOf(text: string): Record<string, (number | string)[]> {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...hours] = listOf(line);
      const day = DAYS.findIndex((one) => one.toLowerCase().startsWith(name.toLowerCase().slice(0, 3)));
      return [day === -1 ? name : String(day), hours.map((hour) => numberOr(hour.replace(/:00$/, '')))];
    }),
  );
}

function campaignBody(fields: CampaignFields, isNew: boolean): Record<string, unknown> {
  const { kind, target, schedule_type } = fields;
  const name = kind === 'ad_tag' ? 'ad_tag' : kind === 'vast' ? 'vast_tag' : 'url';
  const schedule =
    schedule_type === 'weekly'
      ? {
          schedule_type,
          schedule_weekly: weekOf(fields.weekly),
          schedule_timezone: fields.schedule_timezone,
          schedule_interval_seconds: null,
        }
      : schedule_type === 'interval'
        ? {
            schedule_type,
            schedule_interval_seconds: numberOr(fields.schedule_interval_seconds),
            schedule_weekly: null,
          }
        : { schedule_type: null };
  return {
    name: fields.name,
    ...(isNew && { campaign_type: kind }),
    [name]: target,
    country_codes: listOf(fields.countries),
    ...(fields.device !== '' && { emulator_specific_ids: listOf(fields.device), emulator_categories: [] }),
    ...(fields.group_id !== '' && { group_id: fields.group_id }),
    ...(fields.policy_set_id !== '' ? { policy_set_id: fields.policy_set_id } : isNew ? {} : { policy_set_id: null }),
    ...{ repeat_count: numberOr(fields.repeat_count), retry_max_attempts: numberOr(fields.retry_max_attempts) },
    ...(isNew && schedule_type === '' ? {} : schedule),
  };
}

export const newCampaign: PageRoute = {
  method: 'GET',
  path: '/campaigns/new',
  handle: (visit) => campaignForm(visit, fieldsOf(visit.query), NO_PROBLEMS, null),
};
export const editCampaign: PageRoute = {
  method: 'GET',
  path: '/campaigns/{id}/edit',
  handle: async (visit) => {
    const campaign = await visit.api.ask<Campaign>(at`/campaigns/${visit.params.id!}`);
    return campaignForm(visit, fieldsOfCampaign(campaign), NO_PROBLEMS, campaign.id);
  },
};

export const saveCampaign: PageRoute[] = ['/campaigns/new', '/campaigns/{id}/edit'].map((path) => ({
  method: 'POST',
  path,
  handle: async (visit) => {
    const { api, form, link, params } = visit;
    const fields = fieldsOf(form);
    const id = params.id ?? null;
    try {
      const saved =
        id === null
          ? await api.send<Campaign>('POST', at`/campaigns`, campaignBody(fields, true))
          : await api.send<Campaign>('PATCH', at`/campaigns/${id}`, campaignBody(fields, false));
      return { redirect: link(`/campaigns/${saved.id}`, { done: id === null ? 'created' : 'saved' }) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error;
      return { ...(await campaignForm(visit, fields, problemsOf(error), id)), status: error.status };
    }
  },
}));

const INTERVALS = [60, 120, 300, 600, 900, 1_800, 2_700, 3_600, 7_200, 14_400, 28_800, 86_400];

async function campaignForm(
  visit: Visit,
  fields: CampaignFields,
  problems: Problems,
  id: string | null,
): Promise<Page> {
  const { link, token, api, may } = visit;
  const [{ emulators }, groups, sets] = await Promise.all([
    readChoices(visit, { country_code: '', proxy_type: '' }),
    api
      .ask<Schemas['CampaignGroup'][] | Listed<Schemas['CampaignGroup']>>(at`/campaign-groups`)
      .then((found) => itemsOf(found).filter(({ is_archived }) => !is_archived)),
    may('policies.read')
      ? api.ask<Listed<Schemas['PolicySetItem']> | Schemas['PolicySetItem'][]>(at`/policy-sets`).then(itemsOf)
      : [],
  ]);
  const targetPath = fields.kind === 'ad_tag' ? 'ad_tag' : fields.kind === 'vast' ? 'vast_tag' : 'url';
  const devices = deviceGroups(emulators).flatMap(({ options }) => options);
  const body = html`<form class="form" method="post" action="${link(id === null ? '/campaigns/new' : `/campaigns/${id}/edit`)}">${token()}
<section class="card"><h2>What it scans</h2>${textField({ name: 'name', label: 'Name', value: fields.name, required: true, problems })}
${
  id === null
    ? choices(
        'Target',
        Object.entries(TYPES).map(([value, label]) =>
          choice('radio', { name: 'kind', value, label, checked: fields.kind === value }),
        ),
        problems.of('campaign_type'),
      )
    : hidden('kind', fields.kind)
}
${areaField({ name: 'target', label: 'Address or markup', path: targetPath, value: fields.target, rows: 3, code: true, required: true, problems })}
<div class="grid">${textField({ name: 'countries', label: 'Countries', path: 'country_codes', value: fields.countries, placeholder: 'US, DE', required: true, hint: 'Two-letter codes.', problems })}
${textField({ name: 'device', label: 'Devices', path: 'emulator_specific_ids', value: fields.device, placeholder: 'windows_chrome', hint: html`Ids, such as ${devices.slice(0, 3).map(({ value }, index) => html`${index > 0 && ', '}<code>${value}</code>`)}. Empty: as the API chooses.`, problems })}
${textField({ name: 'repeat_count', label: 'Repeats', type: 'number', value: fields.repeat_count, min: 1, max: 20, problems })}
${textField({ name: 'retry_max_attempts', label: 'Retries', type: 'number', value: fields.retry_max_attempts, min: 0, max: 5, problems })}</div></section>
<section class="card"><h2>Where it belongs</h2><div class="grid">${selectField({ name: 'group_id', label: 'Group', value: fields.group_id, options: [{ value: '', label: 'The default group' }, ...groups.map((one) => ({ value: one.id, label: one.name }))], problems })}
${selectField({ name: 'policy_set_id', label: 'Policy set', value: fields.policy_set_id, options: [{ value: '', label: id === null ? 'The default one' : 'None: it raises no alerts' }, ...sets.map((one) => ({ value: one.id, label: one.name }))], problems })}</div></section>
<section class="card"><h2>When it runs</h2>${choices('Schedule', [choice('radio', { name: 'schedule_type', value: '', label: 'Only when started', checked: fields.schedule_type === '' }), choice('radio', { name: 'schedule_type', value: 'weekly', label: 'At hours of the week', checked: fields.schedule_type === 'weekly' }), choice('radio', { name: 'schedule_type', value: 'interval', label: 'Again and again', checked: fields.schedule_type === 'interval' })], problems.of('schedule_type'))}
<div class="grid">${areaField({ name: 'weekly', label: 'Hours of the week', path: 'schedule_weekly', value: fields.weekly, rows: 3, placeholder: 'Monday 8 20', hint: 'A day and its hours on each line.', problems })}
${textField({ name: 'schedule_timezone', label: 'Timezone', value: fields.schedule_timezone, placeholder: 'Europe/Berlin', problems })}
${selectField({ name: 'schedule_interval_seconds', label: 'Every', value: fields.schedule_interval_seconds, options: INTERVALS.map((seconds) => ({ value: String(seconds), label: durationWords(seconds * 1_000) })), problems })}</div></section>
<section class="card send"><p class="quiet">${id === null ? 'Creating a campaign scans nothing yet.' : 'Later runs use the new settings.'}</p><div class="buttons">${button(id === null ? 'Create the campaign' : 'Save')}</div></section></form>`;
  return {
    title: id === null ? 'New campaign' : 'Change the campaign',
    above: html`<a href="${link('/campaigns')}">Campaigns</a>`,
    problems,
    body,
  };
}
