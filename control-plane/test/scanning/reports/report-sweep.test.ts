import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ListedAdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { REPORT_BYTES_MAX } from '../../../src/scanning/reports/byte-budget.ts';
import { boxOf } from '../../../src/scanning/reports/show-ads-on-page.ts';
import { partAround } from '../../../src/scanning/reports/show-place.ts';
import { tagsOf } from '../../support/rendered-report.ts';
import { HOSTILE, sampleEvidence, sampleLanding, sampleTag } from '../../support/sample-scan.ts';
import {
  renderRelated,
  sampleAdScan,
  sampleAds,
  sampleSweep,
  sampleSweepEvidence,
} from '../../support/sample-sweep.ts';

const showSweep = (ads: ListedAdBlock[], scans: ScanRecord[], sweep = sampleSweep()): string =>
  renderRelated(sweep, sampleSweepEvidence(ads), { ads: scans, sweep: null });

describe('the report of a sweep', () => {
  const ads = sampleAds(4, (slot) => ({ not_scanned: slot === 4 ? 'cap' : null }));
  const tags = [sampleTag('back_button', ''), sampleTag('ios_exploit', ''), sampleTag('note_to_self', '')];
  const scans = [sampleAdScan(ads[0]!), sampleAdScan(ads[1]!, { tags }), sampleAdScan(ads[2]!, { status: 'partial' })];
  const page = showSweep(ads, scans);

  it('draws each ad at its place on the picture of the page, in the colour of its worst finding', () => {
    assert.match(
      page,
      /<img src="sweep-token-0123456789\/screenshot\?w=1000&amp;whole=yes" width="1000" height="2000"/,
    );
    assert.match(
      page,
      /<a href="ad-2-token-0123456789"><title>Ad 2: banner of Example Ads, 2 findings<\/title><svg class="block high" x="2.000%" y="30.000%" width="30.000%" height="12.500%">/,
    );
    assert.match(
      page,
      /<image href="ad-2-token-0123456789\/creative-screenshot\?w=600" width="100%"/,
      'as it was in view',
    );
    assert.match(page, /<svg class="block failed hollow" x="2.000%" y="60.000%"/, 'the one beyond the cap');
    const label = (changes: Partial<ListedAdBlock>) =>
      /<g class="label">.*?<text[^>]*>([^<]*)</.exec(
        showSweep(
          sampleAds(2, () => changes),
          [],
        ),
      )?.[1];
    assert.equal(label({}), 'banner · Example Ads');
    assert.equal(label({ network: '' }), 'banner · ads.example');
    assert.equal(label({ network: '', network_host: '' }), 'banner');
    assert.equal(label({ width: 130 }), 'Example Ads');
    assert.equal(label({ width: 30 }), undefined, 'there is no room');
    assert.equal(page.match(/class="block /g)?.length, 3, 'a pop has no place on the page');
  });

  it('§2.1.3 lists each ad with its network, thumbnail, findings and landing, and pops apart from the others', () => {
    const [onPage, pops] = page.split('id="pops"');
    assert.equal(onPage!.match(/<li class="ad-item/g)?.length, 3);
    assert.match(onPage!, /src="ad-2-token-0123456789\/creative-screenshot\?w=600" alt="" loading="lazy"/);
    assert.match(onPage!, /<a href="ad-2-token-0123456789">Banner · <bdi>Example Ads<\/bdi><\/a>/);
    assert.match(onPage!, /<bdi>ads.example<\/bdi>[\s\S]*Back button hijacked[\s\S]*stuck.offers.example/);
    assert.match(onPage!, /there are more ads than this sweep was to scan/);
    assert.match(pops!, /src="ad-1-token-0123456789\/landings\/0\/screenshot\?w=600"/);
    assert.doesNotMatch(pops!.split('</section>')[0]!, /<bdi>ads.example/);
    assert.doesNotMatch(page, /private/, 'findings that are not public');
  });

  it('has a verdict on the page and its ads, whose findings are not listed as the page has them', () => {
    assert.match(page, /<section class="verdict high">[\s\S]*1 of 3 ads has findings/);
    assert.match(page, /The page itself has none\. 4 ads were found, 1 of them not scanned\./);
    assert.doesNotMatch(page, /id="findings"/);
    const own = showSweep(ads, scans, sampleSweep({ tags: [sampleTag('back_button', '')] }));
    assert.match(own, /The page itself has 1 finding\.[\s\S]*Findings on the page itself/);
    assert.match(showSweep([], []), /No findings[\s\S]*No ad was found on the page[\s\S]*None was found/);
  });

  it('says which scans of its ads are running, and that not all of them are done', () => {
    const running = [scans[0]!, sampleAdScan(ads[1]!, { status: 'running', capture: null })];
    const busy = showSweep(ads.slice(0, 2), running);
    assert.match(busy, /scanning the ads<\/p><h1>1 of 2 ads scanned[\s\S]*This page does not reload/);
    assert.match(busy, /class="ad-item busy"[\s\S]*Scan: running/);
    const early = renderRelated(sampleSweep({ status: 'running' }), sampleEvidence([]), { ads: running, sweep: null });
    assert.match(early, /Loading the target[\s\S]*Scan: running/, 'also before the page is finished');
  });

  it('lists ads whose scans failed or were removed, and without its capture those that have scans', () => {
    const failed = sampleAdScan(ads[1]!, { status: 'failed', error: 'ad_discovery: AD_GONE' });
    const shown = showSweep(ads.slice(0, 3), [failed]);
    assert.match(shown, /The ad was not on the page any more/);
    assert.match(shown, /The scan of one ad failed\./);
    const both = [failed, sampleAdScan(ads[2]!, { status: 'failed', error: 'navigation: DNS' })];
    assert.match(showSweep(ads.slice(0, 3), both), /The scans of 2 ads failed\./);
    assert.equal(shown.match(/Its scan was removed/g)?.length, 3, 'in the picture for one, in the lists for two');
    const removed = scans.map((scan) => ({ ...scan, evidence_removed_at: new Date() }));
    const late = renderRelated(sampleSweep(), sampleEvidence([]), { ads: removed, sweep: null });
    assert.equal(late.match(/<li class="ad-item/g)?.length, 3);
    assert.doesNotMatch(late, /class="block|loading="lazy"/);
  });

  it('does not say that a page has no ads which was not loaded, or whose capture was removed', () => {
    const without = (changes: Partial<ScanRecord>) =>
      renderRelated(sampleSweep(changes), sampleEvidence([]), { ads: [], sweep: null });
    for (const changes of [
      { status: 'failed', error: 'navigation: DNS' },
      { status: 'cancelled' },
      { evidence_removed_at: new Date('2026-03-01T10:00:00Z') },
    ] as const)
      assert.doesNotMatch(without(changes), /None was found|No ad was found/);
    assert.match(without({}), /No ad was found on the page[\s\S]*None was found/);
    const removed = without({ evidence_removed_at: new Date('2026-03-01T10:00:00Z') });
    assert.match(removed, /The pictures, redirect chains and requests were removed on 1 Mar 2026, 10:00 UTC/);
  });

  it('has a bounded size and no markup of a node, however hostile its blocks are', () => {
    const { title } = HOSTILE;
    const network = title.padEnd(200, '\u202e');
    const hostile = sampleAds(100, (slot) => ({ network, network_host: network, x: -slot, y: slot * 40 }));
    const landing = { ...scans[0]!.capture!, offer_url: `https://e.example/?${'\u202e'.repeat(9_000)}` };
    const shown = showSweep(
      hostile,
      hostile.slice(0, 25).map((block) => sampleAdScan(block, { tags, capture: landing })),
      sampleSweep({ tags: Array.from({ length: 200 }, (_, at) => sampleTag('ios_exploit', network, `${at}`)) }),
    );
    assert.ok(Buffer.byteLength(shown) <= REPORT_BYTES_MAX, `${Buffer.byteLength(shown)} bytes`);
    assert.deepEqual(
      tagsOf(shown).filter((tag) => /^<(script|iframe|object|form|style)/.test(tag) || /\son\w+=|\sstyle=/.test(tag)),
      [],
    );
    assert.match(shown, /more ads are left out/);
  });

  it('draws only what of a block is on the picture', () => {
    const size = { width: 1_000, height: 2_000 };
    assert.deepEqual(boxOf({ x: -100, y: 1_900, width: 300, height: 250 }, size), {
      left: 0,
      top: 95,
      width: 20,
      height: 5,
    });
    for (const [x, y, width, height] of [
      [1_000, 0, 300, 250],
      [0, 2_001, 300, 250],
      [10, 10, 0, 250],
      [10, 10, -300, 250],
      [-10_000_000, -10_000_000, 1, 1],
    ] as const)
      assert.equal(boxOf({ x, y, width, height }, size), null);
  });
});

describe('the report of an ad on a page', () => {
  const ads = sampleAds(4);
  const scans = ads.map((block) => sampleAdScan(block));
  const sweep = { scan: sampleSweep(), evidence: sampleSweepEvidence(ads) };
  const request = { url: 'https://ads.example/tag.js', resource_type: 'script', status_code: 200, content_type: '' };
  const requests = [{ ...request, body_size: 1, timestamp_ms: 1, children: [] }];
  const creative = { width: 300, height: 250, page_url: 'https://news.example/', redirect_chain: [], requests };
  const evidence = {
    ...sampleEvidence([sampleLanding(0)]),
    creative,
    artifacts: new Map([['creative.jpeg', { width: 300, height: 250 }]]),
  };
  const show = (at: number, relatives = { ads: scans, sweep: sweep as typeof sweep | null }) =>
    renderRelated(scans[at]!, evidence, relatives);

  it('shows the creative, its place on the page, what it loaded, and its landings', () => {
    const page = show(2);
    assert.match(page, /<img src="ad-3-token-0123456789\/creative-screenshot\?w=1000" width="300" height="250"/);
    assert.match(page, /<svg viewBox="0 425 1000 1200"[^>]*><image href="sweep-token-0123456789\/screenshot\?w=600/);
    assert.match(page, /<rect class="around" x="20" y="900" width="300" height="250"\/>/);
    assert.match(page, /What the creative loaded <span class="count">1<[\s\S]*<b>ads.example<\/b>/);
    assert.match(page, /Landings <span class="count">1 tab/);
    assert.match(page, /Ad network<\/dt><dd><bdi>Example Ads \(ads.example\)/);
    assert.match(page, /<title>No findings: ad 3 on news.example/);
  });

  it('links to the report of the sweep, and to the ads before and after it', () => {
    const links = (page: string) => [...page.matchAll(/<a (?:rel="\w+" )?href="([\w-]+)"/g)].map(([, path]) => path);
    const neighbours = ['sweep-token-0123456789', 'ad-2-token-0123456789', 'ad-4-token-0123456789'];
    assert.deepEqual(links(show(2)).slice(0, 3), neighbours);
    assert.doesNotMatch(show(3), /rel="next"/);
    const alone = show(2, { ads: [], sweep: null });
    assert.doesNotMatch(alone, /sweep-token|<nav[^>]*><a/, 'the sweep was removed');
    assert.match(alone, /Ad network/);
  });

  it('shows a pop as the page that opened', () => {
    const page = show(0);
    assert.match(page, /<img src="ad-1-token-0123456789\/screenshot\?w=800"/);
    assert.doesNotMatch(page, /creative-screenshot|class="card place"|ads.example\)/);
    assert.match(page, /Redirect chain <span class="count">5 steps/);
  });

  it('has a map of the whole page, or of what is around the ad', () => {
    const at = (y: number, height: number) =>
      partAround({ x: 0, y, width: 1, height }, { width: 1_000, height: 3_000 });
    assert.deepEqual(partAround({ x: 0, y: 50, width: 1, height: 1 }, { width: 1_000, height: 700 }), {
      top: 0,
      height: 700,
    });
    assert.deepEqual(
      [at(0, 250), at(1_500, 200), at(9_000, 1)],
      [
        { top: 0, height: 1_200 },
        { top: 1_000, height: 1_200 },
        { top: 1_800, height: 1_200 },
      ],
    );
  });
});
