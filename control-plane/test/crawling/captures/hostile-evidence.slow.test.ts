import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { AD_KINDS, type AdKind } from '@adsweep/shared/capture/ad-block.ts';
import { emptyCapture } from '@adsweep/shared/capture/capture.ts';
import type { ScannedKind } from '@adsweep/shared/capture/scanned-kind.ts';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import type { Target, TargetKind } from '@adsweep/shared/scan/target.ts';
import sharp from 'sharp';
import { until } from '../../../../shared/test/support/until.ts';
import { buildReport } from '../../../src/scanning/reports/build-report.ts';
import { presentScan } from '../../../src/scanning/scans/api/present-scan.ts';
import { adBlocks } from '../../support/ad-blocks.ts';
import { PUBLIC_URL } from '../../support/open-plane.ts';
import { reportPage } from '../../support/rendered-report.ts';
import {
  captureOf,
  gzJson,
  named,
  type RunningFarm,
  requestOf,
  runningFarm,
  sampleLandings,
} from '../../support/running-farm.ts';
import { sampleAd, sampleTracker, sampleVast } from '../../support/sample-vast.ts';
import type { LeaseOfFirst } from '../../support/simulated-node.ts';

const TARGETS: Record<TargetKind, Target> = {
  url: { kind: 'url', value: 'https://shop.example/' },
  ad_tag: { kind: 'ad_tag', value: '<a href="https://shop.example/">Buy</a>' },
  vast_tag: { kind: 'vast_tag', value: 'https://exchange.example/tag' },
};
const JOBS = { url: 'page', ad_tag: 'ad_tag', vast_tag: 'vast_tag' } as const;
const isAdKind = (kind: ScannedKind): kind is AdKind => AD_KINDS.some((known) => known === kind);
const NOWHERE = Number.MAX_SAFE_INTEGER;

const [hop] = captureOf(['https://ads.example/']).landings[0]!.redirect_chain;
const creative = {
  url: 'https://ads.example/',
  width: 300,
  height: 250,
  page_url: 'https://news.example/',
  page_title: 'News',
  redirect_chain: [hop!],
};
const exit = {
  ...{ provider: 'direct', exit_id: 'us-1', country_code: 'US', proxy_type: 'mobile', region: 'Texas', city: null },
  ...{ isp: null, session: 'abc', ip: '192.0.2.1', observed_country_code: 'US', asn: null },
};
const nothingSeen = emptyCapture({
  started_at: '2026-01-02T03:04:05.000Z',
  elapsed_ms: 1,
  browser: { name: 'chromium', version: '1' },
});

