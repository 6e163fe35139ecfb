import { EXCERPTED_BYTES_MAX } from '@adsweep/shared/limits.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { type Attached, type ProtocolFilter, type ProtocolMessage, WORKER_TYPES } from './cdp-messages.ts';
import type { OwnCommands } from './own-commands.ts';

/**
 * Receives the CDP events of a context's targets before Playwright does. `sessionId` undefined: a browser-level event.
 * Returns false for `Target.attachedToTarget` if the target is to stay paused at its start: it is then hidden from
 * Playwright and never resumed.
 */
export type ContextListener = (method: string, params: unknown, sessionId: string | undefined) => boolean;

/** The observation of one context. */
export type ContextObservation = {
  /** Sends the listener `Target.attachedToTarget` for each target that the context has already. */
  begin(): void;
  /** A command to one of the context's targets. Rejects as {@link OwnCommands.command} does. */
  command: OwnCommands['command'];
  close(): void;
};

/** A browser that was flooded tells late that a renderer has ended. */
const CRASHES_WITHIN_MS = 5_000;

type Session = { contextId: string; attached: Attached; parentId: string | undefined };

/**
 * An event that we emit ourselves: a target causes more messages than is allowed, such as those about errors or
 * requests.
 */
export const MESSAGE_FLOOD = 'Adsweep.messageFlood';
/** An event that we emit ourselves: the processes of a context leave too little memory or CPU to those of others. */
export const CROWDED = 'Adsweep.crowded';
/** What they leave too little of. */
export type Crowded = 'memory' | 'cpu';

/**
 * Parameters of `Network.enable`. Durable messages keep the contents of frames that navigated away; the sizes are those
 * of the contents that a capture reads.
 */
export const NETWORK_BUFFERS = {
  maxTotalBufferSize: 16_000_000,
  maxResourceBufferSize: EXCERPTED_BYTES_MAX,
  enableDurableMessages: true,
};

/**
 * Observes the contexts of one browser in the sessions that Playwright has with their targets: a session of our own for
 * each target would have Chromium write every event twice. One observer of a context at a time.
 */
export class ContextObservers implements ProtocolFilter {
  readonly #command: OwnCommands['command'];
  readonly #logger: Logger;
  readonly #listeners = new Map<string, ContextListener>();
  /** By their ids, in the order in which they were attached. */
  readonly #sessions = new Map<string, Session>();
  /** The targets that have a session. */
  readonly #targets = new Map<string, Session>();
  /** The contexts that were sent {@link CROWDED}. */
  readonly #crowded = new Set<string>();
  /** The contexts in which a page or frame crashed as was expected, and until when (`performance.now()`) one is. */
  readonly #crashed = new Set<string>();
  #crashUntil = 0;

  constructor(command: OwnCommands['command'], logger: Logger) {
    this.#command = command;
    this.#logger = logger;
  }

