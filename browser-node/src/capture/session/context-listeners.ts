import type { BrowserContext, ConsoleMessage, Dialog, Page, Request } from 'playwright-core';

type ContextEvents = {
  close: BrowserContext;
  console: ConsoleMessage;
  dialog: Dialog;
  page: Page;
  request: Request;
};

/** Who listens to a context on behalf of one capture, which may be one of several in that context. */
export class ContextListeners {
  readonly #context: BrowserContext;
  readonly #removals: (() => void)[] = [];

  constructor(context: BrowserContext) {
    this.#context = context;
  }

  on<Name extends keyof ContextEvents>(event: Name, listener: (told: ContextEvents[Name]) => void): void {
    // Playwright declares each event by itself.
    const [name, untyped] = [event as 'page', listener as (told: Page) => void];
    this.#context.on(name, untyped);
    this.#removals.push(() => this.#context.off(name, untyped));
  }

  removeAll(): void {
    for (const remove of this.#removals.splice(0)) remove();
  }
}
