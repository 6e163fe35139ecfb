import type { CDPSession, Page } from 'playwright-core';
import type { FrameTree } from './frame-tree.ts';

// Playwright does not export the types of the protocol: they are inferred from those of its sessions.
declare const typed: CDPSession;
export type Command = Parameters<CDPSession['send']>[0];
export type CommandParams<C extends Command> = Parameters<typeof typed.send<C>>[1];
export type CommandAnswer<C extends Command> = Awaited<ReturnType<typeof typed.send<C>>>;
/** The protocol events that a capture listens to. */
export type EventName =
  | `Network.${'requestWillBeSent' | 'responseReceived' | 'responseReceivedExtraInfo' | 'dataReceived'}`
  | `Network.${'loadingFinished' | 'loadingFailed'}`
  | `Network.${'webSocketCreated' | 'webSocketHandshakeResponseReceived' | 'webTransportCreated'}`
  | `Page.${'frameRequestedNavigation' | 'frameStartedNavigating' | 'frameScheduledNavigation' | 'frameNavigated'}`
  | 'Page.frameStoppedLoading'
  | `Page.${'navigatedWithinDocument' | 'domContentEventFired' | 'loadEventFired' | 'frameAttached' | 'downloadWillBegin' | 'windowOpen'}`
  | 'Page.documentOpened'
  | 'Page.lifecycleEvent'
  | 'Page.javascriptDialogOpening'
  | 'Debugger.scriptParsed'
  | 'Media.playerPropertiesChanged'
  | 'Log.entryAdded';
export type EventPayload<E extends EventName> = Parameters<Parameters<typeof typed.on<E>>[1]>[0];

/** Deadline of a command without a budget of its own, in ms. */
export const COMMAND_MS = 5_000;

/**
 * Frames and workers that one capture starts. A publisher's page has up to a hundred; one that starts them without end
 * would hold its slot until its lease ends.
 */
export const CHILDREN_MAX = 250;
/** Workers among them. Each takes up to 3 MB, and those that were requested before the stop start after it. */
export const WORKERS_MAX = 100;

/** The CDP session of a target: a tab (`page`), a frame of another site (`iframe`) or a worker. */
export interface TargetSession {
  readonly targetId: string;
  readonly type: string;
  /** The target that the frame or worker belongs to; null for tabs, shared workers and service workers. */
  readonly parent: TargetSession | null;
  /** The target id of the tab that opened this one, '' = none. */
  readonly openerId: string;
  /** The id of the frame that opened this tab, '' = none. */
  readonly openerFrameId: string;
  /**
   * The frame that the target is (of a tab, its main frame) or, of a worker, that started it; null: a shared or service
   * worker.
   */
  readonly frameId: string | null;
  /** Its renderer has ended, and it did not load again. */
  readonly hasCrashed: boolean;
  /** Rejects when the target was closed or has crashed, returns an error, or does not answer within `deadlineMs`. */
  send<C extends Command>(command: C, params?: CommandParams<C>, deadlineMs?: number): Promise<CommandAnswer<C>>;
  /** Like `send`, for commands whose result does not matter: a target may close at any moment. */
  notify<C extends Command>(command: C, params?: CommandParams<C>): void;
}

/**
 * Stops the scripts of a tab or frame of another site, as far as they run now and later: in an endless loop too.
 * Resolves when none runs any more, or it does not answer.
 */
export async function disableScripts(document: TargetSession): Promise<void> {
  document.notify('Emulation.setScriptExecutionDisabled', { value: true });
  await document.send('Runtime.terminateExecution', undefined, COMMAND_MS).catch(() => undefined);
}

type Listener<E extends EventName> = (payload: EventPayload<E>, session: TargetSession) => void;

/** The CDP targets of one browser context. Observes only: it never intercepts. */
export interface DevTools {
  on<E extends EventName>(event: E, listener: Listener<E>): void;
  onAttached(listener: (session: TargetSession) => void): void;
  /** All frames that the context ever had. */
  readonly frames: FrameTree;
  /** The sessions of all targets that are open, including tabs. */
  sessions(): Iterable<TargetSession>;
  /**
   * Whether pages or workers flood the browser with messages, or started more than {@link CHILDREN_MAX} frames and
   * workers, or {@link WORKERS_MAX} workers: targets that start from then on stay paused, and have no session.
   */
  readonly isFlooded: boolean;
  /**
   * `listener` is called once, when the first bound of frames and workers is exceeded, with the target that started one
   * too many (null: it is not known), and that bound.
   */
  onFlooded(listener: (by: TargetSession | null, max: number) => void): void;
  /**
   * `listener` is called whenever more frames start within a few seconds than a {@link FrameBurst} may have, or the
   * context's processes leave too little memory or CPU to those of others.
   */
  onCrowding(listener: () => void): void;
  /**
   * `listener` is called whenever a target exceeds the messages that it may cause, such as those about errors or
   * requests, with that target (null: it is not known). A frame of another site leaves `isFlooded` as it is: it can be
   * stopped alone.
   */
  onMessageFlood(listener: (by: TargetSession | null) => void): void;
  /** The session of a tab. Rejects when it does not show up in time. */
  sessionOf(page: Page): Promise<TargetSession>;
  /** Ends the listeners. */
  close(): void;
}

/** The listeners of one observer. */
export class Listeners {
  readonly flooded: Parameters<DevTools['onFlooded']>[0][] = [];
  readonly crowding: (() => void)[] = [];
  readonly messageFlood: Parameters<DevTools['onMessageFlood']>[0][] = [];
  readonly #byEvent = new Map<string, Listener<EventName>[]>();
  readonly #attached: ((session: TargetSession) => void)[] = [];

  on<E extends EventName>(event: E, listener: Listener<E>): void {
    const listeners = this.#byEvent.get(event) ?? [];
    listeners.push(listener as Listener<EventName>);
    this.#byEvent.set(event, listeners);
  }

  onAttached(listener: (session: TargetSession) => void): void {
    this.#attached.push(listener);
  }

  attached(session: TargetSession): void {
    for (const listener of this.#attached) listener(session);
  }

  emit(event: string, payload: unknown, session: TargetSession): void {
    for (const listener of this.#byEvent.get(event) ?? []) listener(payload as EventPayload<EventName>, session);
  }
}

/** The tab or worker at the top of a frame or worker. */
export function rootOf(session: TargetSession): TargetSession {
  let root = session;
  while (root.parent) root = root.parent;
  return root;
}

/** Whether a target is another one, or in it. */
export function isWithin(session: TargetSession, outer: TargetSession): boolean {
  for (let at: TargetSession | null = session; at; at = at.parent) if (at === outer) return true;
  return false;
}

/** The id of the target in whose process a frame is or was; null: it is not known. */
export function targetWith(devtools: Pick<DevTools, 'frames' | 'sessions'>, frameId: string | null): string | null {
  return devtools.frames.nearest(frameId, new Set([...devtools.sessions()].map(({ targetId }) => targetId)));
}

/** CDP's id of a tab. */
export async function targetIdOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  await session.detach();
  return targetInfo.targetId;
}
