import { IGNORE_FIRST_N_DOMAINS_MAX } from '@adsweep/shared/limits.ts';
import { ApiError } from '../../../http/api-error.ts';
import { type Html, html } from '../../../http/pages/html.ts';
import { at, withQuery } from '../../api/console-api.ts';
import { wordsIn } from '../../api/lists-in-texts.ts';
import { itemsOf, type Schemas } from '../../api/schemas.ts';
import { areaField, button, choice, choices, hidden, selectField, textField } from '../../components/fields.ts';
import { NO_PROBLEMS, type Problems, problemsOf } from '../../components/problems.ts';
import { counted, money, number } from '../../components/texts.ts';
import type { Page, PageResult, PageRoute, Visit } from '../../visit.ts';
import { EMPTY_FIELDS, fieldsOf, fieldsOfScan, type ScanFields, scanBody } from './scan-form.ts';

type Estimate = Schemas['Estimate'];

/** What the form picks from. */
export type Choices = {
  geos: Schemas['Geo'][];
  emulators: Schemas['Emulator'][];
  targeting: Schemas['Targeting'] | null;
};

export async function readChoices(
  { api }: Visit,
  { country_code, proxy_type }: Pick<ScanFields, 'country_code' | 'proxy_type'>,
): Promise<Choices> {
  const [geos, emulators, targeting] = await Promise.all([
    api.ask<Schemas['Geo'][]>(at`/geos`),
    api.ask<Schemas['Emulator'][]>(at`/emulators`),
    country_code === ''
      ? null
      : api.ask<Schemas['Targeting']>(withQuery(at`/proxy/targeting`, { country_code, proxy_type })).catch(() => null),
  ]);
  return { geos, emulators, targeting };
}

/** The formats of ads that a sweep can look for. */
const AD_FORMATS: Record<NonNullable<Schemas['ScanIn']['ad_formats']>[number], string> = {
  banner: 'banners',
  video: 'videos',
  pop: 'pop-ups and pop-unders',
};

/** The form of a scan. */
export const newScan: PageRoute = {
  method: 'GET',
  path: '/scans/new',
  needs: 'scans.write',
  handle: async (visit) => {
    const from = visit.query.get('from');
    const fields =
      from === null
        ? { ...EMPTY_FIELDS, ...given(visit.query) }
        : fieldsOfScan(await visit.api.ask<Schemas['Scan']>(at`/scans/${from}`));
    return formPage(visit, fields, NO_PROBLEMS, null);
  },
};

const given = (query: URLSearchParams): Partial<ScanFields> =>
  Object.fromEntries([...query].filter(([name]) => Object.hasOwn(EMPTY_FIELDS, name)));

/** Says what a scan would cost, or creates it. */
export const createScan: PageRoute = {
  method: 'POST',
  path: '/scans/new',
  handle: async (visit): Promise<PageResult> => {
    const { api, form, link, may } = visit;
    const fields = fieldsOf(form);
    let body: Record<string, unknown> | null = null;
    try {
      body = scanBody(fields);
      if (form.get('intent') === 'create') {
        const { id } = await api.send<Schemas['Scan']>('POST', at`/scans`, body);
        // A key may create scans without seeing them.
        return { redirect: link(may('scans.read') ? `/scans/${id}` : '/scans', { done: 'created' }) };
      }
      const estimate = await api.send<Estimate>('POST', withQuery(at`/scans`, { dry_run: true }), body);
      return formPage(visit, fields, NO_PROBLEMS, estimate);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error;
      const page = await formPage(visit, fields, problemsOf(error), null);
      // What a form lacks while it is filled in is no error of its page.
      const isPriced = body !== null && form.get('intent') !== 'create';
      return { ...page, status: isPriced ? 200 : error.status };
    }
  },
};

