import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Page } from 'playwright-core';
import { startedWorker } from '../../browser/cdp-messages.ts';
import {
  AUTO_ATTACH,
  type ContextObservation,
  CROWDED,
  MESSAGE_FLOOD,
  NETWORK_BUFFERS,
} from '../../browser/context-observers.ts';
import type { OpenContext } from '../../browser/open-context.ts';
import {
  CHILDREN_MAX,
  COMMAND_MS,
  type Command,
  type CommandAnswer,
  type CommandParams,
  type DevTools,
  type EventPayload,
  Listeners,
  rootOf,
  type TargetSession,
  targetIdOf,
  WORKERS_MAX,
} from './devtools.ts';
import { FrameBurst } from './frame-burst.ts';
import { FrameTree } from './frame-tree.ts';

type Attached = { sessionId: string; targetInfo: TargetInfo };
type TargetInfo = {
  targetId: string;
  type: string;
  openerId?: string;
  openerFrameId?: string;
  parentFrameId?: string;
};
/** A frame or worker, by the target id that it has or would have. */
type Child = { targetId: string; isWorker: boolean };

/**
 * The CDP targets of one context, in the sessions that Playwright has with them. It sees what Playwright's own events
 * leave out: shared workers, requests of nested workers, prefetches. Its own listeners last as long as it does; those
 * of {@link observer} until that one is closed.
 */
export class ContextTargets implements DevTools {
  readonly frames = new FrameTree();
  readonly #observation: ContextObservation;
  readonly #listeners = new Listeners();
  /** The listeners of all that observe now, its own first. */
  readonly #observers = new Set([this.#listeners]);
  readonly #sessions = new Map<string, Session>();
  /** All tabs that were ever attached. */
  readonly #tabs: TargetSession[] = [];
  readonly #awaited = new Map<string, (session: TargetSession) => void>();
  /** Target ids of all frames and workers that were requested, including closed ones. */
  readonly #children = new Set<string>();
  readonly #workers = new Set<string>();
  #hasMessageFlood = false;
  #burst = new FrameBurst();

  constructor({ observe }: Pick<OpenContext, 'observe'>) {
    this.#observation = observe((method, params, sessionId) => this.#receive(method, params, sessionId));
  }

  /** Begins to observe a context. */
  static connect(open: Pick<OpenContext, 'observe'>): ContextTargets {
    const client = new ContextTargets(open);
    client.#observation.begin();
    return client;
  }

  /**
   * The same targets for one of several observers that follow one another: floods are counted anew, and `close` ends no
   * more than its listeners.
   */
  observer(): DevTools {
    this.#children.clear();
    this.#workers.clear();
    this.#hasMessageFlood = false;
    this.#burst = new FrameBurst();
    const listeners = new Listeners();
    this.#observers.add(listeners);
    const client = this;
    return {
      on: (event, listener) => listeners.on(event, listener),
      onAttached: (listener) => listeners.onAttached(listener),
      sessions: () => client.sessions(),
      frames: this.frames,
      get isFlooded() {
        return client.isFlooded;
      },
      onFlooded: (listener) => void listeners.flooded.push(listener),
      onCrowding: (listener) => void listeners.crowding.push(listener),
      onMessageFlood: (listener) => void listeners.messageFlood.push(listener),
      sessionOf: (page) => client.sessionOf(page),
      close: () => void this.#observers.delete(listeners),
    };
  }

  readonly on: DevTools['on'] = (event, listener) => this.#listeners.on(event, listener);

  onAttached(listener: (session: TargetSession) => void): void {
    this.#listeners.onAttached(listener);
  }

  sessions(): Iterable<TargetSession> {
    return this.#sessions.values();
  }

  get isFlooded(): boolean {
    return this.#hasMessageFlood || this.#children.size > CHILDREN_MAX || this.#workers.size > WORKERS_MAX;
  }

  onFlooded(listener: Parameters<DevTools['onFlooded']>[0]): void {
    this.#listeners.flooded.push(listener);
  }

  onCrowding(listener: () => void): void {
    this.#listeners.crowding.push(listener);
  }

  onMessageFlood(listener: Parameters<DevTools['onMessageFlood']>[0]): void {
    this.#listeners.messageFlood.push(listener);
  }

