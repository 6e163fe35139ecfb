import type { CDPSession, Page } from 'playwright-core';

// Playwright types its protocol sessions but does not export the protocol: the types are taken from there.
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
  | `Page.${'navigatedWithinDocument' | 'loadEventFired' | 'frameAttached' | 'downloadWillBegin' | 'windowOpen'}`
  | 'Log.entryAdded';
export type EventPayload<E extends EventName> = Parameters<Parameters<typeof typed.on<E>>[1]>[0];

/** A command to the browser that has no budget of its own, in ms. */
export const COMMAND_MS = 5_000;

/**
 * Frames and workers that one capture starts. A publisher's page has up to a hundred; one that starts them without end would hold its slot
 * until its lease ends.
 */
export const CHILDREN_MAX = 250;
/** Workers among them. One holds up to 3 MB, and those that were asked for before the stop start after it. */
export const WORKERS_MAX = 100;

/** One thing that runs in the context - a tab (`page`), a frame of another site (`iframe`), a worker - and the line to it. */
export interface TargetSession {
  readonly targetId: string;
  readonly type: string;
  /** The target whose frame or worker it is; null for tabs, shared workers and service workers. */
  readonly parent: TargetSession | null;
  /** The target id of the tab that opened this one, '' = none. */
  readonly openerId: string;
  /** Rejects when the target is gone, refuses, or does not answer within `deadlineMs`. */
  send<C extends Command>(command: C, params?: CommandParams<C>, deadlineMs?: number): Promise<CommandAnswer<C>>;
  /** As `send`, for commands whose result does not matter: a target may be gone at any moment. */
  notify<C extends Command>(command: C, params?: CommandParams<C>): void;
}

type Listener<E extends EventName> = (payload: EventPayload<E>, session: TargetSession) => void;

/** A view of everything that runs in one browser context. It observes only: it never intercepts. */
export interface DevTools {
  on<E extends EventName>(event: E, listener: Listener<E>): void;
  onAttached(listener: (session: TargetSession) => void): void;
  /** Sessions of what is alive, tabs included. */
  sessions(): Iterable<TargetSession>;
  /** Whether pages started more than {@link CHILDREN_MAX} frames and workers, or {@link WORKERS_MAX} workers: targets beyond stay paused, and have no session. */
  readonly isFlooded: boolean;
  /**
   * `listener` is called once, as soon as that is so, with the target that started one too many, null: it is not known; and with the
   * bound that it is beyond.
   */
  onFlooded(listener: (by: TargetSession | null, max: number) => void): void;
  /** `listener` is called whenever the scripts of a target have written 32 MiB more that nobody reads: console lines and errors. */
  onUnreadFlood(listener: () => void): void;
  /** The session of a tab. Rejects when it does not show up in time. */
  sessionOf(page: Page): Promise<TargetSession>;
  close(): void;
}

/** Who listens to which protocol event. */
export class Listeners {
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

/** Switches on what a capture wants to hear of a target. */
export function observeTarget(session: TargetSession): void {
  // Durable messages keep the contents of frames that were navigated away; sizes as the contents that a scan keeps need them.
  session.notify('Network.enable', {
    maxTotalBufferSize: 16_000_000,
    maxResourceBufferSize: 512_000,
    enableDurableMessages: true,
  });
  if (session.type === 'page' || session.type === 'iframe') session.notify('Page.enable');
}

/** CDP's id of a tab. */
export async function targetIdOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  await session.detach();
  return targetInfo.targetId;
}
