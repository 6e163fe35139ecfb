import { derivedId, newSecret } from '@adsweep/shared/ids.ts';
import { KIND_OF_TARGET } from '@adsweep/shared/lease/job-limits.ts';
import { DISCOVERED_ADS_DEFAULT } from '@adsweep/shared/limits.ts';
import { TARGET_KINDS, type Target } from '@adsweep/shared/scan/target.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { initialOutbox } from '../../../platform/outbox/outbox-source.ts';
import { poolOf, readProxyType, spelled } from '../../../reference/catalogue/lookup.ts';
import type { ScanProxy, ScanRecord } from '../../../scan/scan.ts';
import { usageKindOf } from '../../../scan/usage-kind.ts';
import type { ScanSettings } from './scan-in.ts';

/**
 * The requested scans: a scan, or a group of repeats, in each of `countries` (upper case) on each of `emulators`, by
 * default on that of the settings.
 */
export type RequestedScans = {
  settings: ScanSettings;
  countries: string[];
  emulators?: string[];
  /** The priority class of all scans; absent: interactive for a single scan, else bulk. */
  band?: ScanRecord['band'];
  /** The trace context of the request; absent: there is none. */
  traceparent?: string;
};

/**
 * The organization that requests scans, and the price of a check in micros, which is charged when a scan is created.
 * `chargedAt`: when the checks were counted, if that was earlier.
 */
export type SubmitOptions = { organizationId: string; priceMicros: number; chargedAt?: Date };

/** A scan, or a group of repeats. The ids of its scans are `derivedId(name, index)`. */
export type ScanGroup = { name: string; country: string; emulatorId: string };

/** The groups of a request, by country and then by emulator; they are the same when the request is repeated. */
export function groupsOf({ settings, countries, emulators, requestId }: RequestedScans & { requestId: string }) {
  if (!emulators)
    return countries.map(
      (country): ScanGroup => ({ name: `${requestId}/${country}`, country, emulatorId: settings.emulator_id }),
    );
  return countries.flatMap((country) =>
    emulators.map((emulatorId): ScanGroup => ({ name: `${requestId}/${country}/${emulatorId}`, country, emulatorId })),
  );
}

/** The indexes of the repeats in each group. */
export const indexesOf = ({ settings }: RequestedScans): number[] =>
  Array.from({ length: settings.repeat_count ?? 1 }, (_, index) => index);

/** The priority class of a request for several scans: no person waits for them. */
const MANY = { band: 1 as const };

const REPORT_TOKEN_BYTES = 16;

/**
 * The records of some groups of a request, each with its leader first: `pending`, each with its charge in its outbox.
 */
export function newScans(
  requested: RequestedScans & { requestId: string },
  groups: ScanGroup[],
  catalogue: Catalogue,
  options: SubmitOptions,
  now: Date,
): ScanRecord[][] {
  const { settings, countries, emulators = [settings.emulator_id] } = requested;
  const indexes = indexesOf(requested);
  const total = indexes.length;
  const isOneOfMany = countries.length * emulators.length * total > 1;
  const { band, traceparent } = requested;
  const own = { ...(band !== undefined && { band }), ...(traceparent && { traceparent }) };
  const common = isOneOfMany ? { ...MANY, ...sharedText(requested, options), ...own } : own;
  const isShared = settings.repeat_mode === 'shared';
  return groups.map(({ name, country, emulatorId }) =>
    indexes.map((index) => {
      const repeat = total > 1 ? positionInGroup(name, index, total, isShared) : {};
      const position = { id: derivedId(name, index), country, ...common, ...repeat };
      return newScan({ ...settings, emulator_id: emulatorId }, position, catalogue, options, now);
    }),
  );
}

/**
 * The scans of a request have the same ad tag or VAST document, which is stored once. Its id is different in each
 * organization and request, and for another text: the one that is stored is then never replaced by the text of a
 * changed order.
 */
function sharedText(
  { settings, requestId }: RequestedScans & { requestId: string },
  { organizationId }: SubmitOptions,
) {
  const { kind, value } = targetOf(settings);
  return kind === 'url' ? {} : { target_text_id: derivedId(`${organizationId}/${requestId}/${value}`, 0) };
}

/** Repeats that share a browser are the members of one job, which has the id of their leader. */
function positionInGroup(group: string, index: number, total: number, isShared: boolean): Partial<PositionInRequest> {
  const leader_id = derivedId(group, 0);
  if (!isShared) return { repeat: { index, total, leader_id, session_id: null } };
  const repeat = { index, total, leader_id, session_id: derivedId(`${group}/session`, 0) };
  return { repeat, job_id: leader_id, job_kind: 'repeat_group', slot: index };
}

