import type { Logger } from '@adsweep/shared/service/logger.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { type ConnectedChromium, startChromium } from './chromium-process.ts';
import { ContextObservers, MESSAGE_FLOOD } from './context-observers.ts';
import { DeviceScreens } from './device-screens.ts';
import { DeviceSessions } from './device-sessions.ts';
import { EmptyWindows } from './empty-windows.ts';
import { type EmulationProfile, emulationProfile } from './emulation-profile.ts';
import { checkExit, ExitCheckError } from './exit-check.ts';
import { FrameCrashes } from './frame-crashes.ts';
import type { Chromium } from './locate-chromium.ts';
import type { OpenContext, OpenOptions } from './open-context.ts';
import type { OwnCommands } from './own-commands.ts';
import { PipeTransport } from './pipe-transport.ts';
import { longLivedMemory } from './processes.ts';
import { type RecycleLimits, type RecycleReason, recycleReason } from './recycle-policy.ts';
import { connectRemote, type RemoteChromium } from './remote-chromium.ts';
import { RENDERER_BYTES_MAX } from './renderer-memory.ts';
import { RendererWatch } from './renderer-watch.ts';
import { RequestGuard } from './request-guard.ts';
import { ScriptReports } from './script-reports.ts';
import { takeScreenshot } from './take-screenshot.ts';
import { UnroutedTraffic } from './unrouted-traffic.ts';

const CONNECT_DEADLINE_MS = 15_000;
const OPEN_DEADLINE_MS = 15_000;
const CLOSE_DEADLINE_MS = 5_000;
/** Permissions that are granted: geolocation, and sensors, for which browsers do not ask. */
const GRANTED = ['geolocation', 'accelerometer'];
const SCREEN_DEADLINE_MS = 5_000;
/** How long a browser that does not close a context keeps running for its other contexts. */
const UNHEALTHY_GRACE_MS = 20_000;
/** How long a browser may take to tell that the renderers which flooded it have ended. */
const FLOODED_GRACE_MS = 2_000;
const MEMORY_EVERY_MS = 10_000;

/** What a browser knows of its renderers. */
type Renderers = Pick<RendererWatch, 'follow' | 'congestedMs' | 'goLast' | 'endedForMemory'>;
/** For a browser whose processes are not on this machine. */
const NOT_SEEN: Renderers = {
  follow: () => undefined,
  congestedMs: () => 0,
  goLast: () => undefined,
  endedForMemory: () => false,
};

/** What a browser consists of. `reportBy`: the name of the function through which page scripts report. */
type BrowserParts = {
  process: ConnectedChromium;
  transport: PipeTransport;
  browser: Browser;
  sessions: DeviceSessions;
  observers: ContextObservers;
  guard: RequestGuard;
  renderers: Renderers;
  reportBy: string;
};

/**
 * One running Chromium and its contexts. It ends when its last context is closed after it was retired, or when it is
 * killed.
 */
export class LiveBrowser {
  readonly version: string;
  readonly #parts: BrowserParts;
  readonly #screens: DeviceScreens;
  readonly #logger: Logger;
  /** Called when the browser has ended or its connection was lost, and we did not end it. */
  onlost: () => void = () => undefined;
  /**
   * Whether it is still to be seen that its traffic leaves by the gateway: a browser that we do not start has its own
   * settings.
   */
  #isExitUnchecked: boolean;
  readonly #startedAt = performance.now();
  #opening: Promise<unknown> = Promise.resolve();
  #contexts = 0;
  #claims = 0;
  #broken = false;
  #retired = false;
  #stuck = false;
  #idleMemory: number | null = null;
  #memory: number | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #killed: Promise<void> | null = null;
  #ended = false;

  private constructor(parts: BrowserParts, logger: Logger) {
    const { process, transport, browser, sessions, observers } = parts;
    this.#parts = parts;
    this.version = browser.version();
    this.#isExitUnchecked = process.pid === null;
    transport.onflood = (sessionId) => observers.emit(sessions.targetOf(sessionId), MESSAGE_FLOOD);
    this.#screens = new DeviceScreens((screen) =>
      transport.own.command('Emulation.addScreen', screen, SCREEN_DEADLINE_MS),
    );
    this.#logger = logger.child({ chromium_pid: process.pid });
    browser.on('disconnected', () => {
      this.#broken = true;
      if (this.#killed === null) this.onlost();
      void this.kill();
    });
  }

