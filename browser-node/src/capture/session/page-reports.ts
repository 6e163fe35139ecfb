import { randomBytes } from 'node:crypto';
import type { ConsoleMessage, Disposable, Page } from 'playwright-core';
import type { OpenContext } from '../../browser/open-context.ts';
import { observationScript } from '../page-scripts/observation-script.ts';
import type { ContextListeners } from './context-listeners.ts';

type Subject = 'sound' | 'history' | 'unprompted-call' | 'timer' | 'fingerprint' | 'app-navigation';
/** `frameId`: CDP's id of the frame whose document reports, null = it was gone already. */
type Listener = (page: Page, fields: string[], frameId: string | null) => void;

/** Receives the reports of the page scripts about what documents do without a click, by subject. */
export class PageReports {
  readonly #open: Pick<OpenContext, 'context' | 'reportBy'>;
  readonly #token = randomBytes(8).toString('hex');
  #script: Disposable | null = null;
  readonly #listeners = new Map<string, Listener>();

  constructor(open: Pick<OpenContext, 'context' | 'reportBy'>, listeners: ContextListeners) {
    this.#open = open;
    listeners.on('console', (message) => this.#receive(message));
  }

  /** Installs the page scripts in the context, in which nothing was opened yet. Rejects when the browser is gone. */
  async start(): Promise<void> {
    const { context, reportBy } = this.#open;
    this.#script = await context.addInitScript({ content: observationScript(this.#token, reportBy) });
  }

  /** Removes the page scripts: new documents run without them. Never throws. */
  async stop(): Promise<void> {
    await this.#script?.dispose().catch(() => undefined);
  }

  on(subject: Subject, listener: Listener): void {
    this.#listeners.set(subject, listener);
  }

  #receive(message: ConsoleMessage): void {
    const page = message.page();
    if (!page || message.type() !== 'debug') return;
    const [frameId, token, subject = '', ...fields] = message.text().split('|', 11);
    if (token === this.#token) this.#listeners.get(subject)?.(page, fields, frameId || null);
  }
}
