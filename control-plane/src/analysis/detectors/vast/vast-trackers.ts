import type { CapturedTracker } from '@adsweep/shared/capture/vast.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';

const NAMED_MAX = 6;

/** Trackers that count twice, or that nobody answers. */
export const vastTrackers: Detector = { name: 'vast_trackers', needs: [], detect };

function detect({ vast }: Pick<Evidence, 'vast'>): Finding[] {
  const trackers = vast?.trackers ?? [];
  return [...duplicateImpressions(trackers), ...failed(trackers)];
}

/** The same impression twice in one ad, in whichever of its documents. */
function duplicateImpressions(trackers: readonly CapturedTracker[]): Finding[] {
  const impressions = trackers.filter(({ part, event }) => part === 'ad' && event === 'impression');
  const same = Map.groupBy(impressions, ({ ad, url }) => JSON.stringify([ad, url]));
  const twice = [...same.values()].filter(({ length }) => length > 1);
  if (twice.length === 0) return [];
  const named = twice.slice(0, NAMED_MAX).map((all) => `${all[0]?.url} is there ${all.length} times`);
  return [finding('vast_duplicate_impression', `${named.join('; ')} (VAST 4.3, 3.4.4)`)];
}

function failed(trackers: readonly CapturedTracker[]): Finding[] {
  const lost = trackers.filter(
    ({ requested_at_ms, status_code }) => requested_at_ms !== null && (status_code === 0 || status_code >= 400),
  );
  if (lost.length === 0) return [];
  const named = lost
    .slice(0, NAMED_MAX)
    .map(({ event, url, status_code }) => `${event} ${url}: ${status_code || 'no answer'}`);
  const more = lost.length > NAMED_MAX ? `; ${lost.length - NAMED_MAX} more` : '';
  return [finding('vast_tracker_failed', `${named.join('; ')}${more} (VAST 4.3, 2.3.4)`)];
}

const finding = (tag_slug: string, detail: string): Finding => ({ tag_slug, detail, url: '', surface: 'creative' });
