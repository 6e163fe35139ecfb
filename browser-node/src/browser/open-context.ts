import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { Browser, BrowserContext } from 'playwright-core';
import type { BrowserSession } from './own-sessions.ts';

/**
 * A browser context for one capture: it leaves by the ticket's exit and looks like the requested device, from the first request and the
 * first script of every page, popup, frame and worker on.
 */
export type OpenContext = {
  context: BrowserContext;
  browser: Browser;
  browserName: string;
  browserVersion: string;
  /** A session with the same Chromium beside Playwright's, for a client that only observes. Rejects when the browser does not answer in time. */
  attach(): Promise<BrowserSession>;
  /** CDP's id of this context, by which the observing client sorts targets. */
  browserContextId: string;
  /** Whether a page that crashed just now did so because it took too much memory. */
  crashedForMemory(): Promise<boolean>;
  /** Whether the browser itself is gone, or was given up; its other contexts went with it. */
  browserEnded(): boolean;
  /** Bounded by a deadline; never throws. */
  close(): Promise<void>;
};

/**
 * How a context is asked for. `countryCode` (ISO 3166-1 alpha-2) gives languages, timezone and place; `isolated`: in a browser of its
 * own, which ends with the context.
 */
export type OpenOptions = { emulator: Emulator; countryCode: string; ticket: ExitTicket; isolated: boolean };

/** Hands out contexts of a Chromium that is replaced before it grows too old or too large. */
export interface BrowserPool {
  open(options: OpenOptions): Promise<OpenContext>;
  close(): Promise<void>;
}
