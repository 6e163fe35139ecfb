import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { Browser, BrowserContext } from 'playwright-core';
import type { ContextListener, ContextObservation } from './context-observers.ts';

/**
 * A browser context for one capture: it leaves by the ticket's exit and looks like the requested device, from the first request and the
 * first script of every page, popup, frame and worker on.
 */
export type OpenContext = {
  context: BrowserContext;
  browser: Browser;
  browserName: string;
  browserVersion: string;
  /** Observes the targets of the context, beside Playwright. One observer at a time. */
  observe(listener: ContextListener): ContextObservation;
  /**
   * A JPEG screenshot of a part of a tab, by CDP's id of the tab, in the pixels of the device. Runs nothing in the page. Rejects when the
   * tab is gone or does not answer within `deadlineMs`.
   */
  picture(targetId: string, part: PicturePart, deadlineMs: number): Promise<Buffer>;
  /** CDP's id of this context, by which targets are sorted. */
  browserContextId: string;
  /** Whether a page that has just crashed did so because it used too much memory. */
  crashedForMemory(): boolean;
  /** Whether the browser itself is gone or was abandoned, together with its other contexts. */
  browserEnded(): boolean;
  /** Bounded by a deadline; never throws. */
  close(): Promise<void>;
};

/** A part of a page, from its top left in CSS pixels; `beyondView`: some of the page is outside of the view. `quality`: of the JPEG, to 100. */
export type PicturePart = {
  clip: { x: number; y: number; width: number; height: number };
  beyondView: boolean;
  quality: number;
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