  observe(contextId: string, listener: ContextListener): ContextObservation {
    this.#listeners.set(contextId, listener);
    return {
      begin: () => {
        for (const { contextId: of, attached, parentId } of this.#sessions.values())
          if (of === contextId) this.#tell(contextId, 'Target.attachedToTarget', attached, parentId);
      },
      command: this.#command,
      close: () => {
        if (this.#listeners.get(contextId) === listener) this.#listeners.delete(contextId);
      },
    };
  }

  /** A session that Playwright has with a target and those around it, the innermost first; none of another session. */
  lineOf(sessionId: string): string[] {
    const line: string[] = [];
    for (let id: string | undefined = sessionId; id !== undefined && this.#sessions.has(id); ) {
      line.push(id);
      id = this.#sessions.get(id)?.parentId;
    }
    return line;
  }

  /** The session that Playwright has with a target; undefined: it has none. */
  sessionOf(targetId: string): string | undefined {
    return this.#targets.get(targetId)?.attached.sessionId;
  }

  /** The id of the context of a session that Playwright has with a target; undefined: it is another session. */
  contextOf(sessionId: string): string | undefined {
    return this.#sessions.get(sessionId)?.contextId;
  }

  /** Sends an event of our own to the observer of a target. */
  emit(targetId: string, method: string): void {
    const session = this.#targets.get(targetId);
    if (session) this.#tell(session.contextId, method, { targetId }, undefined);
  }

  /**
   * Sends {@link CROWDED} to the observer of the context with the most tabs and frames of other sites, each of which may
   * have a process, and, where the CPU is crowded, workers, each of which has a thread; once for each context. false: no
   * context that was not sent it has `least` of them.
   */
  emitCrowded(least: number, crowded: Crowded): boolean {
    const counts = new Map<string, number>();
    for (const { contextId, attached } of this.#targets.values())
      if (
        CROWDING[crowded].has(attached.targetInfo.type) &&
        this.#listeners.has(contextId) &&
        !this.#crowded.has(contextId)
      )
        counts.set(contextId, (counts.get(contextId) ?? 0) + 1);
    const [contextId, count] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? ['', 0];
    if (count < least) return false;
    this.#crowded.add(contextId);
    this.#tell(contextId, CROWDED, {}, undefined);
    return true;
  }

  /**
   * Renderers are about to be ended because they flood the browser: the observer of each context in which one crashes
   * now is sent {@link CROWDED} first. Returns whether one has crashed since.
   */
  expectCrash(): () => boolean {
    const { size } = this.#crashed;
    this.#crashUntil = performance.now() + CRASHES_WITHIN_MS;
    return () => this.#crashed.size > size;
  }

  /** Whether a page or frame of a context has crashed when that was expected. */
  hasCrashed(contextId: string): boolean {
    return this.#crashed.has(contextId);
  }

  outgoing(message: ProtocolMessage): ProtocolMessage[] {
    if (message.method !== 'Network.enable') return [message];
    return [{ ...message, params: { ...message.params, ...NETWORK_BUFFERS } }];
  }

  incoming({ method, params = {}, sessionId }: ProtocolMessage): boolean {
    if (method === 'Target.attachedToTarget') return this.#attach(params as Attached, sessionId);
    const subject = method === 'Target.detachedFromTarget' ? (params.sessionId as string) : sessionId;
    const session = this.#sessions.get(subject ?? '');
    if (!session || method === undefined) return true;
    if (method === 'Target.detachedFromTarget') {
      this.#sessions.delete(subject as string);
      this.#targets.delete(session.attached.targetInfo.targetId);
    }
    if (method === 'Inspector.targetCrashed' && performance.now() < this.#crashUntil) {
      this.#crashed.add(session.contextId);
      this.#tell(session.contextId, CROWDED, {}, undefined);
    }
    this.#tell(session.contextId, method, params, sessionId);
    return true;
  }

  #attach(attached: Attached, parentId: string | undefined): boolean {
    const { targetId, type, browserContextId } = attached.targetInfo;
    const parent = this.#sessions.get(parentId ?? '');
    const contextId = parentId === undefined ? browserContextId : parent?.contextId;
    // Playwright attaches a second time for single commands, and detaches from the service workers of its pages.
    const isSecond = parentId === undefined ? this.#targets.has(targetId) : type === 'service_worker';
    if (contextId === undefined || isSecond) return true;
    const session = { contextId, attached, parentId };
    if (!this.#tell(contextId, 'Target.attachedToTarget', attached, parentId)) return false;
    this.#sessions.set(attached.sessionId, session);
    this.#targets.set(targetId, session);
    return true;
  }

  #tell(contextId: string, method: string, params: object, sessionId: string | undefined): boolean {
    try {
      return this.#listeners.get(contextId)?.(method, params, sessionId) ?? true;
    } catch (cause) {
      this.#logger.error({ cause, method }, 'an event of the browser could not be handled');
      return true;
    }
  }
}

/** The types of targets that may crowd what a browser's contexts share. */
const CROWDING: Record<Crowded, ReadonlySet<string>> = {
  memory: new Set(['page', 'iframe']),
  cpu: new Set(['page', 'iframe', ...WORKER_TYPES]),
};

/**
 * Parameters of `Target.setAutoAttach` for targets of which Playwright takes no care: their workers wait at their start
 * until they are observed.
 */
export const AUTO_ATTACH = { autoAttach: true, flatten: true, waitForDebuggerOnStart: true };
