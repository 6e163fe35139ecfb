import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { COMMAND_MS } from '../budgets.ts';
import {
  type Command,
  type CommandAnswer,
  type CommandParams,
  type DevTools,
  Listeners,
  observeTarget,
  type TargetSession,
} from './devtools.ts';

/** The view of a context where there is no debugging port: Playwright's own sessions of its tabs; workers and foreign frames are missing. */
export class PageSessions implements DevTools {
  readonly #listeners = new Listeners();
  readonly #sessions = new Map<Page, Promise<TargetSession>>();
  readonly #live = new Set<TargetSession>();

  constructor(context: BrowserContext) {
    // A tab that is gone before it was attached has nothing to tell.
    context.on('page', (page) => this.sessionOf(page).catch(() => undefined));
  }

  readonly on: DevTools['on'] = (event, listener) => this.#listeners.on(event, listener);

  onAttached(listener: (session: TargetSession) => void): void {
    this.#listeners.onAttached(listener);
  }

  sessions(): Iterable<TargetSession> {
    return this.#live;
  }

  sessionOf(page: Page): Promise<TargetSession> {
    const known = this.#sessions.get(page);
    if (known) return known;
    const attaching = withDeadline(this.#attach(page), COMMAND_MS, 'the session of a tab');
    this.#sessions.set(page, attaching);
    return attaching;
  }

  close(): void {
    this.#live.clear();
  }

  async #attach(page: Page): Promise<TargetSession> {
    const line = await page.context().newCDPSession(page);
    const { targetInfo } = await line.send('Target.getTargetInfo');
    const session = new TabSession(line, targetInfo.targetId, targetInfo.openerId ?? '');
    line.on('event', ({ method, params }) => this.#listeners.emit(method, params, session));
    line.on('close', () => this.#live.delete(session));
    this.#live.add(session);
    observeTarget(session);
    this.#listeners.attached(session);
    return session;
  }
}

class TabSession implements TargetSession {
  readonly targetId: string;
  readonly type = 'page';
  readonly parent = null;
  readonly openerId: string;
  readonly #line: CDPSession;

  constructor(line: CDPSession, targetId: string, openerId: string) {
    this.#line = line;
    this.targetId = targetId;
    this.openerId = openerId;
  }

  send<C extends Command>(command: C, params?: CommandParams<C>, deadlineMs = COMMAND_MS): Promise<CommandAnswer<C>> {
    return withDeadline(this.#line.send(command, params) as Promise<CommandAnswer<C>>, deadlineMs, command);
  }

  tell<C extends Command>(command: C, params?: CommandParams<C>): void {
    this.send(command, params).catch(() => undefined);
  }
}
