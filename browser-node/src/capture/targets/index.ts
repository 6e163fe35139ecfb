import type { CrawlJob } from '@adsweep/shared/lease/crawl-job.ts';
import type { TargetKind } from '@adsweep/shared/scan/target.ts';
import type { CaptureFailure } from '../capture-outcome.ts';
import type { Stage } from '../stage.ts';
import { visitUrl } from './url.ts';

/**
 * Loads a job's target and waits until it came to rest. `error` is what the first navigation ended with, '' = a document came;
 * `failure` is set where the reason is known already.
 */
export type Visit = { error: string; failure: CaptureFailure | null };

/** How each kind of target is loaded. */
export const targets: Partial<Record<TargetKind, (stage: Stage, job: CrawlJob) => Promise<Visit>>> = {
  url: visitUrl,
};
