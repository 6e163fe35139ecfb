import type { ListedAdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { buildReport } from '../../src/scanning/reports/build-report.ts';
import type { Relatives } from '../../src/scanning/reports/public-sweep.ts';
import type { SeenEvidence } from '../../src/scanning/reports/report.ts';
import { adBlocks } from './ad-blocks.ts';
import { reportPage } from './rendered-report.ts';
import { sampleEvidence, sampleLanding, sampleScan, sampleTagWords } from './sample-scan.ts';

const PAGE = { kind: 'url' as const, value: 'https://news.example/' };

/** The scan of a page of 1000 by 2000 CSS pixels that was swept. */
export const sampleSweep = (changes: Partial<ScanRecord> = {}): ScanRecord =>
  sampleScan({
    ...{ _id: 'sweep', report_token: 'sweep-token-0123456789', target: PAGE, tags: [] },
    ...{ emulator_id: 'windows_chrome', discovery: { ad_formats: null, max_discovered_ads: 12 }, ...changes },
  });

/** The ads on its page: a pop, then banners, one for each slot; parts of each may be replaced. */
export function sampleAds(
  count: number,
  change: (slot: number) => Partial<ListedAdBlock> = () => ({}),
): ListedAdBlock[] {
  const slots = Array.from({ length: count }, (_, at) => at + 1);
  return adBlocks(...slots).map((block, at) => {
    const pop = at === 0 && { ad_kind: 'pop' as const, ...{ x: 0, y: 0, width: 0, height: 0, network_host: '' } };
    return { ...block, ...pop, not_scanned: null, ...change(at + 1) };
  });
}

/** The scan of one of them. */
export function sampleAdScan(
  { not_scanned: _, ...ad_block }: ListedAdBlock,
  changes: Partial<ScanRecord> = {},
): ScanRecord {
  const slot = ad_block.slot_index + 1;
  const [capture] = [sampleScan().capture!];
  return sampleScan({
    ...{
      _id: `ad-${slot}`,
      report_token: `ad-${slot}-token-0123456789`,
      parent_scan_id: 'sweep',
      target: PAGE,
      tags: [],
    },
    ...{ ad_block, emulator_id: 'windows_chrome', capture: { ...capture, has_creative_screenshot: true }, ...changes },
  });
}

/** What the capture of the sweep tells. */
export const sampleSweepEvidence = (ads: ListedAdBlock[]): SeenEvidence => ({
  ...sampleEvidence([sampleLanding(0)]),
  adBlocks: ads,
  artifacts: new Map([['landing-0.webp', { width: 1_000, height: 2_000 }]]),
});

/** The report of a scan of a sweep, as HTML. */
export const renderRelated = (scan: ScanRecord, evidence: SeenEvidence, relatives: Relatives): string =>
  reportPage(buildReport(scan, evidence, sampleTagWords, relatives));
