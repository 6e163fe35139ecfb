import type { OpenContext } from '../../browser/open-context.ts';
import type { Collector } from '../collectors/collector.ts';
import type { CaptureFailure, CaptureRequest } from '../session/capture-outcome.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { ChooseLandings, OpenTab } from '../session/landings.ts';
import type { Entry } from '../session/network-journal.ts';

/**
 * How loading a target ended, once it came to rest. `error` is the error of the first navigation, '' = a document loaded; `failure` is
 * set if the reason is known already. `document`: the navigation whose outcome is the capture's, if that is not the subject's last one.
 */
export type Visit = { error: string; failure: CaptureFailure | null; document?: Entry | undefined };

/** How one kind of target is captured. */
export type CaptureTarget = {
  /** Prepares the context before anything is observed. Never throws. */
  prepare?: (open: OpenContext) => Promise<void>;
  /** Loads it until it has come to rest. */
  visit(captureSession: CaptureSession, request: CaptureRequest): Promise<Visit>;
  /** The collectors that run while the tabs are open, and those that run when they are closed, each in order. */
  collectors: { whileOpen: Collector[]; afterwards: Collector[] };
  landings: ChooseLandings;
  /** The tab whose own failure is the capture's, undefined = there is none. */
  subject(tabs: readonly OpenTab[]): OpenTab | undefined;
};
