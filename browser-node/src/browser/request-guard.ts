import { amendedHints, type HintValues } from './client-hints.ts';
import { addedCommand, type ProtocolFilter, type ProtocolMessage, type Say } from './protocol-message.ts';

/** What a proxy's challenge is answered with. */
export type ProxyCredentials = { username: string; password: string };

/** The headers by which a device is known. */
export type DeviceHeaders = { 'User-Agent': string; 'Accept-Language': string };
/** Headers for a request that was paused in a session, undefined = the browser's own; null = it has the device's already. */
type HeadersOf = (sessionId: string | undefined, frameId: string) => DeviceHeaders | null;
type Header = { name: string; value: string };
const HINT = /^sec-ch-ua/i;

const NAVIGATIONS = new Set(['Page.navigate', 'Target.createTarget']);
/** What a tab may show; `about:` is where every tab begins. */
const ALLOWED = /^(https?|about|data|blob|javascript):/i;
// Chromium answers that it is invalid.
const INVALID_URL = 'http://';
/** The beginnings of what is not of the web and has a loader in Chromium. */
const INSIDE = ['file:', 'filesystem:', 'chrome:', 'chrome-', 'devtools:', 'view-source:', 'content:'];
/**
 * What Chromium pauses for us. It asks for a proxy's credentials only on behalf of what it may pause; the first document of a context
 * brings them, and they serve all other requests.
 */
const PAUSED = [{ urlPattern: '*', resourceType: 'Document' }, ...INSIDE.map((start) => ({ urlPattern: `${start}*` }))];

/**
 * Stands between a browser's requests and the network. It answers the proxy's challenge with the credentials of the session's context,
 * and refuses what is not of the web (`file:`, `chrome:`, `devtools:`, `view-source:`...): commands that would open it, and requests for
 * it that Chromium was about to make.
 *
 * With a proxy password, Playwright would pause every request and continue it only after the renderer has reported it. A renderer that
 * ends first leaves its last beacons paused forever: 120 of 200 in a test. So Playwright gets no password; documents continue at once, and no
 * other web request is paused, except where requests are routed. There, Playwright would grant every CORS preflight itself; we let preflights
 * through to their servers, as any other browser does.
 */
export class RequestGuard implements ProtocolFilter {
  readonly #credentialsOf: (sessionId: string) => ProxyCredentials | null;
  readonly #headersOf: HeadersOf;
  readonly #hintsOf: (sessionId: string) => HintValues | undefined;
  /** Challenges that were answered, by session: the second of the same request says that the answer was wrong. */
  readonly #answered = new Map<string, Set<unknown>>();
  /** Sessions in which somebody routes requests. */
  readonly #routed = new Set<string>();

  constructor(
    credentialsOf: (sessionId: string) => ProxyCredentials | null,
    headersOf: HeadersOf,
    hintsOf: (sessionId: string) => HintValues | undefined,
  ) {
    this.#credentialsOf = credentialsOf;
    this.#headersOf = headersOf;
    this.#hintsOf = hintsOf;
  }

  outgoing(message: ProtocolMessage): ProtocolMessage[] {
    const { method, params, sessionId = '' } = message;
    if (NAVIGATIONS.has(method ?? '') && !ALLOWED.test(String(params?.url)))
      return [{ ...message, params: { ...params, url: INVALID_URL } }];
    if (!this.#credentialsOf(sessionId)) return [message];
    switch (method) {
      case 'Network.enable':
        return [message, addedCommand(sessionId, withoutCache), addedCommand(sessionId, guarded)];
      case 'Network.setCacheDisabled':
        return [{ ...message, ...withoutCache }];
      case 'Fetch.enable':
        this.#routed.add(sessionId);
        return [message];
      case 'Fetch.disable':
        this.#routed.delete(sessionId);
        return [{ ...message, ...guarded }];
      default:
        return [message];
    }
  }

  incoming(message: ProtocolMessage, say: Say): boolean {
    switch (message.method) {
      case 'Target.detachedFromTarget':
        this.#forget(message.params?.sessionId as string);
        return true;
      case 'Fetch.authRequired':
        return this.#answer(message, say);
      case 'Fetch.requestPaused':
        return this.#decide(message, say);
      default:
        return true;
    }
  }

  #forget(sessionId: string): void {
    this.#answered.delete(sessionId);
    this.#routed.delete(sessionId);
  }