  /**
   * Starts a Chromium, or connects to a remote one; `rendererBytes` is the most memory of one renderer. Throws when
   * Chromium does not start in time; its process and profile are removed then.
   */
  static async launch(
    where: Chromium | RemoteChromium,
    logger: Logger,
    rendererBytes = RENDERER_BYTES_MAX,
  ): Promise<LiveBrowser> {
    const process = 'cdpUrl' in where ? await connectRemote(where) : await startChromium(where, logger);
    try {
      const sessions = new DeviceSessions();
      const guard = new RequestGuard(
        (sessionId) => sessions.credentialsOf(sessionId),
        (sessionId, frameId) =>
          sessionId === undefined ? sessions.headersOfNested(frameId) : sessions.headersOf(sessionId),
        (sessionId) => sessions.hintsOf(sessionId),
        (sessionId) => observers.lineOf(sessionId),
      );
      const reports = new ScriptReports();
      const observers = new ContextObservers((...command) => transport.own.command(...command), logger);
      const emptyWindows = new EmptyWindows((sessionId) => observers.contextOf(sessionId));
      const unrouted = new UnroutedTraffic(
        (sessionId) => observers.lineOf(sessionId),
        (sessionId) => guard.isRouted(sessionId),
      );
      const transport: PipeTransport = new PipeTransport(
        process.write,
        process.read,
        // The order matters: the observers come first, so that they see messages which the others change, answer or,
        // last, leave out.
        [observers, new FrameCrashes(), emptyWindows, guard, sessions, reports, unrouted],
        logger,
      );
      const connecting = chromium.connectOverCDP(transport, { noDefaults: true, timeout: CONNECT_DEADLINE_MS });
      const browser = await withDeadline(connecting, CONNECT_DEADLINE_MS, 'the connection to Chromium');
      const renderers =
        process.pid === null
          ? NOT_SEEN
          : new RendererWatch(process.pid, rendererBytes, {
              ended: (held) => logger.info(held, 'a renderer held too much memory and was ended'),
              stuck: (contexts) => live.#whenStuck(contexts),
              crowded: (...crowding) => live.#isCrowded() && observers.emitCrowded(...crowding),
              flooded: () => live.#whenFlooded(observers.expectCrash()),
            });
      const parts = { process, transport, browser, sessions, observers, guard, renderers, reportBy: reports.name };
      const live = new LiveBrowser(parts, logger);
      return live;
    } catch (error) {
      await process.kill();
      throw error;
    }
  }

  /** Whether the process is gone and its profile removed. */
  get ended(): boolean {
    return this.#ended;
  }

  /** null: the browser is remote. */
  get pid(): number | null {
    return this.#parts.process.pid;
  }

  /** Uses the browser beside its contexts, to look what it can do. */
  inspect<T>(use: (browser: Browser, own: OwnCommands) => Promise<T>): Promise<T> {
    return use(this.#parts.browser, this.#parts.transport.own);
  }

  /** Why this browser must not get another context; null = it may. */
  recycleReason(limits: RecycleLimits): RecycleReason | null {
    const now = performance.now();
    if (now - this.#measuredAt > MEMORY_EVERY_MS) {
      this.#measuredAt = now;
      this.#memory = this.#longLivedMemory();
    }
    const usage = {
      broken: this.#broken || this.#stuck,
      reserved: this.#retired,
      contexts: this.#contexts,
      ageMs: now - this.#startedAt,
      idleMemory: this.#idleMemory,
      memory: this.#memory,
    };
    return recycleReason(usage, limits);
  }

  /** Reserves an {@link open}, so that the browser does not end before it. */
  claim(): void {
    this.#claims += 1;
    this.#contexts += 1;
    if (!this.#broken) this.#parts.renderers.follow(this.#claims);
  }

  /**
   * Opens a claimed context. Throws when the browser does not respond in time; it counts as broken from then on. Throws
   * ExitCheckError when a remote browser does not use the ticket.
   */
  async open({ emulator, countryCode, ticket }: OpenOptions): Promise<OpenContext> {
    const profile = emulationProfile(emulator, countryCode, ticket, this.version);
    try {
      const [context, contextId] = await this.#createInTurn(profile);
      return this.#asOpenContext(context, contextId);
    } catch (error) {
      if (!(error instanceof ExitCheckError)) this.#markUnhealthy();
      this.#disclaim();
      throw error;
    }
  }

  /** Opens no more contexts; the browser ends when the last one is closed. */
  retire(): void {
    this.#retired = true;
    if (this.#claims === 0) void this.kill();
  }

  /** Ends the browser and all its child processes at once. */
  kill(): Promise<void> {
    this.#broken = true;
    this.#parts.renderers.follow(0);
    this.#killed ??= this.#parts.process.kill().then(() => {
      this.#ended = true;
    });
    return this.#killed;
  }

  /**
   * Opens contexts one after the other: an expected identity is applied to the next context that Playwright creates.
   */
  #createInTurn(profile: EmulationProfile): Promise<[BrowserContext, string]> {
    const before = this.#opening;
    const mine = before.then(async () => {
      if (this.#isExitUnchecked) await this.#checkExit(profile);
      return this.#create(profile);
    });
    // The caller handles a failure; the next context is opened regardless.
    this.#opening = mine.catch(() => undefined);
    // Many that are opened at once on a busy machine wait for each other: that is no sign of a browser that hangs.
    return before.then(() => withDeadline(mine, OPEN_DEADLINE_MS, 'a browser context'));
  }

  /** In a context of its own, so that nothing of it is in a capture. */
  async #checkExit(profile: EmulationProfile): Promise<void> {
    const [context, contextId] = await this.#create(profile);
    try {
      await checkExit(context);
      this.#isExitUnchecked = false;
    } finally {
      await context.close();
      this.#parts.sessions.forgetContext(contextId);
    }
  }

