import type { BrowserContext, ConsoleMessage, Dialog, Page } from 'playwright-core';

type ContextEvents = {
  close: BrowserContext;
  console: ConsoleMessage;
  dialog: Dialog;
  page: Page;
};

/** The Playwright listeners of one session, which may be one of several in its context. */
export class ContextListeners {
  readonly #context: BrowserContext;
  readonly #removals: (() => void)[] = [];

  constructor(context: BrowserContext) {
    this.#context = context;
  }

  on<Name extends keyof ContextEvents>(event: Name, listener: (event: ContextEvents[Name]) => void): void {
    // Playwright's types declare each event separately.
    const [name, untyped] = [event as 'page', listener as (event: Page) => void];
    this.#context.on(name, untyped);
    this.#removals.push(() => this.#context.off(name, untyped));
  }

  removeAll(): void {
    for (const remove of this.#removals.splice(0)) remove();
  }
}
