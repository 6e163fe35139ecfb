import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop, SubRequest } from '@adsweep/shared/capture/hop.ts';
import type { ScanEvidence } from '../scans/api/evidence.ts';

/** What a report needs of a capture. */
export type SeenEvidence = Omit<ScanEvidence, 'landings'> & { landings: readonly SeenLanding[] };

/** What a report needs of a landing. */
export type SeenLanding = Pick<CapturedLanding, 'ord' | 'final_url' | 'page_title' | 'screenshot'> & {
  redirect_chain: readonly (CapturedHop & { sub_requests?: readonly SubRequest[] })[];
};
