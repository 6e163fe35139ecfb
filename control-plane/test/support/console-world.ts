import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { newId } from '@adsweep/shared/ids.ts';
import sharp from 'sharp';
import type { LookChange } from '../../src/scan/look.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { childScanId, newChildScan } from '../../src/scanning/scans/request/new-child-scan.ts';
import { newScan } from '../../src/scanning/scans/request/new-scan.ts';
import { raiseAlert, relayAll } from './alert-doubles.ts';
import { PRICE_MICROS } from './open-plane.ts';
import { KEYS, ORGANIZATIONS, PAGE, type RunningApi } from './running-api.ts';
import { captureOf } from './running-farm.ts';
import { CATALOGUE } from './sample-catalogue.ts';
import { sampleHop, sampleLanding, sampleTag } from './sample-scan.ts';
import { sampleAds } from './sample-sweep.ts';
import { storeCapture } from './store-capture.ts';

const MINUTE = 60_000;

/** A picture of a page with a headline and some lines. */
function picture(name: string, width: number, height: number, hue: number): Promise<Buffer> {
  const lines = Array.from(
    { length: Math.floor(height / 60) },
    (_, at) =>
      `<rect x="5%" y="${40 + at * 60}" width="${60 + ((at * 13) % 30)}%" height="${at === 0 ? 34 : 16}" fill="hsl(${hue},40%,${at === 0 ? 40 : 75}%)"/>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="hsl(${hue},60%,95%)"/>${lines.join('')}</svg>`;
  const drawn = sharp(Buffer.from(svg));
  return (name.endsWith('.webp') ? drawn.webp() : drawn.jpeg()).toBuffer();
}

/** What becomes of a text, at most this long. */
type Words = (text: string, max?: number) => string;

const INJECTED = `"'><script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp.exe\u2066</textarea></title></svg>{{7*7}}<!--`;

/**
 * Texts of an attacker: markup that would end every element they are in, characters that change the direction of text,
 * and one endless word.
 */
export const hostileWords: Words = (text, max = 10_000) => `${text}${INJECTED}${'x'.repeat(10_000)}`.slice(0, max);

/**
 * What a console shows: finished, running and failed scans, a sweep with its ads, a campaign with a run, alerts, a
 * rule, a policy set, a webhook, a destination and keys. `words`: what becomes of each text that somebody else decides
 * on.
 */
export async function consoleWorld(
  api: RunningApi,
  { words = (text) => text, who = 'ours' }: { words?: Words; who?: 'ours' | 'theirs' } = {},
) {
  const key = KEYS[who];
  const organizationId = ORGANIZATIONS[who];
  /** Texts that go through the API have its maximum length. */
  const name = (text: string) => words(text, 190);
  const now = Date.now();
  const ago = (minutes: number) => new Date(now - minutes * MINUTE);
  const options = { organizationId, priceMicros: PRICE_MICROS };
  const made = async (path: string, body: unknown) => {
    const answer = await api.post(path, body, { key });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };

  const policySet = await made('/api/v1/policy-sets', {
    name: name('Brand safety'),
    description: name('What we never want.'),
    entries: [
      { rule_type: 'tag', tag_slug: 'auto_redirect' },
      { rule_type: 'brand', brand: name('Acme') },
    ],
  });
  const campaign = await made('/api/v1/campaigns', {
    ...{ name: name('Spring offer'), url: PAGE.url, country_codes: ['US', 'PT'], policy_set_id: policySet.id },
    ...{ emulator_specific_ids: ['windows_chrome', 'android_phone_pixel_8'], emulator_mode: 'all' },
    ...{ schedule_type: 'weekly', schedule_weekly: { 0: [8, 20], 3: [8] }, schedule_timezone: 'Europe/Berlin' },
  });
  const { id: runId } = (await api.post(`/api/v1/campaigns/${campaign.id}/run`, undefined, { key })).body;
  const rule = await made('/api/v1/custom-rules', {
    name: name('Miracle cures'),
    tag_slug: 'miracle_cure',
    rule_type: 'stopword_content',
    config: { contains: [name('miracle'), 'cure'] },
  });

  const scanAt = (minutes: number, request: object = PAGE, change: Partial<ScanRecord> = {}): ScanRecord => ({
    ...newScan({ ...PAGE, ...request }, { id: newId(), country: 'US' }, CATALOGUE, options, ago(minutes)),
    ...change,
  });
  const ended = (scan: ScanRecord, change: Partial<ScanRecord> = {}): ScanRecord => ({
    ...scan,
    status: 'completed',
    labels: { team: words('red') },
    classification: {
      brand: words('Acme'),
      ai_category: { tier1: words('Shopping'), tier2: 'Shoes', tier3: null, tier4: null },
      iab_v3: null,
      custom_taxonomies: [],
    },
    exit: {
      ...{ provider: words('Exits Ltd.'), exit_id: words('exit-7'), country_code: 'US', proxy_type: 'residential' },
      ...{
        region: words('Texas'),
        city: words('Austin'),
        isp: words('Example Telecom'),
        session: 's',
        ip: '203.0.113.7',
      },
      ...{ observed_country_code: 'US', asn: words('AS64500'), attempts: 1 },
    },
    network: words('Example Ads'),
    network_host: words('ads.example'),
    started_at: new Date(scan.created_at.getTime() + 2_000),
    crawled_at: new Date(scan.created_at.getTime() + 9_000),
    completed_at: new Date(scan.created_at.getTime() + 10_000),
    ...change,
  });
  const landing = (hue: number) =>
    sampleLanding(0, {
      page_title: words(`You have been chosen ${hue}`),
      final_url: words('http://stuck.offers.example/landing'),
      screenshot: 'landing-0.webp',
      redirect_chain: [
        sampleHop('http://go.redirects.example/parcel', 'initial', 302, 41),
        sampleHop(words('http://track.tracker.example/c/parcel?source=news'), 'http', 200, 122),
      ],
    });
  const store = async (
    scan: ScanRecord,
    seen: Partial<Capture>,
    sizes: [name: string, width: number, height: number][],
    hue: number,
  ) => {
    const files = await Promise.all(
      sizes.map(async ([name, width, height]) => ({ name, bytes: await picture(name, width, height, hue) })),
    );
    const summary = await storeCapture(api, scan._id, captureOf([], seen), files);
    const whole = {
      ...scan,
      capture: { ...summary, has_creative_screenshot: sizes.some(([name]) => name.startsWith('creative')) },
    };
    await api.scans.insertUnlessExists(whole as ScanRecord);
    return scan._id;
  };

  const match = {
    rule_id: rule.id,
    rule_name: name('Miracle cures'),
    rule_type: 'stopword_content',
    place: 'text',
    landing: 0,
    offset: 1_204,
    excerpt: words('the «miracle» that doctors hide'),
    elapsed_ms: 3,
  } as const;
  const change: LookChange = {
    ...{ kind: 'landing' as const, what: ['domain' as const, 'picture' as const] },
    ...{ previous_scan_id: newId(), previous_run_id: runId },
    ...{ before: words('http://shop.example/'), after: words('http://stuck.offers.example/landing') },
  };
  const inRun = { campaign_id: campaign.id, run_id: runId };
  const page = ended(scanAt(4, {}, { ...inRun, changes: [change] }), {
    tags: [
      sampleTag('auto_redirect', words('The page left its domain by itself.'), words('http://stuck.offers.example/')),
      { ...sampleTag('autosound', words('Sound started.')) },
      { ...sampleTag('miracle_cure', words('miracle')), match },
    ],
  });
  const pageId = await store(page, { landings: [landing(210)] }, [['landing-0.webp', 1_280, 2_400]], 210);
  for (const [at, country] of ['US', 'PT', 'PT'].entries())
    await store(
      ended(scanAt(5 + at, {}, { ...inRun, country_code: country })),
      { landings: [landing(90 * at)] },
      [['landing-0.webp', 390, 844]],
      90 * at,
    );
  const adTag = ended(
    scanAt(12, { url: undefined, ad_tag: words('<script src="https://ads.example/tag.js"></script>') }),
    { tags: [sampleTag('creative_interactive', words('An arrow.'))] },
  );
  const creative = {
    width: 300,
    height: 250,
    page_url: 'https://publisher.example/',
    redirect_chain: [sampleHop(words('https://ads.example/frame.html'), 'initial', 200, 60)],
    requests: [],
  };
  const adTagId = await store(
    adTag,
    { landings: [landing(120)], creative: creative as unknown as NonNullable<Capture['creative']> },
    [
      ['landing-0.webp', 800, 900],
      ['creative.jpeg', 300, 250],
    ],
    120,
  );

  const sweep = ended(scanAt(30, { url: 'https://news.example/', ad_discovery: true }), {});
  const ads = sampleAds(3, (slot) => ({
    network: words('Example Ads'),
    y: 320 * slot,
    ...(slot === 3 && { not_scanned: 'cap' as const }),
  }));
  const sweepId = await store(
    sweep,
    { landings: [landing(30)], ad_blocks: ads },
    [['landing-0.webp', 1_280, 1_600]],
    30,
  );
  const children: string[] = [];
  for (const { not_scanned: _, ...block } of ads.slice(0, 2)) {
    const child = newChildScan(sweep, block, { fence: 1, node_id: 'node', leased_at: ago(29) }, ago(29));
    const id = childScanId(sweep._id, block);
    children.push(id);
    await store(
      ended(
        { ...child, _id: id, ad_block: block },
        { tags: [sampleTag('auto_redirect', words('It moved the page.'))] },
      ),
      { landings: [landing(60)], creative: creative as unknown as NonNullable<Capture['creative']> },
      [
        ['landing-0.webp', 800, 900],
        ['creative.jpeg', 300, 250],
      ],
      60,
    );
  }
  const failed = scanAt(50, {}, { status: 'failed', error: 'navigation: DNS', completed_at: ago(49) });
  await api.scans.insertUnlessExists(failed);
  for (let at = 0; at < 6; at++)
    await store(
      ended(scanAt(60 + at * 7, { url: `https://shop-${at}.example/${words('path')}` })),
      { landings: [landing(at * 50)] },
      [['landing-0.webp', 1_280, 1_000]],
      at * 50,
    );
  const pending = await made('/api/v1/scans', PAGE);

  await relayAll(api);
  const alerted = {
    country_code: 'US',
    scan_url: words(PAGE.url),
    offer_url: words('http://stuck.offers.example/'),
    policy_set_id: policySet.id,
    policy_set_name: name('Brand safety'),
  };
  const alerts: string[] = [];
  for (const [at, name] of ['Redirects by itself', 'Plays sound', 'Miracle cure'].entries())
    alerts.push(
      await raiseAlert(
        api,
        campaign.id,
        alerted,
        {
          tag_slug: ['auto_redirect', 'autosound', 'miracle_cure'][at]!,
          tag_display_name: words(name),
          entry_id: `entry-${at}`,
          matched_value: at === 1 ? words('Acme') : null,
        },
        { scanId: pageId, organizationId },
      ),
    );

  const { webhook } = await made('/api/v1/webhooks', {
    url: 'https://hooks.example/adsweep',
    description: name('The billing system'),
    event_types: ['scanning.scan.completed'],
  });
  const destination = await made('/api/v1/alert-notifications/destinations', {
    name: name('Operations'),
    channel: 'slack',
    slack: { webhook_url: 'https://hooks.slack.example/services/T/B/x' },
  });
  const apiKey = await made('/api/v1/account/api-keys', { name: name('Nightly job') });
  const oauthClient = await made('/api/v1/account/oauth-clients', {
    name: name('Dashboards'),
    permissions: ['scans.read'],
  });
  return {
    campaign: campaign.id,
    runId,
    policySet: policySet.id,
    rule: rule.id,
    page: pageId,
    adTag: adTagId,
    sweep: sweepId,
    children,
    failed: failed._id,
    pending: pending.id,
    alerts,
    webhook: webhook.id,
    destination: destination.id,
    key: apiKey.id,
    oauthClient: oauthClient.id,
  };
}

export type ConsoleWorld = Awaited<ReturnType<typeof consoleWorld>>;

/** The pages of the console, each with what is there in this world. */
export const pagesOf = (world: ConsoleWorld): string[] => [
  ...[
    '',
    '/scans',
    '/scans?status=failed,pending&tag=auto_redirect',
    '/scans/new',
    `/scans/new?from=${world.page}`,
    '/scans/bulk',
  ],
  ...[`/scans/${world.page}`, `/scans/${world.adTag}`, `/scans/${world.sweep}`, `/scans/${world.children[1]}`],
  ...[`/scans/${world.failed}`, `/scans/${world.pending}`, `/scans/compare?a=${world.page}&b=${world.adTag}`],
  ...[
    '/alerts',
    '/alerts?status=resolved',
    '/alerts/all',
    '/campaigns',
    '/campaigns/new',
    `/campaigns/${world.campaign}`,
  ],
  ...[`/campaigns/${world.campaign}/edit`, `/runs/${world.runId}`, `/runs/${world.runId}/compare/${world.runId}`],
  ...[
    '/rules',
    '/rules/new',
    `/rules/${world.rule}`,
    '/policies',
    '/policies/new',
    `/policies/${world.policySet}?preview=7`,
  ],
  ...[
    '/webhooks',
    '/webhooks/new',
    `/webhooks/${world.webhook}`,
    '/destinations',
    '/usage',
    '/settings',
    '/settings/audit-log',
  ],
];

/** The pages that only an operator sees. */
export const OPERATOR_PAGES = [
  '/fleet',
  '/fleet?scans_per_day=50000000',
  '/organizations',
  `/organizations/${ORGANIZATIONS.theirs}`,
];
