import { EMULATOR_IDS, EMULATORS, findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { TARGET_KINDS } from '@adsweep/shared/scan/target.ts';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { normaliseReferrer } from '@adsweep/shared/urls/normalise-referrer.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { pickFields } from '../../platform/pick-fields.ts';
import { closest, readProxyType } from '../../reference/catalogue/lookup.ts';
import { isSent, issueAt, type ScanRequest } from '../scans/request/checks/check.ts';
import { checkTarget } from '../scans/request/checks/target.ts';
import type { ScanCreation } from '../scans/request/create-scans.ts';
import { scheduleIssues, scheduleSettingsOf } from '../schedules/schedule-in.ts';
import { type FindUnknownDestinations, routingIssues } from './alert-routing.ts';
import { type CampaignSettings, DEFAULTS, RUN_SCANS_MAX, TARGET_FIELD } from './campaign.ts';
import type { CampaignIn } from './campaign-in.ts';

export type CampaignCheckParts = {
  findIssues: ScanCreation['findIssues'];
  certainOf: ScanCreation['certainOf'];
  /** The addresses that targets and referrers may have. */
  addresses: AddressPolicy;
  hasGroup: (organizationId: string, id: string) => Promise<boolean>;
  /** Whether campaigns of the organization may be bound to the policy set. */
  hasPolicySet: (organizationId: string, id: string) => Promise<boolean>;
  findUnknownDestinations: FindUnknownDestinations;
};

/** A campaign as it would be: the fields of a body, with those that it had before. */
export type SentCampaign = Partial<CampaignIn>;

/** The region, city and ISP of a campaign, and the fields of a scan that they become. */
const PLACE_FIELDS = { proxy_region: 'region', proxy_city: 'city', proxy_isp: 'isp' } as const;

/** The fields of a campaign that a scan has under another name. */
const CAMPAIGN_FIELD: Record<string, string> = {
  'proxy.proxy_type': 'proxy_type',
  ad_discovery: 'campaign_type',
  ...Object.fromEntries(Object.entries(PLACE_FIELDS).map(([ours, scans]) => [`proxy.${scans}`, ours])),
};

/**
 * All problems of a campaign whose form was checked: those of a scan with its fields, and those that only campaigns
 * have. `refused`: fields that the schema refused.
 */
export async function campaignIssues(
  parts: CampaignCheckParts,
  organizationId: string,
  sent: SentCampaign,
  refused: ReadonlySet<string>,
): Promise<Issue[]> {
  const scan = scanOf(sent);
  const countries = upperCase(sent.country_codes);
  // The target is checked by itself: a campaign's is never repeated for each country.
  const request: Omit<ScanRequest, 'campaign' | 'catalogue' | 'addresses'> = {
    scan,
    countries,
    refused: new Set([...refused, 'url']),
    sentCountries: { field: 'country_codes', value: sent.country_codes },
  };
  const ofScan = await parts.findIssues({ ...request, organizationId });
  return [
    ...targetIssues(sent, refused, parts.addresses),
    ...ofScan.map(renamed),
    ...deviceIssues(sent, refused),
    ...placeIssues(sent, countries),
    ...scheduleIssues(sent, refused),
    ...(await referenceIssues(parts, organizationId, sent)),
    ...(sent.notifications && !refused.has('notifications')
      ? await routingIssues(parts.findUnknownDestinations, organizationId, sent.notifications, ['notifications'])
      : []),
  ];
}

/** The fields of a scan, without its target. */
function scanOf(sent: SentCampaign): ScanRequest['scan'] {
  const { proxy_type, proxy_region, proxy_city, proxy_isp } = sent;
  const given = {
    ...pickFields(sent, 'referrer', 'ignore_first_n_domains', 'max_discovered_ads', 'ad_formats', 'labels'),
    ...pickFields(sent, 'retry_max_attempts', 'repeat_count', 'repeat_mode'),
    ad_discovery: sent.campaign_type === 'ad_discovery',
    proxy: definedOf({ proxy_type, region: proxy_region, city: proxy_city, isp: proxy_isp }),
  };
  return definedOf(given);
}

const definedOf = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

function renamed(issue: Issue): Issue {
  const [part, ...path] = issue.loc;
  const field = CAMPAIGN_FIELD[path.join('.')];
  return field ? { ...issue, loc: [part!, field] } : issue;
}

/** Exactly the target of the campaign's type. */
function targetIssues(sent: SentCampaign, refused: ReadonlySet<string>, addresses: AddressPolicy): Issue[] {
  if (refused.has('campaign_type')) return [];
  const { campaign_type = 'url' } = sent;
  const own = TARGET_FIELD[campaign_type];
  const others = TARGET_KINDS.filter((kind) => kind !== own && isSent(sent[kind])).map((kind) =>
    issueAt(kind, 'invalid_combination', `A campaign of the type ${campaign_type} has no ${kind}.`, sent[kind]),
  );
  if (isSent(sent[own])) {
    const request = { scan: { [own]: sent[own] }, refused, addresses, countries: [] } as unknown as ScanRequest;
    return [...others, ...checkTarget(request)];
  }
  if (refused.has(own)) return others;
  const msg = `A campaign of the type ${campaign_type} needs its ${own}.`;
  return [...others, issueAt(own, 'missing', msg, sent[own])];
}

/** At least one device, known ones, and no more scans than a run may have. */
function deviceIssues(sent: SentCampaign, refused: ReadonlySet<string>): Issue[] {
  const { emulator_categories: categories = DEFAULTS.emulator_categories, emulator_specific_ids: ids = [] } = sent;
  const unknown = [...new Set(ids)].filter((id) => id !== undefined && !findEmulator(id));
  const issues = unknown.map((id) => {
    const ctx = { valid_sample: closest(EMULATOR_IDS, id), valid_total: EMULATOR_IDS.length };
    return issueAt('emulator_specific_ids', 'unknown_emulator_id', 'There is no such emulator.', id, ctx);
  });
  if (['emulator_categories', 'emulator_specific_ids', 'country_codes', 'repeat_count'].some((one) => refused.has(one)))
    return issues;
  if (categories.length + ids.length === 0)
    return [issueAt('emulator_categories', 'invalid_combination', 'Name a category or a device.', categories)];
  const countries = new Set(upperCase(sent.country_codes)).size;
  const scans = countries * countDevices(sent) * (sent.repeat_count ?? 1);
  if (scans <= RUN_SCANS_MAX) return issues;
  const msg = `A run would have ${scans} scans; it may have ${RUN_SCANS_MAX}.`;
  return [...issues, issueAt('country_codes', 'run_too_large', msg, undefined, { scans, max: RUN_SCANS_MAX })];
}

/** The most devices that a run can have. */
function countDevices({
  emulator_categories: categories = DEFAULTS.emulator_categories,
  emulator_specific_ids: ids = [],
  emulator_mode: mode = DEFAULTS.emulator_mode,
}: SentCampaign): number {
  const named = new Set(categories);
  if (mode === 'random') return named.size + new Set(ids).size;
  const ofCategories = EMULATORS.filter(({ category }) => named.has(category)).map(({ id }) => id);
  return new Set([...ofCategories, ...ids]).size;
}

/** Places are those of one country. */
function placeIssues(sent: SentCampaign, countries: string[]): Issue[] {
  if (new Set(countries).size < 2) return [];
  return (Object.keys(PLACE_FIELDS) as (keyof typeof PLACE_FIELDS)[])
    .filter((field) => (sent[field] ?? '') !== '')
    .map((field) => issueAt(field, 'invalid_combination', 'Only with one country.', sent[field]));
}

async function referenceIssues(
  { hasGroup, hasPolicySet }: CampaignCheckParts,
  organizationId: string,
  { group_id, policy_set_id }: SentCampaign,
): Promise<Issue[]> {
  const [group, set] = await Promise.all([
    group_id ? hasGroup(organizationId, group_id) : true,
    policy_set_id ? hasPolicySet(organizationId, policy_set_id) : true,
  ]);
  return [
    ...(group ? [] : [issueAt('group_id', 'not_found', 'There is no such group.', group_id)]),
    ...(set ? [] : [issueAt('policy_set_id', 'not_found', 'There is no such policy set.', policy_set_id)]),
  ];
}

const upperCase = (codes: string[] | undefined): string[] => [
  ...new Set((codes ?? []).filter((code) => typeof code === 'string').map((code) => code.toUpperCase())),
];

/** The settings of a campaign that passed its checks, in the form in which they are stored. */
export function settingsOf(sent: CampaignIn, groupId: string, addresses: AddressPolicy): CampaignSettings {
  const { notifications: _, ...own } = sent;
  const { referrer, country_codes, emulator_specific_ids = [], emulator_categories, name } = own;
  const normal = isSent(referrer) ? normaliseReferrer(referrer ?? '', addresses) : null;
  return {
    campaign_type: 'url' as const,
    ...DEFAULTS,
    ...own,
    name: name.trim(),
    group_id: groupId,
    referrer: typeof normal === 'string' ? normal : null,
    country_codes: upperCase(country_codes),
    emulator_categories: [...new Set(emulator_categories ?? DEFAULTS.emulator_categories)],
    emulator_specific_ids: [...new Set(emulator_specific_ids)],
    proxy_type: readProxyType(sent.proxy_type),
    ...scheduleSettingsOf(sent),
  };
}
