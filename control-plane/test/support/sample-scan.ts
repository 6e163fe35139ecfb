import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop, HopKind } from '@adsweep/shared/capture/hop.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import type { SeenEvidence, SeenLanding, TagWords } from '../../src/scanning/reports/report.ts';

const at = (seconds: number): Date => new Date(Date.UTC(2025, 10, 21, 20, 7, seconds));

/** A finished scan whose private fields all say `private`, so that a test can look for that word. */
export function sampleScan(changes: Partial<ScanRecord> = {}): ScanRecord {
  return {
    _id: '5f0c0c1e-0000-4000-8000-00000private',
    organization_id: 'private-organization',
    job_id: 'private-job',
    job_kind: 'page',
    slot: 0,
    parent_scan_id: null,
    report_token: 'AbCdEfGhIjKlMnOpQrStUv',
    target: { kind: 'url', value: 'http://go.redirects.example/parcel' },
    country_code: 'DE',
    emulator_id: 'android_phone_pixel_8',
    proxy: { proxy_type: 'mobile', region: 'private region', city: 'private city', isp: 'private isp' },
    referrer: 'https://private.example/',
    ignore_first_n_domains: 0,
    labels: { order: 'private label' },
    campaign_id: 'private-campaign',
    run_id: 'private-run',
    retry_max_attempts: 2,
    price_micros: 10_000,
    status: 'completed',
    error: '',
    retry_attempt: 0,
    lost_requeues: 0,
    lease: null,
    exit: {
      provider: 'private provider',
      exit_id: 'private-exit',
      country_code: 'DE',
      proxy_type: 'mobile',
      region: 'private region',
      city: 'private city',
      isp: 'private isp',
      session: 'private session',
      ip: '203.0.113.7',
      observed_country_code: 'AT',
      asn: 'private asn',
      attempts: 1,
    },
    capture: {
      id: 'private-capture',
      offer_url: 'http://stuck.offers.example/',
      page_title: 'You have been chosen | Offer of the day',
      has_screenshot: true,
      crawl_ms: 4_210,
      landings: 2,
    },
    network: '',
    network_host: '',
    classification: {
      brand: 'Offer of the day',
      ai_category: { tier1: 'Shopping', tier2: 'Sweepstakes', tier3: null, tier4: null },
      iab_v3: null,
      custom_taxonomies: [],
    },
    tags: [
      sampleTag('creative_interactive', 'A button of the page opens nothing.'),
      sampleTag('back_button', 'The page added 10 copies of itself to the history and listens for Back.'),
    ],
    created_at: at(0),
    due_at: at(0),
    started_at: at(1),
    crawled_at: at(6),
    checks_claimed_until: null,
    completed_at: at(7),
    event_sequence: 3,
    outbox: [{ id: 'private-outbox', at: at(7), kind: 'charge', amount_micros: 10_000 }],
    ...changes,
  };
}

export function sampleTag(
  slug: string,
  detail: string,
  url = 'http://stuck.offers.example/',
): ScanRecord['tags'][number] {
  return { id: 'private-tag', tag_slug: slug, detail, url, surface: 'page', created_at: at(7) };
}

export function sampleHop(url: string, kind: HopKind, status_code: number, timestamp_ms: number): CapturedHop {
  return {
    url,
    kind,
    status_code,
    timestamp_ms,
    content_type: 'text/html; charset=utf-8',
    body_size: 900,
    redirected_from: '',
  };
}

export function sampleLanding(ord: number, changes: Partial<CapturedLanding> = {}): CapturedLanding {
  return {
    ord,
    opener_url: '',
    final_url: 'http://stuck.offers.example/',
    page_title: 'You have been chosen | Offer of the day',
    site_name: '',
    redirect_chain: [
      sampleHop('http://go.redirects.example/parcel', 'initial', 302, 41),
      sampleHop('http://track.tracker.example/c/parcel?source=news&slot=rectangle', 'http', 307, 122),
      sampleHop('http://ads.adserver.example/click/parcel', 'http', 200, 201),
      sampleHop('http://go.redirects.example/delivery', 'meta_refresh', 200, 288),
      sampleHop('http://stuck.offers.example/', 'script', 200, 402),
    ],
    screenshot: `landing-${ord}.webp`,
    opened_at_ms: 0,
    elapsed_ms: 4_000,
    ...changes,
  };
}

/** What a capture with these landings, and nothing else, tells. */
export const sampleEvidence = (landings: readonly SeenLanding[]): SeenEvidence => ({
  landings,
  creative: null,
  vast: null,
  adBlocks: null,
  notes: [],
  artifacts: new Map(),
});

const WORDS: Record<string, TagWords> = {
  back_button: {
    display_name: 'Back button hijacked',
    category: 'behavior',
    severity: 'medium',
    visibility: 'public',
    description: 'The landing fills the history with copies of itself and answers Back with another offer.',
  },
  creative_interactive: {
    display_name: 'Interactive creative',
    category: 'behavior',
    severity: 'low',
    visibility: 'public',
    description: 'Some buttons or links do not open the landing.',
  },
  ios_exploit: {
    display_name: 'iOS exploit attempt',
    category: 'security',
    severity: 'high',
    visibility: 'public',
    description: 'A request looks like one of a known exploit kit.',
  },
  note_to_self: {
    display_name: 'private note',
    category: 'custom',
    severity: 'high',
    visibility: 'internal',
    description: 'private words',
  },
};

/** Words of a few tags; any other is unknown to the public. */
export const sampleTagWords = (slug: string): TagWords | null => WORDS[slug] ?? null;

/** Values that pages have been seen to try. */
export const HOSTILE = {
  title: `"><script>alert(1)</script><img src=x onerror='alert(2)'> \u202Egnp.exe \u0000 {{7*7}} <!-- `,
  url: `http://evil.example/"onmouseover="alert(1)/<script>alert(2)</script>?q='\`&lt;`,
  longUrl: `http://long.example/path?${'abcdefghij'.repeat(300)}`,
  detail: `</p></article><style>*{display:none}</style><meta http-equiv=refresh content=0;url=//evil.example> \u2066x`,
};

/** Landings whose every text is hostile. */
export function hostileLandings(): CapturedLanding[] {
  const { title, url, longUrl } = HOSTILE;
  const chain = [
    sampleHop('http://evil.example@bank.example:80/login', 'initial', 301, 3),
    sampleHop(url, 'http', 200, 12),
    sampleHop(`javascript:alert(document.domain)//\u202E`, 'script', 0, 40),
    sampleHop(longUrl, 'form', 404, 900),
    sampleHop(`http://xn--pple-43d.example/\u05e9\u05dc\u05d5\u05dd/${title}`, 'other', 500, 61_000),
  ].map((hop) => ({ ...hop, content_type: `text/html<script>${title}` }));
  const tab = sampleLanding(1, { page_title: title.repeat(20), final_url: longUrl, redirect_chain: chain });
  return [sampleLanding(0, { page_title: title, final_url: url, redirect_chain: chain }), { ...tab, screenshot: null }];
}
