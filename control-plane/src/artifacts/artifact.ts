import type { LeaseRef } from '../crawl-jobs/queue.ts';

/** Files that one attempt may leave. */
export const ARTIFACTS_MAX = 60;

/** The attempt whose node uploads: each lease writes under its own fence. */
export type AttemptRef = Pick<LeaseRef, 'scanId' | 'fence'>;

/** A stored file of a scan; `width` and `height` in pixels as measured by us, 0 where it is no picture. `expires_at` null: it stays. */
export type ArtifactRecord = {
  _id: string;
  scan_id: string;
  fence: number;
  name: string;
  sha256: string;
  bytes: number;
  content_type: string;
  width: number;
  height: number;
  expires_at: Date | null;
};

/** What cannot be an artifact: `reason` is for the node that sent it. */
export class ArtifactRefused extends Error {
  readonly tooLarge: boolean;

  constructor(reason: string, tooLarge = false) {
    super(reason);
    this.tooLarge = tooLarge;
  }
}