async function formPage(
  visit: Visit,
  fields: ScanFields,
  problems: Problems,
  estimate: Estimate | null,
): Promise<Page> {
  const { link, token, may, api } = visit;
  const all = await readChoices(visit, fields);
  const campaigns = may('campaigns.read')
    ? await api
        .ask<Schemas['CampaignPick'][] | { items: Schemas['CampaignPick'][] }>(at`/campaigns/picker`)
        .then(itemsOf)
        .catch(() => [])
    : [];
  const body = html`<form class="form" method="post" action="${link('/scans/new')}" data-try="intent=price" data-regions="estimate places">${token()}
<section class="card"><h2>What</h2>
${choices('Target', [
  choice('radio', { name: 'kind', value: 'url', label: 'Page', checked: fields.kind === 'url' }),
  choice('radio', { name: 'kind', value: 'ad_tag', label: 'Ad tag', checked: fields.kind === 'ad_tag' }),
  choice('radio', {
    name: 'kind',
    value: 'vast_tag',
    label: 'Video ad tag (VAST)',
    checked: fields.kind === 'vast_tag',
  }),
])}
${areaField({ name: 'target', label: 'Address or markup', path: fields.kind, value: fields.target, rows: 3, code: true, required: true, placeholder: 'https://example.com/', problems })}
<div class="form" data-for="url">${choices('Ads on the page', [choice('checkbox', { name: 'ad_discovery', value: 'yes', label: 'Find the ads on the page and scan each of them', checked: fields.ad_discovery !== '', hint: 'Only for pages. Each ad is a check of its own.' })], problems.of('ad_discovery'))}
<div class="form" data-for="sweep">${textField({ name: 'max_discovered_ads', label: 'At most this many ads', type: 'number', value: fields.max_discovered_ads, min: 1, max: 25, placeholder: '12', problems })}
${choices(
  'Formats of these ads',
  Object.entries(AD_FORMATS).map(([value, label]) =>
    choice('checkbox', { name: 'ad_formats', value, label, checked: wordsIn(fields.ad_formats).includes(value) }),
  ),
  problems.of('ad_formats'),
)}<p class="hint">None chosen: all of them.</p></div></div>
</section>
<section class="card"><h2>From where, on what</h2><div class="grid">
${selectField({ name: 'country_code', label: 'Country', value: fields.country_code, required: true, options: countryOptions(all.geos), problems })}
${selectField({ name: 'emulator_id', label: 'Device', value: fields.emulator_id, required: true, options: [{ value: '', label: 'Choose a device' }, ...deviceGroups(all.emulators)], problems })}
</div>
${places(fields, all, problems)}</section>
<details class="card fold"${isDetailed(fields, problems) && html` open`}><summary>More settings</summary><div class="grid">
${textField({ name: 'referrer', label: 'Referrer', type: 'url', value: fields.referrer, placeholder: 'https://publisher.example/article', hint: 'The publisher page that the check is made from.', problems })}
${selectField({ name: 'campaign_id', label: 'Campaign', value: fields.campaign_id, options: [{ value: '', label: 'None: it raises no alerts' }, ...campaigns.map(({ id, name }) => ({ value: id, label: name }))], problems })}
${textField({ name: 'repeat_count', label: 'Repeats', type: 'number', value: fields.repeat_count, min: 1, max: 20, problems })}
${selectField({
  name: 'repeat_mode',
  label: 'Repeats use',
  value: fields.repeat_mode,
  options: [
    { value: 'isolated', label: 'a browser each' },
    { value: 'shared', label: 'the same browser' },
  ],
  problems,
})}
${textField({ name: 'ignore_first_n_domains', label: 'Domains to ignore', type: 'number', value: fields.ignore_first_n_domains, min: 0, max: IGNORE_FIRST_N_DOMAINS_MAX, hint: 'So many at the start of the redirect chain are not judged.', problems })}
${textField({ name: 'retry_max_attempts', label: 'Retries after a technical failure', type: 'number', value: fields.retry_max_attempts, min: 0, max: 5, problems })}
</div>${areaField({ name: 'labels', label: 'Labels', value: fields.labels, rows: 2, placeholder: 'team=brand safety', hint: 'One key=value on each line.', problems })}</details>
<section class="card send">${showEstimate(estimate)}<div class="buttons">${button('Create the scan', { name: 'intent', value: 'create' })}${button('Price it', { name: 'intent', value: 'price', tone: 'plain' })}</div></section>
</form>`;
  return { title: 'New scan', above: html`<a href="${link('/scans')}">Scans</a>`, problems, body };
}

