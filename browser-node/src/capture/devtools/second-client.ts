import { DeadlineError, withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Page } from 'playwright-core';
import { type RawData, WebSocket } from 'ws';
import { COMMAND_MS } from '../budgets.ts';
import {
  type Command,
  type CommandAnswer,
  type CommandParams,
  type DevTools,
  Listeners,
  observeTarget,
  type TargetSession,
  targetIdOf,
} from './devtools.ts';

type Message = { id?: number; sessionId?: string; method?: string; params?: unknown; result?: unknown; error?: Fault };
type Fault = { message: string };
type Attached = { sessionId: string; targetInfo: TargetInfo };
type TargetInfo = { targetId: string; type: string; openerId?: string; browserContextId?: string };
type Pending = { resolve: (result: unknown) => void; reject: (error: Error) => void };

// Tabs of the browser's own window system are left out: they would only double the pages.
const FILTER = [
  { type: 'browser', exclude: true },
  { type: 'browser_ui', exclude: true },
  { type: 'tab', exclude: true },
  {},
];

/**
 * A second CDP client beside Playwright, over the browser's debugging port. It sees what Playwright's events leave out: shared
 * workers, requests of workers' workers, prefetches. Targets of other contexts are let go at once.
 */
export class SecondClient implements DevTools {
  readonly #socket: WebSocket;
  readonly #contextId: string;
  readonly #listeners = new Listeners();
  readonly #sessions = new Map<string, Session>();
  readonly #pending = new Map<number, Pending>();
  readonly #awaited = new Map<string, (session: TargetSession) => void>();
  #lastId = 0;

  constructor(socket: WebSocket, contextId: string) {
    this.#socket = socket;
    this.#contextId = contextId;
    socket.on('message', (bytes) => this.#receive(bytes));
    socket.on('close', () => this.#failPending());
    socket.on('error', () => this.#failPending());
  }

  /** Connects to `url` for the targets of `contextId`. */
  static async connect(url: string, contextId: string): Promise<SecondClient> {
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 256 * 1024 * 1024 });
    await withDeadline(opened(socket), COMMAND_MS, 'the connection of the second client').catch((error) => {
      socket.terminate();
      throw error;
    });
    const client = new SecondClient(socket, contextId);
    await client.command('Target.setAutoAttach', autoAttach({ paused: false }));
    return client;
  }

  readonly on: DevTools['on'] = (event, listener) => this.#listeners.on(event, listener);

  onAttached(listener: (session: TargetSession) => void): void {
    this.#listeners.onAttached(listener);
  }

  sessions(): Iterable<TargetSession> {
    return this.#sessions.values();
  }

  async sessionOf(page: Page): Promise<TargetSession> {
    const targetId = await withDeadline(targetIdOf(page), COMMAND_MS, 'the id of a tab');
    for (const session of this.#sessions.values()) if (session.targetId === targetId) return session;
    const seen = new Promise<TargetSession>((resolve) => this.#awaited.set(targetId, resolve));
    return withDeadline(seen, COMMAND_MS, 'the session of a tab');
  }

  close(): void {
    this.#socket.terminate();
  }

  command<C extends Command>(
    method: C,
    params: CommandParams<C>,
    sessionId?: string,
    deadlineMs = COMMAND_MS,
  ): Promise<CommandAnswer<C>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(id)?.reject(new DeadlineError(method, deadlineMs)), deadlineMs);
      const settled = (settle: (value: never) => void) => (value: unknown) => {
        clearTimeout(timer);
        settle(value as never);
      };
      this.#pending.set(id, { resolve: settled(resolve), reject: settled(reject) });
      if (this.#socket.readyState === WebSocket.OPEN)
        this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
      else this.#settle(id)?.reject(new Error(`${method}: the browser is gone`));
    });
  }

  #receive(bytes: RawData): void {
    const message = JSON.parse(String(bytes)) as Message;
    if (message.id !== undefined) this.#answer(message.id, message);
    else if (message.method === 'Target.attachedToTarget') this.#attach(message.params as Attached, message.sessionId);
    else if (message.method === 'Target.detachedFromTarget')
      this.#sessions.delete((message.params as Attached).sessionId);
    else {
      const session = this.#sessions.get(message.sessionId ?? '');
      if (session && message.method) this.#listeners.emit(message.method, message.params, session);
    }
  }

  #answer(id: number, { result, error }: Message): void {
    const pending = this.#settle(id);
    if (error) pending?.reject(new Error(error.message));
    else pending?.resolve(result);
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #attach({ sessionId, targetInfo }: Attached, parentId: string | undefined): void {
    if (targetInfo.browserContextId !== this.#contextId) {
      this.command('Target.detachFromTarget', { sessionId }).catch(() => undefined);
      return;
    }
    const session = new Session(this, sessionId, targetInfo, this.#sessions.get(parentId ?? '') ?? null);
    this.#sessions.set(sessionId, session);
    observeTarget(session);
    session.tell('Target.setAutoAttach', autoAttach({ paused: true }));
    if (parentId) session.tell('Runtime.runIfWaitingForDebugger');
    this.#listeners.attached(session);
    this.#awaited.get(targetInfo.targetId)?.(session);
  }

  #failPending(): void {
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(new Error('the browser is gone'));
  }
}

class Session implements TargetSession {
  readonly targetId: string;
  readonly type: string;
  readonly openerId: string;
  readonly parent: TargetSession | null;
  readonly #client: SecondClient;
  readonly #id: string;

  constructor(client: SecondClient, id: string, info: TargetInfo, parent: TargetSession | null) {
    this.#client = client;
    this.#id = id;
    this.targetId = info.targetId;
    this.type = info.type;
    this.openerId = info.openerId ?? '';
    this.parent = parent;
  }

  send<C extends Command>(command: C, params?: CommandParams<C>, deadlineMs?: number): Promise<CommandAnswer<C>> {
    return this.#client.command(command, params, this.#id, deadlineMs);
  }

  tell<C extends Command>(command: C, params?: CommandParams<C>): void {
    this.send(command, params).catch(() => undefined);
  }
}

/**
 * Frames and workers wait at their start until they are observed: without it, half of the frames that move on at once had no contents.
 * Playwright makes them wait too, and neither lets go for the other. Tabs never wait for us: Playwright then misses their first requests.
 */
const autoAttach = ({ paused }: { paused: boolean }) => ({
  autoAttach: true,
  flatten: true,
  waitForDebuggerOnStart: paused,
  filter: FILTER,
});

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
}
