import type { Device } from '@adsweep/shared/scan/devices/device.ts';
import {
  type Attached,
  addedCommand,
  type ProtocolFilter,
  type ProtocolMessage,
  type Send,
  startedWorker,
  WORKER_TYPES,
} from './cdp-messages.ts';
import type { HintValues } from './client-hints.ts';
import type { WindowBounds } from './device-screens.ts';
import { type DeviceHeaders, type ProxyCredentials, pauseScripts, pauseWorkerScripts } from './request-guard.ts';

/**
 * What every target of a context gets before its first script and its first request: the device's properties and the
 * proxy credentials.
 */
export type Identity = {
  credentials: ProxyCredentials;
  /** Parameters of `Emulation.setUserAgentOverride`. */
  userAgentOverride: Record<string, unknown>;
  device: WindowOwner;
  maxTouchPoints: number;
  /** Headers for the scripts of service workers and nested workers; Chromium itself would send its own user agent. */
  headers: DeviceHeaders;
  /** Client hints for documents, sent where servers ask for them. */
  hints: HintValues;
  /** Where its windows are; null = anywhere. */
  window: WindowBounds | null;
  /** JavaScript for workers, which init scripts do not reach. */
  workerScript: string;
};

/** The properties of a device that its windows need. */
type WindowOwner = Pick<Device, 'viewport' | 'screen' | 'mobile'>;
/** Windows of desktops are no smaller, in CSS pixels (MDN, "Window: open()"). */
const WINDOW_SIDE_MIN = 100;

/** `windowId`: of a tab that a page opened, once Playwright has placed its window; its opener may move it. */
type Session = { identity: Identity | null; type: string; targetId: string; isOpened: boolean; windowId?: unknown };
type Expected = { identity: Identity; resolve: (contextId: string) => void };

/**
 * Applies the device to every target by amending Playwright's messages. Playwright pauses each page, popup, frame and
 * worker at its start and sends its own overrides, which have no client hints and do not cover workers. Amending those
 * messages is the only way to act before a popup's first request and a worker's first line.
 */
export class DeviceSessions implements ProtocolFilter {
  readonly #sessions = new Map<string, Session>();
  /** The session in which Playwright emulates the device, by the target id of its tab. */
  readonly #ofTabs = new Map<string, string>();
  /** The session of the worker that starts a worker, by the target id of the latter. */
  readonly #creators = new Map<string, string>();
  readonly #identities = new Map<string, Identity>();
  readonly #creating = new Map<number, Expected>();
  #expected: Expected | null = null;
  /** Whether the browser pauses the scripts of workers for us. */
  #pausesWorkerScripts = false;

  /** Assigns an identity to the next context that Playwright creates; resolves with its CDP id. One at a time. */
  expectContext(identity: Identity): Promise<string> {
    return new Promise((resolve) => {
      this.#expected = { identity, resolve };
    });
  }

  /** The proxy credentials of a session's context, null = the session is not of one of our contexts. */
  credentialsOf(sessionId: string): ProxyCredentials | null {
    return this.#sessions.get(sessionId)?.identity?.credentials ?? null;
  }

  /** CDP's id of a session's target, '' = it has ended. */
  targetOf(sessionId: string): string {
    return this.#sessions.get(sessionId)?.targetId ?? '';
  }

  /**
   * Headers of the scripts that a service worker requests; null = Chromium makes the session's requests as the device
   * would.
   */
  headersOf(sessionId: string): DeviceHeaders | null {
    const session = this.#sessions.get(sessionId);
    return session?.type === 'service_worker' ? (session.identity?.headers ?? null) : null;
  }

  /** The client hints of documents that a session requests; undefined = the session is not of one of our contexts. */
  hintsOf(sessionId: string): HintValues | undefined {
    return this.#sessions.get(sessionId)?.identity?.hints;
  }

