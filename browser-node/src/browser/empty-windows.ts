import type { Attached, ProtocolFilter, ProtocolMessage } from './cdp-messages.ts';

/**
 * Whether a window with this URL keeps the empty document that it opens with: the script of a `javascript:` URL writes
 * into that one, and Chromium opens no `data:` URL outside of frames.
 */
export const staysEmpty = (url: string): boolean => /^(data|javascript):/.test(url);

/**
 * Tells Playwright of windows that keep their first document that these navigated, once a script has written it:
 * Playwright reports a window only when it navigates. One that stays as it was is never drawn, and has no screenshot.
 */
export class EmptyWindows implements ProtocolFilter {
  readonly #contextOf: (sessionId: string) => string | undefined;
  /** How many of them are about to open, by context. */
  readonly #opening = new Map<string | undefined, number>();
  /** The target ids of those that Playwright has not reported, by their sessions. */
  readonly #unreported = new Map<string, string>();

  /** `contextOf`: the id of the context of a session. */
  constructor(contextOf: (sessionId: string) => string | undefined) {
    this.#contextOf = contextOf;
  }

  incoming(message: ProtocolMessage): boolean {
    const { method, params = {}, sessionId = '' } = message;
    if (method === 'Page.windowOpen' && staysEmpty(String(params.url))) this.#count(this.#contextOf(sessionId), 1);
    else if (method === 'Target.attachedToTarget') this.#attached(params as Attached);
    else if (method === 'Target.detachedFromTarget') this.#unreported.delete(params.sessionId as string);
    else if (method === 'Page.frameNavigated') this.#unreported.delete(sessionId);
    // What a script returns is parsed anew.
    else if (method === 'Page.documentOpened' || method === 'Page.domContentEventFired') this.#shown(message);
    return true;
  }

  #attached({ sessionId, targetInfo: { targetId, type } }: Attached): void {
    const context = this.#contextOf(sessionId);
    if (type !== 'page' || !this.#opening.get(context)) return;
    this.#count(context, -1);
    this.#unreported.set(sessionId, targetId);
  }

  #count(context: string | undefined, change: 1 | -1): void {
    const count = (this.#opening.get(context) ?? 0) + change;
    if (count > 0) this.#opening.set(context, count);
    else this.#opening.delete(context);
  }

  #shown(message: ProtocolMessage): void {
    const { sessionId = '' } = message;
    const targetId = this.#unreported.get(sessionId);
    if (targetId === undefined) return;
    this.#unreported.delete(sessionId);
    // Playwright uses neither of the two events.
    message.method = 'Page.frameNavigated';
    message.params = { frame: { id: targetId, loaderId: '', url: 'about:blank', mimeType: 'text/html' } };
  }
}
