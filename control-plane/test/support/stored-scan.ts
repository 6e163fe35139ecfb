import { newId } from '@adsweep/shared/ids.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { newScan } from '../../src/scanning/scans/request/new-scan.ts';
import { PRICE_MICROS } from './open-plane.ts';
import { ORGANIZATIONS, PAGE } from './running-api.ts';
import { CATALOGUE } from './sample-catalogue.ts';

export const CREATED = new Date('2026-03-10T12:00:00.000Z');
export const later = (ms: number) => new Date(CREATED.getTime() + ms);

/** A stored scan with the fields of `change`. */
export function record(change: Partial<ScanRecord> = {}): ScanRecord {
  const options = { organizationId: ORGANIZATIONS.ours, priceMicros: PRICE_MICROS };
  const scan = newScan(PAGE, { id: newId(), country: 'US' }, CATALOGUE, options, CREATED);
  return { ...scan, ...change };
}

export const tag = (slug: string, url = '') => ({
  id: `tag-${slug}`,
  tag_slug: slug,
  detail: 'seen',
  url,
  surface: 'page' as const,
  created_at: later(9_000),
});

export const finished = (change: Partial<ScanRecord> = {}): ScanRecord =>
  record({
    status: 'completed',
    labels: { team: 'red' },
    classification: {
      brand: 'Acme (Ltd.)',
      ai_category: { tier1: 'Shopping', tier2: 'Shoes', tier3: null, tier4: null },
      iab_v3: null,
      custom_taxonomies: [],
    },
    capture: {
      id: 'capture',
      offer_url: 'https://offer.example/',
      page_title: 'Offer',
      has_screenshot: true,
      crawl_ms: 4_000,
      landings: 2,
    },
    exit: {
      provider: 'direct',
      exit_id: 'e1',
      country_code: 'US',
      proxy_type: 'residential',
      region: null,
      city: null,
      isp: null,
      session: 's',
      ip: null,
      observed_country_code: null,
      asn: null,
      attempts: 2,
    },
    network: 'Example Ads',
    network_host: 'ads.example',
    started_at: later(3_000),
    crawled_at: later(8_000),
    completed_at: later(10_000),
    retry_attempt: 1,
    ...change,
  });