  /** Headers of the script of a nested worker, by the target id that it will have; null = it is not nested. */
  headersOfNested(targetId: string): DeviceHeaders | null {
    const creator = this.#creators.get(targetId);
    return creator ? (this.#sessions.get(creator)?.identity?.headers ?? null) : null;
  }

  /**
   * The session in which the device is emulated in a tab, by its CDP target id; null = there is no such tab (any more).
   */
  emulating(targetId: string): { sessionId: string; maxTouchPoints: number } | null {
    const sessionId = this.#ofTabs.get(targetId);
    const identity = sessionId && this.#sessions.get(sessionId)?.identity;
    return sessionId && identity ? { sessionId, maxTouchPoints: identity.maxTouchPoints } : null;
  }

  forgetContext(contextId: string): void {
    this.#identities.delete(contextId);
  }

  outgoing(message: ProtocolMessage): ProtocolMessage[] {
    if (message.method === 'Target.createBrowserContext' && this.#expected) {
      this.#creating.set(message.id as number, this.#expected);
      this.#expected = null;
      return [message];
    }
    if (message.method === 'Target.createTarget') return [this.#positioned(message)];
    if (message.method === 'Target.detachFromTarget' && this.#isSharedWorker(message)) {
      // Playwright detaches from shared workers, which drops our overrides; send a no-op instead.
      return [{ id: message.id, sessionId: message.sessionId, method: 'Browser.getVersion' }];
    }
    const session = this.#sessions.get(message.sessionId ?? '');
    if (!session?.identity) return [message];
    return this.#amend(message, session, session.identity);
  }

  incoming(message: ProtocolMessage, send: Send): boolean {
    if (message.id !== undefined) this.#responded(message, message.id);
    if (message.method === 'Target.attachedToTarget') this.#attached(message);
    if (message.method === 'Network.requestWillBeSent') this.#requested(message);
    if (message.method === 'Page.windowOpen') this.#windowOpens(message);
    if (message.method === 'Page.frameNavigated') this.#navigated(message, send);
    if (message.method === 'Target.detachedFromTarget') this.#detached(message.params?.sessionId as string);
    return true;
  }

  /** Opens a new tab on the screen of its device. */
  #positioned(message: ProtocolMessage): ProtocolMessage {
    const window = this.#identities.get(message.params?.browserContextId as string)?.window;
    return window ? { ...message, params: { ...message.params, ...window, newWindow: true } } : message;
  }

  #isSharedWorker({ params }: ProtocolMessage): boolean {
    return this.#sessions.get(params?.sessionId as string)?.type === 'shared_worker';
  }

  #amend(message: ProtocolMessage, session: Session, identity: Identity): ProtocolMessage[] {
    switch (message.method) {
      case 'Emulation.setUserAgentOverride':
        return [{ ...message, params: identity.userAgentOverride }];
      case 'Emulation.setDeviceMetricsOverride':
        return [{ ...message, params: { ...message.params, ...placeOnScreen(identity.device) } }];
      case 'Browser.setWindowBounds':
        if (session.isOpened) session.windowId = message.params?.windowId;
        // A page that places its window elsewhere would not be drawn.
        return [identity.window ? { ...message, params: { ...message.params, bounds: identity.window } } : message];
      case 'Emulation.setTouchEmulationEnabled':
        return [{ ...message, params: { ...message.params, maxTouchPoints: identity.maxTouchPoints } }];
      case 'Runtime.runIfWaitingForDebugger':
        return WORKER_TYPES.has(session.type)
          ? [...this.#overrideWorker(message, session.type, identity), message]
          : [message];
      default:
        return [message];
    }
  }

  #overrideWorker({ sessionId }: ProtocolMessage, type: string, identity: Identity): ProtocolMessage[] {
    const commands = [
      { method: 'Emulation.setUserAgentOverride', params: identity.userAgentOverride },
      { method: 'Runtime.evaluate', params: { expression: identity.workerScript } },
    ].map((command) => addedCommand(sessionId, command));
    if (type === 'service_worker') return [addedCommand(sessionId, pauseScripts), ...commands];
    return type === 'worker' ? [...this.#pauseWorkerScripts(), ...commands] : commands;
  }

  /**
   * Once per browser, at its first dedicated worker: only the browser's own session can pause the script of a nested
   * worker.
   */
  #pauseWorkerScripts(): ProtocolMessage[] {
    if (this.#pausesWorkerScripts) return [];
    this.#pausesWorkerScripts = true;
    return [addedCommand(undefined, pauseWorkerScripts)];
  }

