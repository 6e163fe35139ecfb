import type { ProtocolFilter, ProtocolMessage } from './protocol-message.ts';

const NAVIGATIONS = new Set(['Page.navigate', 'Target.createTarget']);
/** What a tab may show; `about:` is where every tab begins. */
const ALLOWED = /^(https?|about|data|blob|javascript):/i;
// Chromium answers that it is invalid.
const INVALID_URL = 'http://';

/**
 * Refuses what is not of the web (`file:`, `chrome:`, `devtools:`, `view-source:`...) on the connection to Chromium: commands that would
 * open it, and requests for it that Chromium was about to make, which Playwright intercepts for the sake of the proxy's password.
 */
export class SchemeGuard implements ProtocolFilter {
  readonly #refused = new Set<string>();

  outgoing(message: ProtocolMessage): ProtocolMessage[] {
    const { method, params } = message;
    if (NAVIGATIONS.has(method ?? '') && !ALLOWED.test(String(params?.url)))
      return [{ ...message, params: { ...params, url: INVALID_URL } }];
    if (method === 'Fetch.continueRequest' && this.#refused.delete(keyOf(message)))
      return [
        {
          ...message,
          method: 'Fetch.failRequest',
          params: { requestId: params?.requestId, errorReason: 'BlockedByClient' },
        },
      ];
    return [message];
  }

  incoming(message: ProtocolMessage): boolean {
    if (message.method === 'Fetch.requestPaused' && !ALLOWED.test(requestedUrl(message)))
      this.#refused.add(keyOf(message));
    return true;
  }
}

const keyOf = ({ sessionId, params }: ProtocolMessage): string => `${sessionId} ${params?.requestId}`;
const requestedUrl = ({ params }: ProtocolMessage): string => String((params?.request as { url?: unknown })?.url);
