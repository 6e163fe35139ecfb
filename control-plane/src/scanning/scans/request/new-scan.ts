import { newId, newSecret } from '@adsweep/shared/ids.ts';
import { KIND_OF_TARGET } from '@adsweep/shared/lease/job-limits.ts';
import type { Target } from '@adsweep/shared/scan/target.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { initialOutbox } from '../../../platform/outbox/outbox-source.ts';
import { poolOf, spelled } from '../../../reference/catalogue/lookup.ts';
import { readProxyType } from '../../../reference/catalogue/proxy-type.ts';
import type { ScanProxy, ScanRecord } from '../state/scan.ts';
import { TARGET_KINDS } from './checks/target.ts';
import type { ScanIn } from './scan-in.ts';

/**
 * Who asks, and what a check costs: in micros, charged with the scan's creation. `scanId` is the id it must have, where a client may
 * ask for it twice.
 */
export type SubmitOptions = { organizationId: string; priceMicros: number; scanId?: string | undefined };

const REPORT_TOKEN_BYTES = 16;

/** The record of a scan that passed the checks: `pending`, its charge in its outbox. */
export function newScan(request: ScanIn, catalogue: Catalogue, options: SubmitOptions, now: Date): ScanRecord {
  const id = options.scanId ?? newId();
  const target = targetOf(request);
  const requested: RequestedScan = {
    _id: id,
    organization_id: options.organizationId,
    job_id: id,
    job_kind: KIND_OF_TARGET[target.kind],
    slot: 0,
    parent_scan_id: null,
    target,
    country_code: request.country_code.toUpperCase(),
    emulator_id: request.emulator_id,
    proxy: request.proxy ? spelledProxy(request.proxy, request.country_code.toUpperCase(), catalogue) : null,
    referrer: request.referrer ? new URL(request.referrer).href : null,
    ignore_first_n_domains: request.ignore_first_n_domains ?? 0,
    labels: request.labels ?? {},
    campaign_id: null,
    run_id: null,
    retry_max_attempts: request.retry_max_attempts ?? 0,
    price_micros: options.priceMicros,
  };
  return unbegunScan(requested, now);
}

/** What is asked of a scan, and what does not change with its state. */
export type RequestedScan = Pick<
  ScanRecord,
  | '_id'
  | 'organization_id'
  | 'job_id'
  | 'job_kind'
  | 'slot'
  | 'parent_scan_id'
  | 'target'
  | 'country_code'
  | 'emulator_id'
  | 'proxy'
  | 'referrer'
  | 'ignore_first_n_domains'
  | 'labels'
  | 'campaign_id'
  | 'run_id'
  | 'band'
  | 'retry_max_attempts'
  | 'price_micros'
>;

/** The record of a scan of which nothing was done yet: `pending`, its charge in its outbox. */
export function unbegunScan(requested: RequestedScan, now: Date): ScanRecord {
  const { _id, price_micros } = requested;
  return {
    ...requested,
    report_token: newSecret(REPORT_TOKEN_BYTES),
    status: 'pending',
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
    ...initialOutbox([{ id: `charge:${_id}`, kind: 'charge', at: now, amount_micros: price_micros }]),
  };
}

function targetOf(request: ScanIn): Target {
  const kind = TARGET_KINDS.find((one) => typeof request[one] === 'string');
  if (!kind) throw new Error('a scan without a target passed its checks');
  return { kind, value: request[kind] ?? '' };
}

function spelledProxy(proxy: NonNullable<ScanIn['proxy']>, country: string, catalogue: Catalogue): ScanProxy {
  const proxyType = readProxyType(proxy.proxy_type);
  const pool = poolOf(catalogue, country, proxyType);
  return {
    proxy_type: proxyType,
    region: spelled(pool?.regions ?? [], proxy.region ?? '') ?? '',
    city: spelled(pool?.cities ?? [], proxy.city ?? '') ?? '',
    isp: spelled(pool?.isps ?? [], proxy.isp ?? '') ?? '',
  };
}