describe('a hostile node', () => {
  let farm: RunningFarm;
  before(async () => {
    farm = await runningFarm();
  });
  afterEach(() => farm.forgetScans());
  after(() => farm.stop());

  async function leased(kind: ScannedKind): Promise<LeaseOfFirst> {
    const ofAd = (ad_kind: AdKind) => ({ job_kind: 'sweep' as const, ad_block: { ...adBlocks(1)[0]!, ad_kind } });
    const ofTarget = (one: TargetKind) => ({ target: TARGETS[one], job_kind: JOBS[one] });
    await farm.submit(isAdKind(kind) ? ofAd(kind) : ofTarget(kind));
    return farm.acquireOne();
  }
  const complete = (lease: LeaseOfFirst, capture: object) => farm.node.complete(lease, { ...nothingSeen, ...capture });
  const refusedWith = (status: number) => (error: unknown) => {
    assert.ok(error instanceof NodeApiError, String(error));
    assert.equal(error.status, status, error.message);
    assert.ok(error.message.length < 20_000, `${error.message.length} characters`);
    return true;
  };

  it('§4.3.2 cannot upload a file that a scan of this kind cannot have', async () => {
    const picture = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#369' } })
      .jpeg()
      .toBuffer();
    const files: Record<string, Buffer> = {
      'landing-0.jpeg': picture,
      'documents.json.gz': gzJson([]),
      'page.jpeg': picture,
      'creative.jpeg': picture,
      'creative.html': Buffer.from('<p>'),
      'creative-video': Buffer.from('a video'),
      'vast.xml': Buffer.from('<VAST/>'),
      'vast-documents.json.gz': gzJson([]),
      'companion-0.jpeg': picture,
    };
    const page = ['landing-0.jpeg', 'documents.json.gz'];
    const taken: Record<ScannedKind, string[]> = {
      url: page,
      pop: page,
      video: [...page, 'page.jpeg', 'creative.jpeg'],
      banner: [...page, 'page.jpeg', 'creative.jpeg', 'creative.html'],
      ad_tag: ['landing-0.jpeg', 'documents.json.gz', 'page.jpeg', 'creative.jpeg', 'creative.html'],
      vast_tag: Object.keys(files).filter((name) => name !== 'creative.html'),
    };
    for (const kind of Object.keys(taken) as ScannedKind[]) {
      const lease = await leased(kind);
      for (const [name, bytes] of Object.entries(files)) {
        const upload = farm.node.upload(lease, name, 'application/octet-stream', bytes);
        if (taken[kind].includes(name)) await upload;
        else await assert.rejects(upload, refusedWith(422), `${kind} ${name}`);
      }
    }
  });

  it('§2.1.8 §2.1.13 cannot submit a creative or ad blocks for a page, nor a video for anything but a VAST tag', async () => {
    const page = await leased('url');
    await assert.rejects(complete(page, { creative }), refusedWith(422));
    await assert.rejects(complete(page, { vast: sampleVast() }), refusedWith(422));
    const ad_blocks = adBlocks(1).map((block) => ({ ...block, not_scanned: null }));
    await assert.rejects(complete(page, { ad_blocks }), refusedWith(422));
    const ad = await leased('banner');
    await assert.rejects(complete(ad, { creative, ad_blocks }), refusedWith(422));
    await complete(ad, { creative });
    const tag = await leased('ad_tag');
    await assert.rejects(complete(tag, { creative, vast: sampleVast() }), refusedWith(422));
    await complete(tag, { creative });
    const video = await leased('vast_tag');
    await complete(video, { creative, vast: sampleVast() });
    const chains = await Promise.all(
      [tag, video].map(async ({ scan_id }) => (await presented(scan_id)).creative_redirect_chain.length),
    );
    assert.deepEqual(chains, [1, 0]);
  });

  async function presented(scanId: string) {
    const scan = await farm.read(scanId);
    return presentScan(scan, await farm.farm.evidenceOf(scan), { publicUrl: PUBLIC_URL, hasConsole: true });
  }

  it('cannot submit more than a capture may contain, nor invalid numbers or URLs', async () => {
    const lease = await leased('ad_tag');
    const long = `https://x.example/${'a'.repeat(1_000_000)}`;
    const [landing] = sampleLandings(1);
    const bad: Record<string, unknown> = {
      'ten thousand landings': { landings: Array.from({ length: 10_000 }, (_, ord) => ({ ord })) },
      'more landings than its job has': { landings: sampleLandings(11) },
      'a negative size': { creative: { ...creative, width: -300 } },
      'a broken size': { creative: { ...creative, height: 249.5 } },
      'a size beyond numbers': { creative: { ...creative, width: 1e300 } },
      'a long address of a hop': { landings: [{ ...landing, redirect_chain: [{ ...hop, url: long }] }] },
      'a long address of the creative': {
        creative: { ...creative, redirect_chain: [{ ...hop, redirected_from: long }] },
      },
      'a long address of a request': { requests: [requestOf(0, { url: long })] },
      'a long type': { requests: [requestOf(0, { content_type: long })] },
      'an address that is none': { creative: { ...creative, url: null } },
      'many observations': { observations: Array.from({ length: 10_000 }, () => ({})) },
      'a long name of a screenshot': { landings: [{ ...landing, screenshot: long }] },
      ...Object.fromEntries(
        Object.keys(exit).map((field) => [`a long ${field} of the exit`, { exit: { ...exit, [field]: long } }]),
      ),
      'a file of another scan': { artifacts: [named('creative.html', Buffer.from('not uploaded'))] },
    };
    for (const [what, capture] of Object.entries(bad))
      await assert.rejects(complete(lease, capture as object), refusedWith(422), what);
    assert.equal((await farm.read(lease.scan_id)).status, 'running');
    await complete(lease, { creative, exit: { ...exit, more: long } });
    const stored = { ...exit, verified: null, attempts: 1 };
    assert.deepEqual((await farm.read(lease.scan_id)).exit, stored, 'no field that an exit has not');
  });

  it('§5.2 cannot write to a scan of another lease', async () => {
    const [own, other] = [await leased('ad_tag'), await leased('ad_tag')];
    for (const scan_id of [other.scan_id, 'x', '$ne', '00000000-0000-4000-8000-000000000000']) {
      await assert.rejects(complete({ ...own, scan_id }, { creative }), refusedWith(404));
      const upload = farm.node.upload({ ...own, scan_id }, 'creative.html', 'text/plain', Buffer.from('<p>'));
      await assert.rejects(upload, refusedWith(404));
    }
    assert.equal((await farm.read(other.scan_id)).status, 'running');
  });

  it('can submit nonsense that matches the schema, and the scan still ends and can be read', async () => {
    const nonsense = [
      { hop: NOWHERE, surface: 'creative' as const, landing: null },
      { landing: NOWHERE, hop: NOWHERE },
      { initiator: 3 },
      { initiator: NOWHERE, status_code: NOWHERE, body_size: NOWHERE, timestamp_ms: NOWHERE },
      { url: '', method: '', resource_type: '', content_type: '</script>' },
      { url: 'javascript:alert(1)' },
      ...Array.from({ length: 300 }, () => ({ id: 3, initiator: 3 })),
      { url: 'http://[', hop: 0 },
      { url: `https://${'a.'.repeat(30_000)}example/` },
    ];
    const requests = nonsense.map((changes, id) => requestOf(id, changes));
    const [landing] = sampleLandings(1);
    const landings = [
      { ...landing!, ord: 999, final_url: 'not an address', opened_at_ms: NOWHERE, elapsed_ms: NOWHERE },
      { ...landing!, ord: 7, page_title: '<script>alert(1)</script>', redirect_chain: [] },
    ];
    const facts = { clicked: NOWHERE, inert: '<img src=x onerror=alert(1)>' };
    const observations = [null, 0, NOWHERE].map((one) => ({
      kind: 'creative_interactive' as const,
      landing: one,
      url: 'http://[',
      facts,
    }));
    const seen = { started_at: 'never', requests, landings, observations };
    const tag = await leased('ad_tag');
    await complete(tag, { ...seen, creative: { ...creative, width: NOWHERE, page_url: 'http://[', url: '' } });
    const video = await leased('vast_tag');
    const rungs = sampleVast().rungs.map((rung) => ({ ...rung, parent: 1, depth: NOWHERE, url: 'http://[' }));
    const ads = [{ ...sampleAd, rung: NOWHERE, wrappers: [NOWHERE, 0, 0], position: NOWHERE, duration_ms: NOWHERE }];
    const trackers = [{ ...sampleTracker, ad: NOWHERE, rung: NOWHERE, requested_at_ms: NOWHERE, url: '"><script>' }];
    await complete(video, { ...seen, creative, vast: sampleVast({ rungs, ads, trackers }) });
    farm.startLoops();
    for (const { scan_id } of [tag, video]) {
      await until('the scan to end', async () => (await farm.read(scan_id)).completed_at !== null, 60);
      const scan = await farm.read(scan_id);
      assert.deepEqual([scan.status, scan.error], ['completed', '']);
      assert.deepEqual((await presented(scan_id)).redirect_chain, []);
      const report = buildReport(scan, await farm.farm.evidenceOf(scan), () => null);
      assert.doesNotMatch(reportPage(report), /<script|<img src=x/);
    }
  });
});
