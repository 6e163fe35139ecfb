import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Chromium } from './chromium-path.ts';
import { LiveBrowser } from './live-browser.ts';
import type { BrowserPool, OpenContext, OpenOptions } from './open-context.ts';
import { type LaunchReason, RECYCLE_LIMITS, type RecycleLimits } from './recycle-policy.ts';

/**
 * Opens contexts in one Chromium at a time. A Chromium that must be replaced keeps its contexts until they are closed, while new ones are
 * opened in its successor.
 */
export class ChromiumPool implements BrowserPool {
  readonly #where: Chromium;
  readonly #logger: Logger;
  readonly #limits: RecycleLimits;
  readonly #rendererBytes: number | undefined;
  readonly #launched: (reason: LaunchReason) => void;
  readonly #browsers = new Set<LiveBrowser>();
  #current: LiveBrowser | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(
    where: Chromium,
    logger: Logger,
    launched: (reason: LaunchReason) => void,
    limits: RecycleLimits = RECYCLE_LIMITS,
    rendererBytes?: number,
  ) {
    this.#rendererBytes = rendererBytes;
    this.#limits = limits;
    this.#where = where;
    this.#logger = logger;
    this.#launched = launched;
  }

  /** A context that leaves by the ticket's exit. Throws when no browser can give one, after a second browser was tried. */
  async open(options: OpenOptions): Promise<OpenContext> {
    if (options.isolated) return this.#openIsolated(options);
    try {
      return await (await this.#fresh()).open(options);
    } catch (cause) {
      if (this.#closed) throw cause;
      this.#logger.warn({ cause }, 'a browser gave no context: another one is tried');
      return (await this.#fresh()).open(options);
    }
  }

  /** Ends every browser and opens no other. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn;
    await this.endBrowsers();
  }

  /** Ends every browser, whatever it is doing; the next context is opened in a new one. */
  async endBrowsers(): Promise<void> {
    await Promise.all([...this.#browsers].map((browser) => browser.kill()));
  }

  /** A context in a browser of its own, which ends with it. */
  async #openIsolated(options: OpenOptions): Promise<OpenContext> {
    const browser = await this.#inTurn(async () => {
      const own = await this.#launch('isolated');
      own.claim();
      own.retire();
      return own;
    });
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

  /** Only one caller at a time decides whether a browser must be started; closing waits for it. */
  #inTurn(work: () => Promise<LiveBrowser>): Promise<LiveBrowser> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
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
    const browser = await LiveBrowser.launch(this.#where, this.#logger, this.#rendererBytes);
    this.#browsers.add(browser);
    this.#launched(reason);
    this.#logger.info({ chromium_pid: browser.pid, version: browser.version, reason }, 'a browser started');
    return browser;
  }

  #forgetEnded(): void {
    for (const browser of this.#browsers) if (browser.ended) this.#browsers.delete(browser);
  }
}
