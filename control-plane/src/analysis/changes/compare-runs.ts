import { createHash } from 'node:crypto';
import type { EarlierLook, Look, LookChange } from '../../scan/look.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { Finding } from '../detectors/detector.ts';
import type { ScreenshotFor } from '../model/show-model.ts';
import { compareLooks } from './compare-looks.ts';
import type { LandingSeen } from './landing-seen.ts';
import { pictureHash } from './picture-hash.ts';

/** What a scan showed, and what differs from the last run of its campaign. */
export type Compared = { look: Look; changes: LookChange[] };

/**
 * Compares a scan with the last run of its campaign; null: it is in no run, or is an ad that a sweep found, which
 * change all the time.
 */
export type CompareRuns = (scan: ScanRecord, landing: LandingSeen | null) => Promise<Compared | null>;

export type CompareParts = {
  /** Of scans with the `look.target` of this scan. */
  earlierLooks: (scan: ScanRecord) => Promise<EarlierLook[]>;
  /** The scan with its complete target. */
  withTarget: (scan: ScanRecord) => Promise<Pick<ScanRecord, 'target'>>;
  screenshotFor: ScreenshotFor;
};

export function compareRuns({ earlierLooks, withTarget, screenshotFor }: CompareParts): CompareRuns {
  const hashOf = async (scan: ScanRecord, of: number | 'creative'): Promise<string | null> => {
    const picture = await screenshotFor(scan, of);
    return picture === null || picture === 'failed' ? null : pictureHash(picture);
  };
  const lookOf = async (scan: ScanRecord, seen: LandingSeen | null): Promise<Look> => {
    const { ord = 0, ...landing } = seen ?? {};
    const [picture, creative] = await Promise.all([seen && hashOf(scan, ord), hashOf(scan, 'creative')]);
    const target = targetHash((await withTarget(scan)).target);
    return { target, landing: seen && { ...(landing as Omit<LandingSeen, 'ord'>), picture }, creative };
  };
  return async (scan, landing) => {
    if (scan.run_id === null || scan.campaign_id === null || scan.parent_scan_id !== null) return null;
    // A recheck does not look again: the pictures may be gone.
    const look = scan.look ?? (await lookOf(scan, landing));
    return { look, changes: compareLooks(look, await earlierLooks({ ...scan, look })) };
  };
}

const targetHash = ({ kind, value }: ScanRecord['target']): string =>
  createHash('sha256').update(`${kind}:${value}`).digest('base64url').slice(0, 22);

/** The tags of changes. */
export const changeFindings = (changes: LookChange[]): Finding[] =>
  changes.map(({ kind, what, after, previous_scan_id }) => ({
    tag_slug: kind === 'creative' ? 'creative_changed' : 'landing_changed',
    detail: `Another ${kind} than in the last run (${what.join(', ')}): scan ${previous_scan_id}.`,
    url: after,
    surface: kind === 'creative' ? 'creative' : 'page',
  }));
