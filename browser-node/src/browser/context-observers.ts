import type { BrowserSession } from './own-sessions.ts';

/** Receives a context's CDP events. `sessionId` undefined: a browser-level event. */
export type ContextListener = (method: string, params: unknown, sessionId: string | undefined) => void;

/** The observation of one context. */
export type ContextObservation = {
  /** Resolves when all targets of the context are observed. Rejects when the browser has ended or does not respond in time. */
  begun: Promise<void>;
  /** A command to one of the context's targets. Rejects as {@link BrowserSession.command} does. */
  command(
    method: string,
    params: object | undefined,
    deadlineMs: number,
    sessionId: string,
  ): Promise<Record<string, unknown>>;
  close(): void;
};

/** `targets`: ids whose events it receives; `roots`: sessions attached directly; their frames and workers are attached through them. */
type Observer = { contextId: string; listener: ContextListener; targets: Set<string>; roots: Set<string> };
type Attached = { sessionId: string; targetInfo: TargetInfo };
type TargetInfo = { targetId: string; type: string; browserContextId?: string };

/** An event that we emit ourselves: a target causes more messages than is allowed, such as those about errors or requests. */
export const MESSAGE_FLOOD = 'Adsweep.messageFlood';

const COMMAND_MS = 5_000;
/** Top-level targets of a context; frames and other workers are attached through them. */
const ROOTS = new Set(['page', 'shared_worker', 'service_worker']);

/**
 * Observes the contexts of one browser over one browser session: each target is attached once and its events go to its context's observer.
 * With a session for each context, all of them would attach to every new tab, and all but one detach again.
 */
export class ContextObservers {
  readonly #attach: () => Promise<BrowserSession>;
  #session: Promise<BrowserSession> | null = null;
  readonly #observers = new Map<string, Observer>();
  readonly #ofSessions = new Map<string, Observer>();
  /** Open contexts that were observed before: some of their targets may not be attached. */
  readonly #observedBefore = new Set<string>();

  /** `attach` opens a session with the browser. */
  constructor(attach: () => Promise<BrowserSession>) {
    this.#attach = attach;
  }

  /** Starts to observe a context. One observer at a time. */
  observe(contextId: string, listener: ContextListener): ContextObservation {
    const observer: Observer = { contextId, listener, targets: new Set(), roots: new Set() };
    this.#observers.set(contextId, observer);
    this.#session ??= this.#begin();
    const session = this.#session;
    return {
      begun: session.then((begun) => this.#attachRemaining(begun, observer)),
      command: async (...command) => (await session).command(...command),
      close: () => this.#close(session, observer),
    };
  }

  /** A context was closed. */
  forget(contextId: string): void {
    this.#observedBefore.delete(contextId);
  }

  /** Sends an event of our own to the observer of a target. */
  emit(targetId: string, method: string): void {
    for (const { targets, listener } of this.#observers.values())
      if (targets.has(targetId)) listener(method, { targetId }, undefined);
  }

  async #begin(): Promise<BrowserSession> {
    try {
      const session = await this.#attach();
      session.listen((method, params, sessionId) => this.#receive(session, method, params, sessionId));
      await session.command('Target.setAutoAttach', autoAttach({ paused: false }), COMMAND_MS);
      return session;
    } catch (error) {
      this.#session = null;
      throw error;
    }
  }

  #receive(session: BrowserSession, method: string, params: unknown, sessionId: string | undefined): void {
    const isBegin = method === 'Target.attachedToTarget';
    if (isBegin && !this.#assign(params as Attached, sessionId)) detach(session, (params as Attached).sessionId);
    const isEnd = method === 'Target.detachedFromTarget';
    const subject = isBegin || isEnd ? (params as Attached).sessionId : (sessionId ?? '');
    const observer = this.#ofSessions.get(subject);
    if (isEnd) {
      this.#ofSessions.delete(subject);
      observer?.roots.delete(subject);
    }
    observer?.listener(method, params, sessionId);
  }

  /** Assigns a new session to the observer of its context or of its parent target; false: there is none. */
  #assign({ sessionId, targetInfo }: Attached, parentId: string | undefined): boolean {
    const isRoot = parentId === undefined;
    const observer = isRoot ? this.#observers.get(targetInfo.browserContextId ?? '') : this.#ofSessions.get(parentId);
    if (!observer) return false;
    this.#ofSessions.set(sessionId, observer);
    observer.targets.add(targetInfo.targetId);
    if (isRoot) observer.roots.add(sessionId);
    return true;
  }

  /** Attaches to the targets of a context that was observed before: when its last observer closed, they were detached. */
  async #attachRemaining(session: BrowserSession, { contextId, targets }: Observer): Promise<void> {
    if (!this.#observedBefore.has(contextId)) return;
    const { targetInfos } = await session.command('Target.getTargets', undefined, COMMAND_MS);
    const remaining = (targetInfos as TargetInfo[]).filter(
      ({ targetId, type, browserContextId }) =>
        browserContextId === contextId && ROOTS.has(type) && !targets.has(targetId),
    );
    // A target that has ended meanwhile needs no observer.
    const attach = ({ targetId }: TargetInfo) =>
      session.command('Target.attachToTarget', { targetId, flatten: true }, COMMAND_MS).catch(() => undefined);
    await Promise.all(remaining.map(attach));
  }

  #close(session: Promise<BrowserSession>, observer: Observer): void {
    if (this.#observers.get(observer.contextId) !== observer) return;
    this.#observers.delete(observer.contextId);
    this.#observedBefore.add(observer.contextId);
    for (const [sessionId, owner] of this.#ofSessions) if (owner === observer) this.#ofSessions.delete(sessionId);
    // When the browser has ended, its sessions have too.
    session
      .then((begun) => {
        for (const root of observer.roots) detach(begun, root);
      })
      .catch(() => undefined);
  }
}

/** A target that has ended needs no detaching. */
function detach(session: BrowserSession, sessionId: string): void {
  session.command('Target.detachFromTarget', { sessionId }, COMMAND_MS).catch(() => undefined);
}

// Targets of the type `tab` would only duplicate the pages.
const FILTER = [
  { type: 'browser', exclude: true },
  { type: 'browser_ui', exclude: true },
  { type: 'tab', exclude: true },
  {},
];

/**
 * Parameters of `Target.setAutoAttach`. `paused`: targets wait at their start until they are observed. We pause frames and workers:
 * without that, half of the frames that navigate at once had no contents. Playwright pauses them too, and each client has to resume them. We
 * never pause tabs: Playwright would miss their first requests.
 */
export const autoAttach = ({ paused }: { paused: boolean }) => ({
  autoAttach: true,
  flatten: true,
  waitForDebuggerOnStart: paused,
  filter: FILTER,
});