  #responded(message: ProtocolMessage, id: number): void {
    const creating = this.#creating.get(id);
    if (creating) this.#created(id, creating, message);
    // Our command line hides from pages that the browser is headless; Playwright reads it from the user agent and
    // relies on it.
    if (message.result?.product && message.result.userAgent) message.result.userAgent = 'Headless';
  }

  #created(id: number, { identity, resolve }: Expected, { result }: ProtocolMessage): void {
    this.#creating.delete(id);
    const contextId = result?.browserContextId;
    if (typeof contextId !== 'string') return;
    this.#identities.set(contextId, identity);
    resolve(contextId);
  }

  #attached({ sessionId, params }: ProtocolMessage): void {
    const { targetInfo, sessionId: own } = params as Attached;
    const parent = this.#sessions.get(sessionId ?? '')?.identity ?? null;
    const identity = this.#identities.get(targetInfo.browserContextId ?? '') ?? parent;
    const { targetId, type, openerId } = targetInfo;
    this.#sessions.set(own, { identity, type, targetId, isOpened: openerId !== undefined });
    // The first session is the one that Playwright emulates in; it may attach to the tab again for other purposes.
    if (type === 'page' && !this.#ofTabs.has(targetId)) this.#ofTabs.set(targetId, own);
  }

  /** Playwright gives the page of a new window the size that its opener asks for. */
  #windowOpens({ sessionId, params }: ProtocolMessage): void {
    const device = this.#sessions.get(sessionId ?? '')?.identity?.device;
    if (device && params) params.windowFeatures = windowFeatures((params.windowFeatures ?? []) as string[], device);
  }

  /** The opener of a window may have moved it while it was empty: our page scripts do not run in its first document. */
  #navigated({ sessionId, params }: ProtocolMessage, send: Send): void {
    const { identity, windowId } = this.#sessions.get(sessionId ?? '') ?? {};
    const bounds = identity?.window;
    const isOfTab = (params?.frame as { parentId?: string } | undefined)?.parentId === undefined;
    if (!bounds || windowId === undefined || !isOfTab) return;
    send(addedCommand(sessionId, { method: 'Browser.setWindowBounds', params: { windowId, bounds } }));
  }

  /** The request for a worker's script is reported in the session of its starter before it is paused. */
  #requested({ sessionId = '', params }: ProtocolMessage): void {
    if (this.#sessions.get(sessionId)?.type !== 'worker') return;
    const targetId = startedWorker(params as Parameters<typeof startedWorker>[0]);
    if (targetId !== null) this.#creators.set(targetId, sessionId);
  }

  #detached(sessionId: string): void {
    const { targetId = '', type } = this.#sessions.get(sessionId) ?? {};
    this.#creators.delete(targetId);
    // A worker whose script does not load is never attached.
    if (type === 'worker')
      for (const [started, creator] of this.#creators) if (creator === sessionId) this.#creators.delete(started);
    this.#sessions.delete(sessionId);
    if (this.#ofTabs.get(targetId) === sessionId) this.#ofTabs.delete(targetId);
  }
}

/** Hides the real window's position. Playwright takes the size that a window asks for to be that of the screen. */
const placeOnScreen = ({ screen }: WindowOwner) => ({
  positionX: 0,
  positionY: 0,
  screenWidth: screen.width,
  screenHeight: screen.height,
});

/**
 * The features, such as `width=300`, with which a page opens a window, as far as the device heeds them: a phone or
 * tablet shows each window on its whole screen, a desktop none that is tiny or larger than its others. Pure.
 */
function windowFeatures(features: readonly string[], { viewport, mobile }: WindowOwner): string[] {
  if (mobile) return [];
  return features.map((feature) => {
    const [name = '', value = ''] = feature.split('=');
    if (name !== 'width' && name !== 'height') return feature;
    return `${name}=${Math.min(viewport[name], Math.max(WINDOW_SIDE_MIN, Number.parseInt(value, 10) || 0))}`;
  });
}
