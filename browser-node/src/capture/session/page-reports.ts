import type { ConsoleMessage, Page } from 'playwright-core';
import type { ContextListeners } from './context-listeners.ts';

type Subject =
  | 'sound'
  | 'history'
  | 'unprompted-call'
  | 'timer'
  | 'fingerprint'
  | 'drawn-text'
  | 'app-navigation'
  | 'message-flood'
  | 'activation'
  | 'dialog';
/** `frameId`: CDP's id of the frame whose document reports, null = it was gone already. */
type Listener = (page: Page, fields: string[], frameId: string | null) => void;

/** Receives the reports of the page scripts about what documents do without a click, by subject. */
export class PageReports {
  readonly #token: string;
  readonly #listeners = new Map<string, Listener[]>();

  /** `token`: what the reports of the page scripts begin with. */
  constructor(listeners: ContextListeners, token: string) {
    this.#token = token;
    listeners.on('console', (message) => this.#receive(message));
  }

  on(subject: Subject, listener: Listener): void {
    this.#listeners.set(subject, [...(this.#listeners.get(subject) ?? []), listener]);
  }

  #receive(message: ConsoleMessage): void {
    const page = message.page();
    if (!page || message.type() !== 'debug') return;
    const [frameId, token, subject = '', ...fields] = message.text().split('|', 11);
    if (token !== this.#token) return;
    for (const listener of this.#listeners.get(subject) ?? []) listener(page, fields, frameId || null);
  }
}
