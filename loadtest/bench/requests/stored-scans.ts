import { filterKeysOf } from '../../../control-plane/src/scan/filter-keys.ts';
import type { ScanRecord } from '../../../control-plane/src/scan/scan.ts';
import type { StoredScan } from '../../../control-plane/src/scan/stored-scan.ts';

/** When the first of the stored scans was created. */
export const FIRST_CREATED = 1.7e12;

/** Scan number `number` of an organization, as a finished one is stored; each is a second younger than the one before. */
export function storedScan(number: number, organization_id: string): StoredScan {
  const id = `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const at = (ms: number): Date => new Date(FIRST_CREATED + number * 1_000 + ms);
  const tag = {
    id,
    tag_slug: 'autosound',
    detail: 'Plays sound.',
    url: '',
    surface: 'page' as const,
    created_at: at(9),
  };
  const record: ScanRecord = {
    _id: id,
    organization_id,
    job_id: id,
    job_kind: 'page',
    slot: 0,
    parent_scan_id: null,
    report_token: id,
    target: { kind: 'url', value: `https://shop-${number % 1_000}.example/landing?click=${number}` },
    country_code: ['US', 'DE', 'FR', 'PT'][number % 4]!,
    emulator_id: 'android_phone_pixel_8',
    proxy: { proxy_type: 'mobile', region: '', city: '', isp: '' },
    referrer: 'https://news.example/',
    ignore_first_n_domains: 0,
    labels: { team: ['red', 'green', 'blue'][number % 3]!, order: `nr-${number % 5_000}` },
    campaign_id: number % 2 === 0 ? `campaign-${(number / 2) % 10}` : null,
    run_id: null,
    retry_max_attempts: 1,
    price_micros: 10_000,
    status: number % 10 === 0 ? 'failed' : number % 25 === 1 ? 'partial' : 'completed',
    error: '',
    retry_attempt: 0,
    lost_requeues: 0,
    lease: null,
    exit: null,
    capture: {
      id,
      offer_url: 'https://offer.example/',
      page_title: 'Offer',
      has_screenshot: true,
      crawl_ms: 4_000,
      landings: 1,
    },
    network: 'Example Ads',
    network_host: 'ads.example',
    classification: { brand: number % 7 === 0 ? 'Acme' : null, ai_category: null, iab_v3: null, custom_taxonomies: [] },
    tags: number % 5 === 0 ? [tag] : [],
    created_at: at(0),
    due_at: at(0),
    started_at: at(1),
    crawled_at: at(8),
    checks_claimed_until: null,
    completed_at: at(9),
    event_sequence: 3,
    outbox: [],
  };
  return { ...record, filter_keys: filterKeysOf(record) };
}
