import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { isTimezone } from '@adsweep/shared/validation/timezone.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { INTERVALS } from '../../scanning/schedules/schedule.ts';
import { at } from '../api/console-api.ts';
import { linesIn, wordsIn } from '../api/lists-in-texts.ts';
import { itemsOf, type Listed, type Schemas } from '../api/schemas.ts';
import { areaField, button, choice, choices, hidden, selectField, textField } from '../components/fields.ts';
import { changedAlone, loadedWith } from '../components/loaded-form.ts';
import { NO_PROBLEMS, type Problems, refusedForm } from '../components/problems.ts';
import type { Page, PageRoute, Visit } from '../visit.ts';
import { DAYS, firingsOf, firingTable, intervalWords } from './campaign-schedule.ts';
import { deviceGroups, readChoices } from './scans/new-page.ts';
import { numberOr } from './scans/scan-form.ts';

type Campaign = Schemas['Campaign'];

/** The types of campaigns. */
export const CAMPAIGN_TYPES: Record<Campaign['campaign_type'], string> = {
  url: 'Page',
  ad_tag: 'Ad tag',
  vast: 'Video ad tag',
  ad_discovery: 'Sweep',
};

type CampaignFields = Record<
  | 'name'
  | 'kind'
  | 'target'
  | 'countries'
  | 'devices'
  | 'categories'
  | 'mode'
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
    name: text('name'),
    kind: text('kind', 'url'),
    target: text('target'),
    countries: text('countries'),
    devices: form.getAll('devices').join(' '),
    categories: form.getAll('categories').join(' '),
    mode: text('mode', 'random'),
    group_id: text('group_id'),
    policy_set_id: text('policy_set_id'),
    schedule_type: text('schedule_type'),
    schedule_interval_seconds: text('schedule_interval_seconds', '86400'),
    schedule_timezone: text('schedule_timezone', 'UTC'),
    weekly: text('weekly'),
    repeat_count: text('repeat_count', '1'),
    retry_max_attempts: text('retry_max_attempts', '0'),
  };
};

function fieldsOfCampaign(one: Campaign): CampaignFields {
  const lines = Object.entries(one.schedule_weekly ?? {}).filter(([, hours]) => hours.length > 0);
  return {
    name: one.name,
    kind: one.campaign_type,
    target: one.ad_tag ?? one.vast_tag ?? one.url,
    countries: one.country_codes.join(', '),
    devices: one.emulator_selection.specific_ids.join(' '),
    categories: one.emulator_selection.categories.join(' '),
    mode: one.emulator_selection.mode,
    group_id: one.group_id,
    policy_set_id: one.policy_set_id ?? '',
    schedule_type: one.schedule_type ?? '',
    schedule_interval_seconds: String(one.schedule_interval_seconds ?? 86_400),
    schedule_timezone: one.schedule_timezone ?? 'UTC',
    weekly: lines.map(([day, hours]) => `${DAYS[Number(day)]} ${hours.join(' ')}`).join('\n'),
    repeat_count: String(one.repeat_count),
    retry_max_attempts: String(one.retry_max_attempts),
  };
}

/**
 * The hours of each day in lines such as `Monday 8 20`; a day may have several lines, and a short name. What is no day,
 * such as `Mon-Fri`, is sent as it is, so that the API refuses it.
 */
export function weekOf(text: string): Record<string, (number | string)[]> {
  const lines = linesIn(text).map((line) => {
    const [name = '', ...hours] = wordsIn(line);
    // Two letters are the fewest that tell the days apart.
    const isName = /^[a-z]{2,}$/i.test(name);
    const day = isName ? DAYS.findIndex((one) => one.toLowerCase().startsWith(name.toLowerCase().slice(0, 3))) : -1;
    return { day: day === -1 ? name : String(day), hours: hours.map((hour) => numberOr(hour.replace(/:00$/, ''))) };
  });
  const days = Map.groupBy(lines, ({ day }) => day);
  return Object.fromEntries([...days].map(([day, all]) => [day, [...new Set(all.flatMap(({ hours }) => hours))]]));
}

/** What is wrong with which day: all of them are in one field. */
function weekWords({ loc: [, field, day], msg, type }: Pick<Issue, 'loc' | 'msg' | 'type'>): string {
  if (field !== 'schedule_weekly' || day === undefined) return msg;
  if (type === 'unexpected_field') return `${day} is no day: each line begins with one, such as Monday.`;
  return `${DAYS[Number(day)]}: ${msg}`;
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
    country_codes: wordsIn(fields.countries),
    ...((!isNew || fields.devices + fields.categories !== '') && {
      emulator_specific_ids: wordsIn(fields.devices),
      emulator_categories: wordsIn(fields.categories),
    }),
    emulator_mode: fields.mode,
    ...(fields.group_id !== '' && { group_id: fields.group_id }),
    ...(fields.policy_set_id !== '' ? { policy_set_id: fields.policy_set_id } : isNew ? {} : { policy_set_id: null }),
    repeat_count: numberOr(fields.repeat_count),
    retry_max_attempts: numberOr(fields.retry_max_attempts),
    ...(isNew && schedule_type === '' ? {} : schedule),
  };
}