  #decide(message: ProtocolMessage, say: Say): boolean {
    const { params, sessionId } = message;
    const requestId = params?.requestId;
    if (!ALLOWED.test(requestedUrl(message)))
      say(
        addedCommand(sessionId, { method: 'Fetch.failRequest', params: { requestId, errorReason: 'BlockedByClient' } }),
      );
    else if (this.#routed.has(sessionId ?? '') && !isPreflight(message)) return true;
    else
      say(
        addedCommand(sessionId, { method: 'Fetch.continueRequest', params: { requestId, ...this.#amended(message) } }),
      );
    return false;
  }

  /** The headers of a request that Chromium makes under its own name and not under the device's. */
  #amended({ params, sessionId }: ProtocolMessage): { headers?: Header[] } {
    const { headers = {} } = (params?.request ?? {}) as { headers?: Record<string, string> };
    if (params?.resourceType === 'Document') return this.#hinted(headers, sessionId);
    const own = this.#headersOf(sessionId, String(params?.frameId));
    if (!own || headers['User-Agent'] === own['User-Agent']) return {};
    const others = Object.entries(headers).filter(([name]) => !(name in own) && !HINT.test(name));
    return { headers: [...others, ...Object.entries(own)].map(([name, value]) => ({ name, value })) };
  }

  #hinted(headers: Record<string, string>, sessionId = ''): { headers?: Header[] } {
    const hints = this.#hintsOf(sessionId);
    const amended = hints === undefined ? null : amendedHints(headers, hints);
    return amended ? { headers: amended } : {};
  }

  #answer({ params, sessionId = '' }: ProtocolMessage, say: Say): false {
    const requestId = params?.requestId;
    const isOfProxy = (params?.authChallenge as { source?: unknown } | undefined)?.source === 'Proxy';
    const answer = { requestId, authChallengeResponse: this.#responseTo(sessionId, requestId, isOfProxy) };
    say(addedCommand(sessionId, { method: 'Fetch.continueWithAuth', params: answer }));
    return false;
  }

  #responseTo(sessionId: string, requestId: unknown, isOfProxy: boolean): object {
    const credentials = isOfProxy && this.#credentialsOf(sessionId);
    if (!credentials) return { response: 'Default' };
    const answered = this.#answered.get(sessionId) ?? new Set();
    this.#answered.set(sessionId, answered);
    if (answered.delete(requestId)) return { response: 'CancelAuth' };
    answered.add(requestId);
    return { response: 'ProvideCredentials', ...credentials };
  }
}

/** Scripts are paused too: for service workers, whose scripts Chromium asks for under its own name. */
export const scriptsPaused = {
  method: 'Fetch.enable',
  params: {
    handleAuthRequests: true,
    patterns: [...PAUSED, { urlPattern: '*', resourceType: 'Script' }, { urlPattern: '*', resourceType: 'Other' }],
  },
};

/**
 * Sent in the browser's own session: the scripts of all workers, and little else, are of this type. It is the only place where the script
 * of a worker that a worker starts can be given the device's headers (Chromium 156): user-agent overrides in the starting worker's session
 * have no effect on that request, `Network.setExtraHTTPHeaders` there changes its other requests too, and `Fetch.enable` in the page's
 * session pauses only the page's own workers. Scripts of blob: URLs make no request; while they were paused, a flood of them filled the
 * renderer's memory.
 */
export const workerScriptsPaused = {
  method: 'Fetch.enable',
  params: { patterns: [{ urlPattern: 'http*', resourceType: 'Other' }] },
};

/** Every request reaches the network, where it is recorded. */
const withoutCache = { method: 'Network.setCacheDisabled', params: { cacheDisabled: true } };
const guarded = { method: 'Fetch.enable', params: { handleAuthRequests: true, patterns: PAUSED } };

/** Whether a request was paused that the browser makes to ask whether a page may make another (Fetch standard, 4.8): no page can set that header. */
function isPreflight({ params }: ProtocolMessage): boolean {
  const { method, headers = {} } = (params?.request ?? {}) as { method?: string; headers?: Record<string, string> };
  if (method !== 'OPTIONS' || params?.responseStatusCode !== undefined) return false;
  return Object.keys(headers).some((name) => name.toLowerCase() === 'access-control-request-method');
}

const requestedUrl = ({ params }: ProtocolMessage): string => String((params?.request as { url?: unknown })?.url);