const isDetailed = (fields: ScanFields, problems: Problems): boolean =>
  problems.of(
    'referrer',
    'campaign_id',
    'repeat_count',
    'repeat_mode',
    'retry_max_attempts',
    'labels',
    'ignore_first_n_domains',
  ).length > 0 ||
  fields.ignore_first_n_domains !== '0' ||
  fields.referrer !== '' ||
  fields.campaign_id !== '' ||
  fields.labels !== '' ||
  fields.repeat_count !== '1' ||
  fields.retry_max_attempts !== '0';

/** The countries to choose from, by name. */
export const countryOptions = (geos: readonly Schemas['Geo'][]) => [
  { value: '', label: 'Choose a country' },
  ...geos
    .map((geo) => ({ value: geo.country_code, label: geo.name }))
    .toSorted((one, other) => one.label.localeCompare(other.label)),
];

/** The kinds of devices, in words. */
export const CATEGORY_WORDS: Record<string, string> = {
  android_phone: 'Android phones',
  android_tablet: 'Android tablets',
  iphone: 'iPhones',
  ipad: 'iPads',
  windows_desktop: 'Windows',
  macos_desktop: 'macOS',
};

export const deviceGroups = (emulators: readonly Schemas['Emulator'][]) =>
  [...Map.groupBy(emulators, ({ category }) => category)].map(([category, devices]) => ({
    category,
    group: CATEGORY_WORDS[category] ?? category,
    options: devices.map(({ id, display_name, browser }) => ({
      value: id,
      label: display_name.toLowerCase().includes(browser.toLowerCase()) ? display_name : `${display_name}, ${browser}`,
    })),
  }));

/** Where the traffic leaves, of what the catalogue has for the country. */
function places(
  {
    country_code,
    proxy_type,
    region,
    city,
    isp,
  }: Pick<ScanFields, 'country_code' | 'proxy_type' | 'region' | 'city' | 'isp'>,
  { targeting }: Choices,
  problems: Problems,
): Html {
  const pick = (name: string, label: string, value: string, known: readonly string[]) =>
    selectField({
      name,
      label,
      path: `proxy.${name}`,
      value,
      options: [
        { value: '', label: `Any (${number(known.length)} known)` },
        ...known.map((one) => ({ value: one, label: one })),
      ],
      problems,
    });
  const none =
    country_code === ''
      ? 'Choose a country first to pick a region, city or ISP.'
      : targeting === null
        ? 'The catalogue has nothing about this country.'
        : '';
  return html`<div class="grid" data-region="places">${selectField({
    name: 'proxy_type',
    label: 'Connection',
    path: 'proxy.proxy_type',
    value: proxy_type,
    options: [
      { value: 'residential', label: 'residential' },
      { value: 'mobile', label: 'mobile' },
    ],
    problems,
  })}
${targeting ? html`${pick('region', 'Region', region, targeting.regions)}${pick('city', 'City', city, targeting.cities)}${pick('isp', 'ISP', isp, targeting.isps)}` : html`<p class="quiet hint-line">${none} Press “Price it” after you chose one.</p>${hidden('region', region)}${hidden('city', city)}${hidden('isp', isp)}`}</div>`;
}

function showEstimate(estimate: Estimate | null): Html {
  if (!estimate)
    return html`<div class="estimate" data-region="estimate"><p class="quiet">“Price it” says what the scan costs and whether it can be routed. Nothing is created.</p></div>`;
  const { checks, cost_micros, routable, warnings } = estimate;
  const range = ({ min, max }: { min: number; max: number }, show: (value: number) => string) =>
    min === max ? show(min) : `${show(min)} to ${show(max)}`;
  const route =
    routable === null
      ? html`<span class="chip off">routing not known before the crawl</span>`
      : routable
        ? html`<span class="chip clean">can be routed</span>`
        : html`<span class="chip high">no exit there</span>`;
  return html`<div class="estimate" data-region="estimate"><p><b class="price">${range(cost_micros, money)}</b> for ${range(checks, (count) => counted(count, 'check'))} ${route}</p>${warnings.map((one) => html`<p class="quiet">${one}</p>`)}</div>`;
}