/** Fields of the form from which those of the API follow that have another name, or follow from several. */
const SCHEDULE = ['schedule_type', 'weekly', 'schedule_timezone', 'schedule_interval_seconds'] as const;
const FOLLOWS_FROM: Record<string, readonly (keyof CampaignFields)[]> = {
  url: ['target'],
  ad_tag: ['target'],
  vast_tag: ['target'],
  country_codes: ['countries'],
  emulator_specific_ids: ['devices', 'categories'],
  emulator_categories: ['devices', 'categories'],
  emulator_mode: ['mode'],
  schedule_type: SCHEDULE,
  schedule_weekly: SCHEDULE,
  schedule_timezone: SCHEDULE,
  schedule_interval_seconds: SCHEDULE,
};

/** What a person has changed of a campaign. */
function campaignChanges(fields: CampaignFields, one: Campaign, sent: URLSearchParams): Record<string, unknown> {
  const changed = new Set<string>(changedAlone(fields, fieldsOfCampaign(one), sent));
  const isChanged = (name: string) => (FOLLOWS_FROM[name] ?? [name]).some((field) => changed.has(field));
  return Object.fromEntries(Object.entries(campaignBody(fields, false)).filter(([name]) => isChanged(name)));
}

export const newCampaign: PageRoute = {
  method: 'GET',
  path: '/campaigns/new',
  needs: 'campaigns.write',
  handle: (visit) => campaignForm(visit, fieldsOf(visit.query), NO_PROBLEMS, null),
};
export const editCampaign: PageRoute = {
  method: 'GET',
  path: '/campaigns/{id}/edit',
  needs: 'campaigns.write',
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
    if (form.get('intent') === 'preview') return campaignForm(visit, fields, NO_PROBLEMS, id);
    try {
      const saved =
        id === null
          ? await api.send<Campaign>('POST', at`/campaigns`, campaignBody(fields, true))
          : await api.send<Campaign>(
              'PATCH',
              at`/campaigns/${id}`,
              campaignChanges(fields, await api.ask<Campaign>(at`/campaigns/${id}`), form),
            );
      return { redirect: link(`/campaigns/${saved.id}`, { done: id === null ? 'created' : 'saved' }) };
    } catch (error) {
      return refusedForm(error, (problems) => campaignForm(visit, fields, problems, id), weekWords);
    }
  },
}));

/** The devices of the catalogue: kinds of them, or single ones. */
function deviceCard(fields: CampaignFields, emulators: readonly Schemas['Emulator'][], problems: Problems): Html {
  const [kinds, chosen] = [new Set(wordsIn(fields.categories)), new Set(wordsIn(fields.devices))];
  const groups = deviceGroups(emulators);
  const kind = ({ category, group, options }: (typeof groups)[number]) =>
    choice('checkbox', {
      name: 'categories',
      value: category,
      label: group,
      checked: kinds.has(category),
      hint: `${options.length} devices`,
    });
  const single = ({ group, options }: (typeof groups)[number]) => {
    const ticked = options.filter(({ value }) => chosen.has(value)).length;
    const boxes = options.map(({ value, label }) =>
      choice('checkbox', { name: 'devices', value, label, checked: chosen.has(value) }),
    );
    return html`<details class="fold devices"${ticked > 0 && html` open`}><summary>${group}${ticked > 0 && html` <span class="count">${ticked} chosen</span>`}</summary><div class="device-list">${boxes}</div></details>`;
  };
  const modes: [string, string][] = [
    ['random', 'one of them at random for each kind'],
    ['all', 'each of them'],
  ];
  return html`<section class="card"><h2>On what</h2>
${choices('Kinds of devices', groups.map(kind), problems.of('emulator_categories'))}
${choices(
  'Of each kind, a run uses',
  modes.map(([value, label]) => choice('radio', { name: 'mode', value, label, checked: fields.mode === value })),
  problems.of('emulator_mode'),
)}
<fieldset class="choices"><legend>And these devices</legend>${groups.map(single)}${problems.of('emulator_specific_ids').map((text) => html`<p class="wrong">${text}</p>`)}</fieldset></section>`;
}

/** When the schedule in the form would fire next. */
function showFirings({ now }: Visit, fields: CampaignFields): Html {
  const timezone = fields.schedule_timezone.trim();
  const firings = firingsOf(
    {
      type: fields.schedule_type,
      weekly: weekOf(fields.weekly),
      timezone,
      seconds: numberOr(fields.schedule_interval_seconds),
      anchor: now,
    },
    now,
  );
  const none = fields.schedule_type === '' ? 'It runs when somebody starts it.' : 'This schedule does not fire.';
  const shown =
    firings.length > 0
      ? firingTable(firings, isTimezone(timezone) ? timezone : 'UTC', now)
      : html`<p class="quiet">${none}</p>`;
  return html`<div data-region="firings">${shown}</div>`;
}