  async sessionOf(page: Page): Promise<TargetSession> {
    const only = this.#onlyTab(page);
    if (only) return only;
    const targetId = await withDeadline(targetIdOf(page), COMMAND_MS, 'the id of a tab');
    for (const session of this.#sessions.values()) if (session.targetId === targetId) return session;
    const seen = new Promise<TargetSession>((resolve) => this.#awaited.set(targetId, resolve));
    return withDeadline(seen, COMMAND_MS, 'the session of a tab');
  }

  close(): void {
    this.#observation.close();
  }

  /** The session of a page if there was only ever one tab: looking up the page's id would take a session of its own. */
  #onlyTab(page: Page): TargetSession | null {
    const [only = null] = this.#tabs;
    return this.#tabs.length === 1 && page.context().pages().length === 1 ? only : null;
  }

  command<C extends Command>(
    method: C,
    params: CommandParams<C>,
    sessionId: string,
    deadlineMs = COMMAND_MS,
  ): Promise<CommandAnswer<C>> {
    const answer: Promise<unknown> = this.#observation.command(method, params, deadlineMs, sessionId);
    return answer as Promise<CommandAnswer<C>>;
  }

  #receive(method: string, params: unknown, sessionId: string | undefined): boolean {
    if (method === 'Target.attachedToTarget') return this.#attach(params as Attached, sessionId);
    if (method === 'Target.detachedFromTarget') this.#sessions.delete((params as Attached).sessionId);
    else if (method === CROWDED) this.#tellOfCrowding();
    else if (method === MESSAGE_FLOOD) this.#messagesFlooded((params as { targetId: string }).targetId);
    else {
      const session = this.#sessions.get(sessionId ?? '');
      if (!session) return true;
      const child = childOf(method, params);
      if (child) this.#countChild(child, session);
      if (method === 'Page.frameAttached') this.#addFrame(params as EventPayload<'Page.frameAttached'>);
      if (method === 'Network.requestWillBeSent') this.#request(params as EventPayload<'Network.requestWillBeSent'>);
      if (method === 'Inspector.targetCrashed') session.hasCrashed = true;
      if (method === 'Inspector.targetReloadedAfterCrash') session.hasCrashed = false;
      for (const listeners of this.#observers) listeners.emit(method, params, session);
    }
    return true;
  }

  #addFrame({ frameId, parentFrameId }: EventPayload<'Page.frameAttached'>): void {
    this.frames.add(frameId, parentFrameId);
    if (this.#burst.started(performance.now())) this.#tellOfCrowding();
  }

  #request({ type, frameId, requestId, request }: EventPayload<'Network.requestWillBeSent'>): void {
    // A tab that navigates over and over is stopped as a loop.
    if (type !== 'Document' || frameId === undefined || frameId === this.#tabs[0]?.frameId) return;
    if (this.#burst.requested(requestId, frameId, request.url, performance.now())) this.#tellOfCrowding();
  }

  #tellOfCrowding(): void {
    for (const { crowding } of this.#observers) for (const listener of crowding) listener();
  }

  #messagesFlooded(targetId: string): void {
    const by = [...this.#sessions.values()].find((session) => session.targetId === targetId) ?? null;
    if (by?.type !== 'iframe') this.#hasMessageFlood = true;
    for (const { messageFlood } of this.#observers) for (const listener of messageFlood) listener(by);
  }

  #countChild({ targetId, isWorker }: Child, parent: TargetSession | null): void {
    if (this.isFlooded) return;
    this.#children.add(targetId);
    if (isWorker) this.#workers.add(targetId);
    if (!this.isFlooded) return;
    for (const { flooded } of this.#observers)
      for (const listener of flooded) listener(parent, isWorker ? WORKERS_MAX : CHILDREN_MAX);
  }

  #attach({ sessionId, targetInfo }: Attached, parentId: string | undefined): boolean {
    const parent = this.#sessions.get(parentId ?? '') ?? null;
    if (targetInfo.type !== 'page') {
      this.#countChild({ targetId: targetInfo.targetId, isWorker: targetInfo.type !== 'iframe' }, parent);
      // It stays paused at its start, so that it starts nothing more and sends no further message.
      if (this.isFlooded) return false;
    }
    const session = new Session(this, sessionId, targetInfo, parent);
    if (session.type === 'iframe')
      this.frames.add(session.targetId, targetInfo.parentFrameId ?? parent?.targetId ?? '');
    if (targetInfo.type === 'page') this.#tabs.push(session);
    this.#sessions.set(sessionId, session);
    this.#observe(session);
    for (const listeners of this.#observers) listeners.attached(session);
    this.#awaited.get(targetInfo.targetId)?.(session);
    return true;
  }

  /**
   * Playwright observes and resumes tabs with their frames and workers, and of shared workers and service workers only
   * resumes these.
   */
  #observe(session: Session): void {
    if (!UNATTENDED.has(rootOf(session).type)) return;
    session.notify('Network.enable', NETWORK_BUFFERS);
    session.notify('Target.setAutoAttach', AUTO_ATTACH);
    if (session.parent) session.notify('Runtime.runIfWaitingForDebugger');
  }
}

const UNATTENDED = new Set(['shared_worker', 'service_worker']);

/**
 * The frame or worker that an event reports as requested, null: none. Under a flood it takes seconds from here until a
 * worker's target is attached, and frames of the same site are no targets at all.
 */
function childOf(method: string, params: unknown): Child | null {
  if (method === 'Page.frameAttached')
    return { targetId: (params as EventPayload<'Page.frameAttached'>).frameId, isWorker: false };
  if (method !== 'Network.requestWillBeSent') return null;
  const targetId = startedWorker(params as EventPayload<'Network.requestWillBeSent'>);
  return targetId === null ? null : { targetId, isWorker: true };
}

class Session implements TargetSession {
  readonly targetId: string;
  readonly type: string;
  readonly openerId: string;
  readonly openerFrameId: string;
  readonly frameId: string | null;
  readonly parent: TargetSession | null;
  /** Until it loads again, Chromium answers none of its commands. */
  hasCrashed = false;
  readonly #client: ContextTargets;
  readonly #id: string;

  constructor(client: ContextTargets, id: string, info: TargetInfo, parent: TargetSession | null) {
    this.#client = client;
    this.#id = id;
    this.targetId = info.targetId;
    this.type = info.type;
    this.openerId = info.openerId ?? '';
    this.openerFrameId = info.openerFrameId ?? '';
    const isFrame = info.type === 'page' || info.type === 'iframe';
    this.frameId = isFrame ? info.targetId : (info.parentFrameId ?? parent?.frameId ?? null);
    this.parent = parent;
  }

  send<C extends Command>(command: C, params?: CommandParams<C>, deadlineMs?: number): Promise<CommandAnswer<C>> {
    if (this.hasCrashed) return Promise.reject(new Error(`${command}: the renderer crashed`));
    return this.#client.command(command, params, this.#id, deadlineMs);
  }

  notify<C extends Command>(command: C, params?: CommandParams<C>): void {
    this.send(command, params).catch(() => undefined);
  }
}
