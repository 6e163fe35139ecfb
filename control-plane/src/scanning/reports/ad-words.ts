import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import { SEVERITIES, type Severity } from '../../reference/tags/system-tag.ts';
import type { ReportAd, ReportTag } from './report.ts';
import { AD_KIND_WORDS, failureWords, STATUSES } from './words.ts';

type Tagged = { tags: Pick<ReportTag, 'severity'>[] };

/** The worst severity of findings; null: there are none. Pure. */
export const worstOf = (tags: Tagged['tags']): Severity | null =>
  SEVERITIES.find((one) => tags.some(({ severity }) => severity === one)) ?? null;

/** The colour of an ad: the worst of its findings, or the state of its scan. Pure. */
export function adTone({ scan }: Pick<ReportAd, 'scan'>): Severity | 'busy' | 'clean' | 'failed' {
  if (!scan || scan.status === 'failed' || scan.status === 'cancelled') return 'failed';
  if (!isFinal(scan.status)) return 'busy';
  return worstOf(scan.tags) ?? (scan.status === 'partial' ? 'low' : 'clean');
}

/** What became of an ad, in a few words; '': its findings say it. Pure. */
export function adStateWords({ scan, not_scanned }: Pick<ReportAd, 'scan' | 'not_scanned'>): string {
  if (!scan) return NOT_SCANNED[not_scanned ?? 'removed'];
  if (!isFinal(scan.status)) return `Scan: ${STATUSES[scan.status]}`;
  if (scan.status === 'failed') return failureWords(scan.error);
  if (scan.status === 'cancelled') return 'The scan was cancelled.';
  if (scan.tags.length > 0) return '';
  return scan.status === 'partial' ? 'No findings in what was checked' : 'No findings';
}

const NOT_SCANNED: Record<NonNullable<ReportAd['not_scanned']>, string> = {
  cap: 'Not scanned: there are more ads than this sweep was to scan.',
  quota: 'Not scanned.',
  removed: 'Its scan was removed.',
};

/** An ad in one line: `Ad 3: banner of Example Ads, 2 findings`. Pure. */
export function adWords(
  ad: Pick<ReportAd, 'number' | 'kind' | 'network' | 'network_host' | 'scan' | 'not_scanned'>,
): string {
  const network = ad.network || ad.network_host;
  const found = ad.scan?.tags.length ?? 0;
  const state = adStateWords(ad) || (found === 1 ? '1 finding' : `${found} findings`);
  return `Ad ${ad.number}: ${AD_KIND_WORDS[ad.kind].toLowerCase()}${network && ` of ${network}`}, ${state}`;
}