/** Policy sets to choose from. */
const SETS_MAX = 1_000;

async function campaignForm(
  visit: Visit,
  fields: CampaignFields,
  problems: Problems,
  id: string | null,
): Promise<Page> {
  const { link, token, api, may, form: sent } = visit;
  const [{ emulators }, groups, sets] = await Promise.all([
    readChoices(visit, { country_code: '', proxy_type: '' }),
    api
      .ask<Schemas['CampaignGroup'][] | Listed<Schemas['CampaignGroup']>>(at`/campaign-groups`)
      .then((found) => itemsOf(found).filter(({ id: one, is_archived }) => !is_archived || one === fields.group_id)),
    may('policies.read')
      ? api.askPages<Schemas['PolicySetItem']>(at`/policy-sets`, (_, read) => read >= SETS_MAX).then(itemsOf)
      : [],
  ]);
  const defaultSet = sets.find(
    ({ is_default, organization_id }) => is_default && organization_id === visit.who.organization_id,
  );
  const unnamed =
    id !== null
      ? 'None: it raises no alerts'
      : defaultSet
        ? `The default one: ${defaultSet.name}`
        : may('policies.read')
          ? 'None: no set is the default one'
          : 'The default one';
  const targetPath = fields.kind === 'ad_tag' ? 'ad_tag' : fields.kind === 'vast' ? 'vast_tag' : 'url';
  const body = html`<form class="form" method="post" action="${link(id === null ? '/campaigns/new' : `/campaigns/${id}/edit`)}" data-try="intent=preview" data-regions="firings">${token()}${id !== null && loadedWith(fields, sent)}
<section class="card"><h2>What it scans</h2>${textField({ name: 'name', label: 'Name', value: fields.name, required: true, problems })}
${
  id === null
    ? choices(
        'Target',
        Object.entries(CAMPAIGN_TYPES).map(([value, label]) =>
          choice('radio', { name: 'kind', value, label, checked: fields.kind === value }),
        ),
        problems.of('campaign_type'),
      )
    : hidden('kind', fields.kind)
}
${areaField({ name: 'target', label: 'Address or markup', path: targetPath, value: fields.target, rows: 3, code: true, required: true, problems })}
<div class="grid">${textField({ name: 'countries', label: 'Countries', path: 'country_codes', value: fields.countries, placeholder: 'US, DE', required: true, hint: 'Two-letter codes.', problems })}
${textField({ name: 'repeat_count', label: 'Repeats', type: 'number', value: fields.repeat_count, min: 1, max: 20, problems })}
${textField({ name: 'retry_max_attempts', label: 'Retries', type: 'number', value: fields.retry_max_attempts, min: 0, max: 5, problems })}</div></section>
${deviceCard(fields, emulators, problems)}
<section class="card"><h2>Where it belongs</h2><div class="grid">${selectField({ name: 'group_id', label: 'Group', value: fields.group_id, options: [{ value: '', label: 'The default group' }, ...groups.map((one) => ({ value: one.id, label: one.name }))], problems })}
${selectField({ name: 'policy_set_id', label: 'Policy set', value: fields.policy_set_id, options: [{ value: '', label: unnamed }, ...sets.map((one) => ({ value: one.id, label: one.name }))], problems })}</div></section>
<section class="card"><h2>When it runs</h2>${choices('Schedule', [choice('radio', { name: 'schedule_type', value: '', label: 'Only when started', checked: fields.schedule_type === '' }), choice('radio', { name: 'schedule_type', value: 'weekly', label: 'At hours of the week', checked: fields.schedule_type === 'weekly' }), choice('radio', { name: 'schedule_type', value: 'interval', label: 'Again and again', checked: fields.schedule_type === 'interval' })], problems.of('schedule_type'))}
<div class="grid"><div data-for="weekly">${areaField({ name: 'weekly', label: 'Hours of the week', path: 'schedule_weekly', value: fields.weekly, rows: 3, placeholder: 'Monday 8 20', hint: 'A day and its hours on each line.', problems })}</div>
<div data-for="weekly">${textField({ name: 'schedule_timezone', label: 'Timezone', value: fields.schedule_timezone, placeholder: 'Europe/Berlin', problems })}</div>
<div data-for="interval">${selectField({ name: 'schedule_interval_seconds', label: 'Every', value: fields.schedule_interval_seconds, options: INTERVALS.map((seconds) => ({ value: String(seconds), label: intervalWords(seconds) })), problems })}</div></div>${showFirings(visit, fields)}</section>
<section class="card send"><p class="quiet">${id === null ? 'Creating a campaign scans nothing yet.' : 'Later runs use the new settings.'}</p><div class="buttons">${button(id === null ? 'Create the campaign' : 'Save')}${button('Show the next firings', { name: 'intent', value: 'preview', tone: 'plain' })}</div></section></form>`;
  return {
    title: id === null ? 'New campaign' : 'Change the campaign',
    above: html`<a href="${link('/campaigns')}">Campaigns</a>`,
    problems,
    body,
  };
}