/** What distinguishes the scans of one request; `country` in upper case. */
export type PositionInRequest = { id: string; country: string } & Pick<
  ScanRecord,
  'band' | 'repeat' | 'target_text_id' | 'traceparent'
> &
  Partial<Pick<ScanRecord, 'job_id' | 'job_kind' | 'slot'>>;

/** The record of one scan of a request. */
export function newScan(
  request: ScanSettings,
  { id, country, ...position }: PositionInRequest,
  catalogue: Catalogue,
  options: SubmitOptions,
  now: Date,
): ScanRecord {
  const target = targetOf(request);
  const requested: RequestedScan = {
    _id: id,
    organization_id: options.organizationId,
    job_id: id,
    job_kind: KIND_OF_TARGET[target.kind],
    slot: 0,
    parent_scan_id: null,
    target,
    country_code: country,
    emulator_id: request.emulator_id,
    proxy: request.proxy ? spelledProxy(request.proxy, country, catalogue) : null,
    referrer: request.referrer ? new URL(request.referrer).href : null,
    ignore_first_n_domains: request.ignore_first_n_domains ?? 0,
    labels: request.labels ?? {},
    campaign_id: request.campaign_id ?? null,
    run_id: request.run_id ?? null,
    retry_max_attempts: request.retry_max_attempts ?? 0,
    price_micros: options.priceMicros,
    ...(options.chargedAt && { charged_at: options.chargedAt }),
    ...position,
    ...sweepOf(request),
  };
  return pendingScan(requested, now);
}

/** What a scan has that sweeps its page for ads. It shares its job with the ads that it finds. */
function sweepOf({ ad_discovery, ad_formats, max_discovered_ads }: ScanSettings): Partial<RequestedScan> {
  if (!ad_discovery) return {};
  const max = max_discovered_ads ?? DISCOVERED_ADS_DEFAULT;
  return { job_kind: 'sweep', discovery: { ad_formats: ad_formats ?? null, max_discovered_ads: max } };
}

/** The fields of a scan that were requested, or do not change with its state. */
export type RequestedScan = Pick<
  ScanRecord,
  | '_id'
  | 'organization_id'
  | 'job_id'
  | 'job_kind'
  | 'slot'
  | 'parent_scan_id'
  | 'discovery'
  | 'ad_block'
  | 'target'
  | 'target_text_id'
  | 'country_code'
  | 'emulator_id'
  | 'proxy'
  | 'referrer'
  | 'ignore_first_n_domains'
  | 'labels'
  | 'campaign_id'
  | 'run_id'
  | 'band'
  | 'repeat'
  | 'retry_max_attempts'
  | 'price_micros'
  | 'charged_at'
  | 'traceparent'
>;

/** The record of a new scan: `pending`, with its charge in its outbox. */
export function pendingScan(requested: RequestedScan, now: Date): ScanRecord {
  const { _id, organization_id, price_micros, charged_at = now } = requested;
  const check = { amount_micros: price_micros, target_kind: usageKindOf(requested), charged_at };
  return {
    ...requested,
    report_token: newSecret(REPORT_TOKEN_BYTES),
    status: 'pending',
    status_at: now,
    error: '',
    retry_attempt: 0,
    lost_requeues: 0,
    lease: null,
    exit: null,
    capture: null,
    network: '',
    network_host: '',
    classification: null,
    tags: [],
    created_at: now,
    due_at: now,
    started_at: null,
    crawled_at: null,
    checks_claimed_until: null,
    completed_at: null,
    event_sequence: 0,
    ...initialOutbox(organization_id, [{ id: `charge:${_id}`, kind: 'charge', at: now, ...check }]),
  };
}

function targetOf(request: ScanSettings): Target {
  const kind = TARGET_KINDS.find((one) => typeof request[one] === 'string');
  if (!kind) throw new Error('a scan without a target passed its checks');
  return { kind, value: request[kind] ?? '' };
}

function spelledProxy(proxy: NonNullable<ScanSettings['proxy']>, country: string, catalogue: Catalogue): ScanProxy {
  const proxyType = readProxyType(proxy.proxy_type);
  const pool = poolOf(catalogue, country, proxyType);
  return {
    proxy_type: proxyType,
    region: spelledOrSent(pool?.regions, proxy.region),
    city: spelledOrSent(pool?.cities, proxy.city),
    isp: spelledOrSent(pool?.isps, proxy.isp),
  };
}

/**
 * What the catalogue no longer has, as the run of a campaign may name it, stays as it was sent: the scan then fails.
 */
const spelledOrSent = (values: string[] = [], sent = ''): string => spelled(values, sent) ?? sent;
