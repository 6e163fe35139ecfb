import type { UsageKind } from '@adsweep/shared/scan/usage-kind.ts';
import type { ScanRecord } from './scan.ts';

/** The kind under which a scan's check is charged. Pure. */
export function usageKindOf({
  target,
  discovery,
  ad_block,
}: Pick<ScanRecord, 'target' | 'discovery' | 'ad_block'>): UsageKind {
  if (ad_block) return 'discovered_ad';
  return discovery ? 'ad_discovery' : target.kind;
}
