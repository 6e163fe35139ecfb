import type { Emulator } from '@adsweep/shared/scan/emulators.ts';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { Browser, BrowserContext } from 'playwright-core';

/**
 * A browser context for one capture: it leaves by the ticket's exit and looks like the wished device, from the first request and the
 * first script of every page, popup, frame and worker on.
 */
export type OpenContext = {
  context: BrowserContext;
  browser: Browser;
  browserName: string;
  browserVersion: string;
  /** `ws://127.0.0.1:<port>/devtools/browser/<id>` of the same Chromium, for a second client that only observes; null = not available. */
  debuggingUrl: string | null;
  /** CDP's id of this context, by which the second client sorts targets; null = not known. */
  browserContextId: string | null;
  /** Bounded by a deadline; never throws. */
  close(): Promise<void>;
};

/**
 * How a context is asked for. `countryCode` (ISO 3166-1 alpha-2) gives languages, timezone and place; `isolated`: in a browser of its
 * own, which ends with the context.
 */
export type OpenOptions = { emulator: Emulator; countryCode: string; ticket: ExitTicket; isolated: boolean };

/** Hands out contexts of a Chromium that is replaced before it wears out. */
export interface BrowserPool {
  open(options: OpenOptions): Promise<OpenContext>;
  close(): Promise<void>;
}
