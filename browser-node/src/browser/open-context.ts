import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { Browser, BrowserContext } from 'playwright-core';
import type { ContextListener, ContextObservation } from './context-observers.ts';

/**
 * A browser context for one capture: its traffic leaves by the ticket's exit and it looks like the requested device,
 * from the first request and the first script of every page, popup, frame and worker on.
 */
export type OpenContext = {
  context: BrowserContext;
  browser: Browser;
  browserName: string;
  browserVersion: string;
  /** Observes the targets of the context, in the sessions that Playwright has with them. One observer at a time. */
  observe(listener: ContextListener): ContextObservation;
  /**
   * A JPEG screenshot of a part of a tab, by the tab's CDP target id, in device pixels. Runs no script in the page.
   * Rejects when the tab is closed or does not respond within `deadlineMs`.
   */
  screenshot(targetId: string, part: ScreenshotPart, deadlineMs: number): Promise<Buffer>;
  /** CDP's id of this context; each target has the id of its context. */
  browserContextId: string;
  /** The name of the function through which page scripts report, in documents whose first script did not remove it. */
  reportBy: string;
  /**
   * Whether tabs that open from now on may load pages; at first they may. A load that may not is stopped inside the
   * browser, whether anything intercepts requests or not.
   */
  letNewTabsLoad(mayLoad: boolean): void;
  /** From now on a tab, by its CDP target id, loads no page, nor do its frames: as with {@link letNewTabsLoad}. */
  stopLoads(targetId: string): void;
  /** Whether a page that has just crashed did so because it used too much memory. */
  crashedForMemory(): boolean;
  /**
   * For how many ms the browser had no time for this context since `at` (`performance.now()`), because its pages ask
   * too much of it.
   */
  congestedMs(at: number): number;
  /**
   * Says that a page of the context asks more of the browser than pages of others can wait for. true: others use this
   * browser, so that it counts as ended for this context; false: this context has it for itself from now on, or cannot
   * have one of its own.
   */
  leaveShared(): boolean;
  /** Whether it has left a browser that others use. */
  hasLeftShared(): boolean;
  /** Whether the browser itself has ended or was given up, with all its contexts, or was left to others. */
  browserEnded(): boolean;
  /** Bounded by a deadline; never throws. */
  close(): Promise<void>;
};

/**
 * A part of a page, from its top left in CSS pixels; `beyondView`: the part exceeds the viewport. `quality`: of the
 * JPEG, up to 100.
 */
export type ScreenshotPart = {
  clip: { x: number; y: number; width: number; height: number };
  beyondView: boolean;
  quality: number;
};

/**
 * What a context is opened with. `countryCode` (ISO 3166-1 alpha-2) determines the languages, the ticket's exit
 * timezone and geolocation; `isolated`: in a browser of its own, which ends with the context; `goesLast`: that browser has
 * the lowest priority, because the page was more than others could wait for.
 */
export type OpenOptions = {
  emulator: Emulator;
  countryCode: string;
  ticket: ExitTicket;
  isolated: boolean;
  goesLast?: boolean;
};

/** Opens contexts in a Chromium that is replaced before it becomes too old or too large. */
export interface BrowserPool {
  /**
   * Whether all contexts are in one browser, isolated ones too: one that must not share it has to be alone on the node.
   * Absent: no.
   */
  readonly sharesBrowser?: boolean;
  open(options: OpenOptions): Promise<OpenContext>;
  close(): Promise<void>;
}