  #longLivedMemory(): number | null {
    return this.pid === null ? null : longLivedMemory(this.pid);
  }

  async #create(profile: EmulationProfile): Promise<[BrowserContext, string]> {
    const window = await this.#screens.windowOn(profile.device);
    const expected = this.#parts.sessions.expectContext({ ...profile.identity, window });
    const context = await this.#parts.browser.newContext(profile.options);
    await context.addInitScript(profile.initScript(window?.left ?? 0));
    const contextId = await expected;
    await this.#grant(contextId);
    return [context, contextId];
  }

  /** Grants permissions one by one: Playwright's own call would deny all others for good. */
  async #grant(browserContextId: string): Promise<void> {
    const grant = (name: string) => {
      const params = { permission: { name }, setting: 'granted', browserContextId };
      return this.#parts.transport.own.command('Browser.setPermission', params, OPEN_DEADLINE_MS);
    };
    await Promise.all(GRANTED.map(grant));
  }

  #asOpenContext(context: BrowserContext, contextId: string): OpenContext {
    const { browser, transport, sessions, observers, guard, renderers, reportBy } = this.#parts;
    let closing: Promise<void> | null = null;
    let hasLeft = false;
    return {
      context,
      browser,
      browserName: 'Chromium',
      browserVersion: this.version,
      observe: (listener) => observers.observe(contextId, listener),
      screenshot: (...request) => takeScreenshot(transport.own, sessions, ...request),
      browserContextId: contextId,
      reportBy,
      letNewTabsLoad: (mayLoad) => guard.letNewTabsLoad(contextId, mayLoad),
      stopLoads: (targetId) => {
        const tab = observers.sessionOf(targetId);
        if (tab !== undefined) guard.stopLoads(tab);
      },
      congestedMs: (at) => renderers.congestedMs(at),
      crashedForMemory: () => renderers.endedForMemory(),
      leaveShared: () => {
        hasLeft ||= observers.hasCrashed(contextId) || !this.#reserve();
        return hasLeft;
      },
      hasLeftShared: () => hasLeft,
      browserEnded: () => hasLeft || this.#killed !== null || transport.closed,
      close: () => {
        closing ??= this.#close(context, contextId);
        return closing;
      },
    };
  }

  async #close(context: BrowserContext, contextId: string): Promise<void> {
    const closing = context.close();
    try {
      await withDeadline(closing, CLOSE_DEADLINE_MS, 'the end of a browser context');
    } catch (cause) {
      if (!this.#broken) this.#logger.warn({ cause }, 'a browser context did not close in time');
      const spare = this.#markUnhealthy();
      // The machine was busy: what other contexts do may go on to its end.
      closing.then(spare, () => undefined);
    }
    this.#parts.sessions.forgetContext(contextId);
    this.#parts.guard.letNewTabsLoad(contextId, true);
    // Measured only now that all of its long-lived processes run: before its first context a browser has half the
    // memory.
    this.#idleMemory ??= this.#longLivedMemory();
    this.#disclaim();
  }

  /** Keeps the browser for the only context that it has; false: it has several. A remote one stays as it is. */
  #reserve(): boolean {
    if (this.pid === null) return true;
    if (this.#claims > 1) return false;
    this.retire();
    this.goLast();
    return true;
  }

  /** Gives the browser the lowest priority: only one context has to wait for it. */
  goLast(): void {
    this.#parts.renderers.goLast();
  }

  #disclaim(): void {
    this.#claims -= 1;
    if (!this.#broken) this.#parts.renderers.follow(this.#claims);
    if (this.#claims === 0 && this.#retired) void this.kill();
  }

  /** Whether a page that leaves others nothing is to be told so: a page that only later ones would wait for is not. */
  #isCrowded(): boolean {
    return this.#claims > 1 || this.#retired;
  }

  /** It draws one page without a pause: only that page may wait for it. */
  #whenStuck(contexts: number): void {
    this.#stuck = true;
    if (contexts < 2) return;
    this.#logger.warn('a page kept all others from being drawn, the browser is ended');
    // Not only the process: a tab that it closes as it ends must be known to have ended with its browser.
    void this.kill();
  }

  /** Its flood is over soon, or it has more to do than others can wait for. */
  #whenFlooded(hasCrashed: () => boolean): void {
    setTimeout(() => {
      if (hasCrashed() || this.#killed) return;
      this.#logger.warn('a browser that pages had flooded does not respond, and is ended');
      void this.kill();
    }, FLOODED_GRACE_MS).unref();
  }

  /**
   * Opens no more contexts, and ends the browser soon, unless it is spared by the returned function: then when its last
   * context is closed.
   */
  #markUnhealthy(): () => void {
    if (this.#broken) return () => undefined;
    this.#broken = true;
    const ending = setTimeout(() => void this.kill(), UNHEALTHY_GRACE_MS).unref();
    return () => {
      clearTimeout(ending);
      this.retire();
    };
  }
}
