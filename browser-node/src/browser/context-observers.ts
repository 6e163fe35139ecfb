import { autoAttach } from './auto-attach.ts';
import type { BrowserSession } from './own-sessions.ts';

/** Hears what the targets of a context tell. `sessionId`: of the target, undefined = the browser tells of a target. */
export type ContextListener = (method: string, params: unknown, sessionId: string | undefined) => void;

/** The observation of one context. */
export type ContextObservation = {
  /** Settles when all that runs in the context is observed. Rejects when the browser is gone or does not answer in time. */
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

/** `targets`: ids of what it is told of; `roots`: sessions of what is attached to for itself, frames and workers in it go with it. */
type Observer = { contextId: string; listener: ContextListener; targets: Set<string>; roots: Set<string> };
type Attached = { sessionId: string; targetInfo: TargetInfo };
type TargetInfo = { targetId: string; type: string; browserContextId?: string };

/** An event of our own: the scripts of a target write a lot that nobody reads, as to the console. */
export const UNREAD_FLOOD = 'Adsweep.unreadFlood';

const COMMAND_MS = 5_000;
/** What stands at the top of a context; frames and other workers are attached to with it. */
const ROOTS = new Set(['page', 'shared_worker', 'service_worker']);

/**
 * Observes the contexts of one browser, by one session with it: each target is attached to once, and told of to the observer of its
 * context. With a session for each context, every new tab would be attached to, and left again, by all of them.
 */
export class ContextObservers {
  readonly #attach: () => Promise<BrowserSession>;
  #session: Promise<BrowserSession> | null = null;
  readonly #observers = new Map<string, Observer>();
  readonly #ofSessions = new Map<string, Observer>();
  /** Contexts that are open and were observed before: something may be left in them that is not attached to. */
  readonly #left = new Set<string>();

  /** `attach` gives a session with the browser. */
  constructor(attach: () => Promise<BrowserSession>) {
    this.#attach = attach;
  }

  /** Begins to observe a context. One observer at a time. */
  observe(contextId: string, listener: ContextListener): ContextObservation {
    const observer: Observer = { contextId, listener, targets: new Set(), roots: new Set() };
    this.#observers.set(contextId, observer);
    this.#session ??= this.#begin();
    const session = this.#session;
    return {
      begun: session.then((begun) => this.#adoptLeft(begun, observer)),
      command: async (...command) => (await session).command(...command),
      close: () => this.#close(session, observer),
    };
  }

  /** A context was closed. */
  forget(contextId: string): void {
    this.#left.delete(contextId);
  }

  /** Tells the observer of a target what its own session does not. */
  tell(targetId: string, method: string): void {
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

  /** Whether there is an observer that a new session belongs to: that of its context, or of the target it is in. */
  #assign({ sessionId, targetInfo }: Attached, parentId: string | undefined): boolean {
    const isRoot = parentId === undefined;
    const observer = isRoot ? this.#observers.get(targetInfo.browserContextId ?? '') : this.#ofSessions.get(parentId);
    if (!observer) return false;
    this.#ofSessions.set(sessionId, observer);
    observer.targets.add(targetInfo.targetId);
    if (isRoot) observer.roots.add(sessionId);
    return true;
  }

  /** What an earlier observer of the context left was left unobserved. */
  async #adoptLeft(session: BrowserSession, { contextId, targets }: Observer): Promise<void> {
    if (!this.#left.has(contextId)) return;
    const { targetInfos } = await session.command('Target.getTargets', undefined, COMMAND_MS);
    const left = (targetInfos as TargetInfo[]).filter(
      ({ targetId, type, browserContextId }) =>
        browserContextId === contextId && ROOTS.has(type) && !targets.has(targetId),
    );
    // What has ended meanwhile needs no observation.
    const attach = ({ targetId }: TargetInfo) =>
      session.command('Target.attachToTarget', { targetId, flatten: true }, COMMAND_MS).catch(() => undefined);
    await Promise.all(left.map(attach));
  }

  #close(session: Promise<BrowserSession>, observer: Observer): void {
    if (this.#observers.get(observer.contextId) !== observer) return;
    this.#observers.delete(observer.contextId);
    this.#left.add(observer.contextId);
    for (const [sessionId, owner] of this.#ofSessions) if (owner === observer) this.#ofSessions.delete(sessionId);
    // A browser that is gone took its sessions along.
    session
      .then((begun) => {
        for (const root of observer.roots) detach(begun, root);
      })
      .catch(() => undefined);
  }
}

/** What is gone needs no detaching. */
function detach(session: BrowserSession, sessionId: string): void {
  session.command('Target.detachFromTarget', { sessionId }, COMMAND_MS).catch(() => undefined);
}
