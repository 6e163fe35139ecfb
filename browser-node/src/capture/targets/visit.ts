import type { CaptureFailure } from '../capture-outcome.ts';

/**
 * How loading a job's target ended, once it came to rest. `error` is what the first navigation ended with, '' = a document came;
 * `failure` is set where the reason is known already.
 */
export type Visit = { error: string; failure: CaptureFailure | null };
