import type { CapturedBody } from '@adsweep/shared/capture/artifacts.ts';
import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedCreative } from '@adsweep/shared/capture/creative.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { Observation } from '@adsweep/shared/capture/observations/index.ts';
import type { CapturedVast } from '@adsweep/shared/capture/vast.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import type { CaptureSession } from '../session/capture-session.ts';

/** A capture that is being put together. `traffic` is known once the tabs are closed. */
export type Draft = {
  landings: CapturedLanding[];
  creative: CapturedCreative | null;
  /** What came of a VAST tag, null for other targets. */
  vast: CapturedVast | null;
  requests: NetworkRequest[];
  observations: Observation[];
  files: CaptureFile[];
  /** Contents that were fetched so far. */
  bodies: readonly CapturedBody[];
  traffic: TicketTraffic | null;
};

/** Adds to the draft what was seen. What it throws, or does not finish within its budget, becomes a note and never a failed scan. */
export type Collect = (draft: Draft) => Promise<void> | void;

/** Sees one thing. `start` comes before the first page is opened. */
export type Collector = {
  name: string;
  budgetMs: number;
  start(captureSession: CaptureSession): Promise<Collect> | Collect;
};
