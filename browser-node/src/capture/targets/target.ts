import type { OpenContext } from '../../browser/open-context.ts';
import type { SeenCreative } from '../harness/see-creative.ts';
import type { CaptureFailure, CaptureRequest } from '../session/capture-outcome.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import type { VastRun } from '../vast/vast-run.ts';

/** How loading a target ended, once it settled, and what was found. */
export type Visited = {
  /** The error of the first navigation, '' = a document loaded. */
  error: string;
  /** Set if the reason is known already. */
  failure: CaptureFailure | null;
  /** The navigation whose outcome is the capture's; absent: the last one of `subject`. */
  document?: Entry | undefined;
  /** The tab whose own failure is the capture's; absent: there is none. */
  subject?: OpenTab;
  /** The creative of an ad tag or VAST tag; absent: none was looked for. */
  creative?: SeenCreative;
  /** How a VAST tag was resolved and played; absent: it was not even fetched. */
  vast?: VastRun;
};

/** How one kind of target is captured. */
export type CaptureTarget = {
  /** Prepares the context before anything is observed. Never throws. */
  prepare?: (open: OpenContext) => Promise<void>;
  /** Why the target cannot be opened at all; null: it can. Pure. */
  refusal(request: CaptureRequest): CaptureFailure | null;
  /** The URL of the harness page that hosts it; absent: the target is opened by itself. Pure. */
  publisherUrl?: (request: CaptureRequest) => string;
  /** Loads it in a tab, which is blank, until it has settled. */
  visit(capture: MemberCapture, tab: OpenTab, request: CaptureRequest): Promise<Visited>;
};
