import type { Logger } from '@adsweep/shared/service/logger.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { ExitCheckError } from './exit-check.ts';
import { LiveBrowser } from './live-browser.ts';
import { type Chromium, explainStartError } from './locate-chromium.ts';
import type { BrowserPool, OpenContext, OpenOptions } from './open-context.ts';
import { type LaunchReason, RECYCLE_LIMITS, type RecycleLimits, UNLIMITED } from './recycle-policy.ts';
import type { RemoteChromium } from './remote-chromium.ts';

/**
 * Opens contexts in one Chromium at a time. A Chromium that must be replaced runs until its contexts are closed, while
 * new contexts are opened in its successor.
 */
export class ChromiumPool implements BrowserPool {
  readonly #where: Chromium | RemoteChromium;
  readonly #logger: Logger;
  readonly #limits: RecycleLimits;
  readonly #rendererBytes: number | undefined;
  readonly #launched: (reason: LaunchReason) => void;
  readonly #browsers = new Set<LiveBrowser>();
  #current: LiveBrowser | null = null;
  #lastDecision: Promise<unknown> = Promise.resolve();
  /** Isolated browsers that are starting; no other context waits for them. */
  readonly #starting = new Set<Promise<LiveBrowser>>();
  #closed = false;
  /** Called when a browser did not start, or ended without being asked to. */
  onlost: () => void = () => undefined;

  constructor(
    where: Chromium | RemoteChromium,
    logger: Logger,
    launched: (reason: LaunchReason) => void,
    limits: RecycleLimits = RECYCLE_LIMITS,
    rendererBytes?: number,
  ) {
    this.#rendererBytes = rendererBytes;
    this.#where = where;
    // Another connection would get the same browser.
    this.#limits = this.sharesBrowser ? UNLIMITED : limits;
    this.#logger = logger;
    this.#launched = launched;
  }

  get sharesBrowser(): boolean {
    return 'cdpUrl' in this.#where && this.#where.isShared;
  }

  /**
   * A context whose traffic leaves by the ticket's exit. Throws when a second browser cannot open one either;
   * ExitCheckError where a remote browser does not use the ticket.
   */
  async open(options: OpenOptions): Promise<OpenContext> {
    if (options.isolated) return this.#openIsolated(options);
    try {
      return await (await this.#fresh()).open(options);
    } catch (cause) {
      if (this.#closed || cause instanceof ExitCheckError) throw cause;
      this.#logger.warn({ cause }, 'a browser opened no context: another one is tried');
      return (await this.#fresh()).open(options);
    }
  }

  /** Ends every browser and starts no other. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled([this.#lastDecision, ...this.#starting]);
    await this.endBrowsers();
  }

  /** Ends every browser, with or without contexts; the next context is opened in a new one. */
  async endBrowsers(): Promise<void> {
    await Promise.all([...this.#browsers].map((browser) => browser.kill()));
  }

  /** A context in a browser of its own, which ends with the context. */
  async #openIsolated(options: OpenOptions): Promise<OpenContext> {
    const starting = this.#launch('isolated');
    this.#starting.add(starting);
    const browser = await starting.finally(() => this.#starting.delete(starting));
    browser.claim();
    browser.retire();
    if (options.goesLast) browser.goLast();
    return browser.open(options);
  }

  /** The browser for new contexts, claimed for one. */
  #fresh(): Promise<LiveBrowser> {
    return this.#inTurn(async () => {
      const browser = await this.#currentOrNext();
      browser.claim();
      return browser;
    });
  }

  /** Serializes decisions about whether a browser must be started; closing waits for them. */
  #inTurn(work: () => Promise<LiveBrowser>): Promise<LiveBrowser> {
    const mine = this.#lastDecision.then(work);
    this.#lastDecision = mine.catch(() => undefined);
    return mine;
  }

  async #currentOrNext(): Promise<LiveBrowser> {
    const reason = this.#current ? this.#current.recycleReason(this.#limits) : 'first';
    if (this.#current && reason === null) return this.#current;
    this.#current?.retire();
    this.#current = null;
    this.#current = await this.#launch(reason ?? 'first');
    return this.#current;
  }

  async #launch(reason: LaunchReason): Promise<LiveBrowser> {
    if (this.#closed) throw new Error('the browser pool is closed');
    this.#forgetEnded();
    const browser = await this.#start();
    this.#browsers.add(browser);
    this.#launched(reason);
    this.#logger.info({ chromium_pid: browser.pid, version: browser.version, reason }, 'a browser started');
    return browser;
  }

  async #start(): Promise<LiveBrowser> {
    try {
      const browser = await LiveBrowser.launch(this.#where, this.#logger, this.#rendererBytes);
      browser.onlost = () => this.onlost();
      return browser;
    } catch (error) {
      this.onlost();
      throw error;
    }
  }

  #forgetEnded(): void {
    for (const browser of this.#browsers) if (browser.ended) this.#browsers.delete(browser);
  }
}

/**
 * Starts and ends Chromium once, so that a machine that cannot run it is detected at the start and not at each scan.
 * Throws OperatorError with one sentence: why, and the command to type.
 */
export async function tryChromium(chromium: Chromium, logger: Logger): Promise<void> {
  try {
    const browser = await LiveBrowser.launch(chromium, logger);
    await browser.kill();
  } catch (error) {
    throw new OperatorError(explainStartError(chromium, error as Error), { cause: error });
  }
}
