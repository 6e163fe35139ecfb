import type { HintValues } from './client-hints.ts';
import type { WindowPlace } from './device-screens.ts';
import { addedCommand, type ProtocolFilter, type ProtocolMessage } from './protocol-message.ts';
import { type DeviceHeaders, type ProxyCredentials, scriptsPaused, workerScriptsPaused } from './request-guard.ts';
import { startedWorker } from './started-worker.ts';

/** What every target of a context is told about the device before its first script and its first request, and how it passes its proxy. */
export type Identity = {
  credentials: ProxyCredentials;
  /** Parameters of `Emulation.setUserAgentOverride`. */
  userAgentOverride: Record<string, unknown>;
  maxTouchPoints: number;
  /** What scripts of service workers and of workers' workers are requested with; Chromium itself would do so under its own name. */
  headers: DeviceHeaders;
  /** What documents are requested with where servers ask for it. */
  hints: HintValues;
  /** Where its windows are opened; null = anywhere. */
  window: WindowPlace | null;
  /** JavaScript for workers, which init scripts do not reach. */
  workerScript: string;
};

/** `placed`: it is a tab that we opened, and not one that a page did. */
type Session = { identity: Identity | null; type: string; targetId: string; placed: boolean };
type Expected = { identity: Identity; resolve: (contextId: string) => void };

const WORKERS = new Set(['worker', 'shared_worker', 'service_worker']);

/**
 * Makes Playwright say the truth about the device to every target. Playwright pauses each page, popup, frame and worker at its start
 * and sends its own overrides, which know no client hints and leave workers bare; amending those messages on their way is the one
 * place that comes before a popup's first request and a worker's first line.
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

  /** The next context that Playwright creates has this identity; gives CDP's id of it. One at a time. */
  expectContext(identity: Identity): Promise<string> {
    return new Promise((resolve) => {
      this.#expected = { identity, resolve };
    });
  }

  /** How the context of a session passes its proxy, null = the session is of no context of ours. */
  credentialsOf(sessionId: string): ProxyCredentials | null {
    return this.#sessions.get(sessionId)?.identity?.credentials ?? null;
  }

  /** CDP's id of a session's target, '' = it has ended. */
  targetOf(sessionId: string): string {
    return this.#sessions.get(sessionId)?.targetId ?? '';
  }

  /** Headers of the scripts that a service worker requests; null = Chromium makes the session's requests as the device would. */
  headersOf(sessionId: string): DeviceHeaders | null {
    const session = this.#sessions.get(sessionId);
    return session?.type === 'service_worker' ? (session.identity?.headers ?? null) : null;
  }

  /** The client hints of documents that a session requests; undefined = the session is of no context of ours. */
  hintsOf(sessionId: string): HintValues | undefined {
    return this.#sessions.get(sessionId)?.identity?.hints;
  }

  /** Headers of the script of a worker that another worker starts, by the target id that it will have; null = it is none. */
  headersOfNested(targetId: string): DeviceHeaders | null {
    const creator = this.#creators.get(targetId);
    return creator ? (this.#sessions.get(creator)?.identity?.headers ?? null) : null;
  }

  /** The session in which the device is emulated in a tab, by CDP's id of the tab; null = there is no such tab (any more). */
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
    if (message.method === 'Target.createTarget') return [this.#place(message)];
    if (message.method === 'Target.detachFromTarget' && this.#isSharedWorker(message)) {
      // Playwright has no use for shared workers and would leave them, and the device with them: it is told something else.
      return [{ id: message.id, sessionId: message.sessionId, method: 'Browser.getVersion' }];
    }
    const session = this.#sessions.get(message.sessionId ?? '');
    if (!session?.identity) return [message];
    return this.#amend(message, session, session.identity);
  }

  incoming(message: ProtocolMessage): boolean {
    if (message.id !== undefined) this.#answered(message, message.id);
    if (message.method === 'Target.attachedToTarget') this.#attached(message);
    if (message.method === 'Network.requestWillBeSent') this.#requested(message);
    if (message.method === 'Target.detachedFromTarget') this.#detached(message.params?.sessionId as string);
    return true;
  }

  /** A new tab on the screen of its device. */
  #place(message: ProtocolMessage): ProtocolMessage {
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
        // Where our browser put the window is nothing of the device's.
        return [session.placed ? { ...message, params: { ...message.params, positionX: 0, positionY: 0 } } : message];
      case 'Emulation.setTouchEmulationEnabled':
        return [{ ...message, params: { ...message.params, maxTouchPoints: identity.maxTouchPoints } }];
      case 'Runtime.runIfWaitingForDebugger':
        return WORKERS.has(session.type)
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
    if (type === 'service_worker') return [addedCommand(sessionId, scriptsPaused), ...commands];
    return type === 'worker' ? [...this.#pauseWorkerScripts(), ...commands] : commands;
  }

  /** From the first dedicated worker on, for as long as the browser runs: no session but the browser's pauses the script of a worker's worker. */
  #pauseWorkerScripts(): ProtocolMessage[] {
    if (this.#pausesWorkerScripts) return [];
    this.#pausesWorkerScripts = true;
    return [addedCommand(undefined, workerScriptsPaused)];
  }

  #answered(message: ProtocolMessage, id: number): void {
    const creating = this.#creating.get(id);
    if (creating) this.#created(id, creating, message);
    // The user agent of our command line hides that the browser is headless from pages, not from Playwright, which relies on it.
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
    const { targetInfo, sessionId: own } = params as {
      sessionId: string;
      targetInfo: { targetId: string; type: string; browserContextId?: string; openerId?: string };
    };
    const parent = this.#sessions.get(sessionId ?? '')?.identity ?? null;
    const identity = this.#identities.get(targetInfo.browserContextId ?? '') ?? parent;
    const { targetId, type, openerId } = targetInfo;
    this.#sessions.set(own, { identity, type, targetId, placed: !openerId });
    // The first one is Playwright's own; it may attach to a tab once more for others.
    if (type === 'page' && !this.#ofTabs.has(targetId)) this.#ofTabs.set(targetId, own);
  }

  /** The request for a worker's script is told of, in the session of who starts it, before it is paused. */
  #requested({ sessionId = '', params }: ProtocolMessage): void {
    if (this.#sessions.get(sessionId)?.type !== 'worker') return;
    const targetId = startedWorker(params as Parameters<typeof startedWorker>[0]);
    if (targetId !== null) this.#creators.set(targetId, sessionId);
  }

  #detached(sessionId: string): void {
    const { targetId = '', type } = this.#sessions.get(sessionId) ?? {};
    this.#creators.delete(targetId);
    // A worker whose script does not come is never attached to.
    if (type === 'worker')
      for (const [started, creator] of this.#creators) if (creator === sessionId) this.#creators.delete(started);
    this.#sessions.delete(sessionId);
    if (this.#ofTabs.get(targetId) === sessionId) this.#ofTabs.delete(targetId);
  }
}
