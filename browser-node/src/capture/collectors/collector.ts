import type { CapturedBody, CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedCreative } from '@adsweep/shared/capture/creative.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { CollectorName } from '@adsweep/shared/capture/notes.ts';
import type { CapturedVast } from '@adsweep/shared/capture/vast.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { Visited } from '../targets/target.ts';
import type { FramedObservation } from './framed-observations.ts';

/** The content of a response, with its request. */
export type FetchedBody = { body: CapturedBody; entry: Entry };

/** A capture that is being put together. */
export type Draft = {
  landings: CapturedLanding[];
  creative: CapturedCreative | null;
  /** How a VAST tag was resolved and played, null for other targets. */
  vast: CapturedVast | null;
  requests: NetworkRequest[];
  observations: FramedObservation[];
  /** What each frame loaded by itself, in bytes as they were sent. */
  frameBytes: ReadonlyMap<string, number>;
  files: CaptureFile[];
  /** The documents that were read so far. */
  documents: CapturedDocument[];
  /** Contents that were fetched so far. */
  bodies: readonly FetchedBody[];
  /** What the gateway carried; null until the tabs are closed, and if the gateway does not report it. */
  traffic: TicketTraffic | null;
};

/**
 * Adds to the draft what was seen. If it throws, or takes longer than `deadlineMs`, the capture gets a note; the scan
 * does not fail.
 */
export type Collect = (draft: Draft, visited: Visited, deadlineMs: number) => Promise<void> | void;

/** Records one thing. `start` is called before the first page is opened. */
export type Collector = {
  name: CollectorName;
  start(capture: MemberCapture): Promise<Collect> | Collect;
};
