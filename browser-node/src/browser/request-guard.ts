import { type Attached, addedCommand, type ProtocolFilter, type ProtocolMessage, type Send } from './cdp-messages.ts';
import { amendedHints, type HintValues } from './client-hints.ts';

/** The credentials for a proxy's challenge. */
export type ProxyCredentials = { username: string; password: string };

/** The headers that identify a device. */
export type DeviceHeaders = { 'User-Agent': string; 'Accept-Language': string };
/**
 * Headers for a request that was paused in a session (undefined: the browser's own session); null = it has the device's
 * headers already.
 */
type HeadersOf = (sessionId: string | undefined, frameId: string) => DeviceHeaders | null;
type Header = { name: string; value: string };
const HINT = /^sec-ch-ua/i;

const NAVIGATIONS = new Set(['Page.navigate', 'Target.createTarget']);
/** URLs that a tab may open; every tab starts at an `about:` URL. */
export const ALLOWED = /^(https?|about|data|blob|javascript):/i;
// Chromium rejects it as invalid.
const INVALID_URL = 'http://';
/** Schemes and prefixes of URLs that Chromium can load and that are not of the web. */
export const INSIDE = ['file:', 'filesystem:', 'chrome:', 'chrome-', 'devtools:', 'view-source:', 'content:'];
/**
 * The requests that Chromium pauses for us. It asks for a proxy's credentials only for requests of these patterns;
 * those of a context's first document are then used for all its other requests.
 */
const PAUSED = [{ urlPattern: '*', resourceType: 'Document' }, ...INSIDE.map((start) => ({ urlPattern: `${start}*` }))];

/**
 * Controls a browser's requests before they reach the network. It answers the proxy's challenge with the credentials of
 * the session's context, and refuses URLs that are not of the web (`file:`, `chrome:`, `devtools:`, `view-source:`...),
 * in commands and in requests.
 *
 * With a proxy password, Playwright would pause every request and continue it only after the renderer has reported it.
 * When a renderer ends before that, its last beacons stay paused forever: 120 of 200 in a test. So Playwright gets no
 * password; documents continue at once, and no other web request is paused, except where requests are routed. There,
 * Playwright would answer every CORS preflight itself; we send preflights to their servers, as any other browser does.
 */
export class RequestGuard implements ProtocolFilter {
  readonly #credentialsOf: (sessionId: string) => ProxyCredentials | null;
  readonly #headersOf: HeadersOf;
  readonly #hintsOf: (sessionId: string) => HintValues | undefined;
  readonly #lineOf: (sessionId: string) => string[];
  /**
   * Challenges that were answered, by session: a second challenge for the same request means that the credentials were
   * wrong.
   */
  readonly #answered = new Map<string, Set<unknown>>();
  /** Sessions in which Playwright routes requests. */
  readonly #routed = new Set<string>();
  /** Contexts whose new tabs load no page, and the sessions of the tabs that load none. */
  readonly #stopped = { contexts: new Set<string>(), tabs: new Set<string>() };

  /** `lineOf`: a session and those around it, its tab's last. */
  constructor(
    credentialsOf: (sessionId: string) => ProxyCredentials | null,
    headersOf: HeadersOf,
    hintsOf: (sessionId: string) => HintValues | undefined,
    lineOf: (sessionId: string) => string[],
  ) {
    this.#credentialsOf = credentialsOf;
    this.#headersOf = headersOf;
    this.#hintsOf = hintsOf;
    this.#lineOf = lineOf;
  }

  /** Whether Playwright routes requests in a session. */
  isRouted(sessionId: string): boolean {
    return this.#routed.has(sessionId);
  }

  /** Whether tabs that open in a context from now on may load pages; at first they may. */
  letNewTabsLoad(contextId: string, mayLoad: boolean): void {
    if (mayLoad) this.#stopped.contexts.delete(contextId);
    else this.#stopped.contexts.add(contextId);
  }

  /** From now on a tab, by its session, loads no page, nor do its frames. */
  stopLoads(sessionId: string): void {
    this.#stopped.tabs.add(sessionId);
  }

  outgoing(message: ProtocolMessage): ProtocolMessage[] {
    const { method, params, sessionId = '' } = message;
    if (NAVIGATIONS.has(method ?? '') && !ALLOWED.test(String(params?.url)))
      return [{ ...message, params: { ...params, url: INVALID_URL } }];
    if (!this.#credentialsOf(sessionId)) return [message];
    switch (method) {
      case 'Network.enable':
        return [message, addedCommand(sessionId, disableCache), addedCommand(sessionId, guardRequests)];
      case 'Network.setCacheDisabled':
        return [{ ...message, ...disableCache }];
      case 'Fetch.enable':
        this.#routed.add(sessionId);
        return [message];
      case 'Fetch.disable':
        this.#routed.delete(sessionId);
        return [{ ...message, ...guardRequests }];
      default:
        return [message];
    }
  }

  incoming(message: ProtocolMessage, send: Send): boolean {
    switch (message.method) {
      case 'Target.attachedToTarget':
        this.#attached(message.params as Attached);
        return true;
      case 'Target.detachedFromTarget':
        this.#forget(message.params?.sessionId as string);
        return true;
      case 'Fetch.authRequired':
        return this.#answer(message, send);
      case 'Fetch.requestPaused':
        return this.#decide(message, send);
      default:
        return true;
    }
  }

  #attached({ sessionId, targetInfo: { type, browserContextId = '' } }: Attached): void {
    if (type === 'page' && this.#stopped.contexts.has(browserContextId)) this.#stopped.tabs.add(sessionId);
  }

  #forget(sessionId: string): void {
    this.#answered.delete(sessionId);
    this.#routed.delete(sessionId);
    this.#stopped.tabs.delete(sessionId);
  }

  #decide(message: ProtocolMessage, send: Send): boolean {
    const { params, sessionId } = message;
    const requestId = params?.requestId;
    const fail = (errorReason: string) =>
      send(addedCommand(sessionId, { method: 'Fetch.failRequest', params: { requestId, errorReason } }));
    if (!ALLOWED.test(requestedUrl(message))) fail('BlockedByClient');
    // With any other reason, Chromium shows an error page.
    else if (params?.resourceType === 'Document' && this.#isStopped(sessionId)) fail('Aborted');
    else if (this.#routed.has(sessionId ?? '') && !isPreflight(message)) return true;
    else
      send(
        addedCommand(sessionId, { method: 'Fetch.continueRequest', params: { requestId, ...this.#amended(message) } }),
      );
    return false;
  }

  #isStopped(sessionId = ''): boolean {
    return this.#stopped.tabs.size > 0 && this.#lineOf(sessionId).some((id) => this.#stopped.tabs.has(id));
  }

  /** Corrected headers for a request that Chromium makes with its own user agent instead of the device's. */
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

  #answer({ params, sessionId = '' }: ProtocolMessage, send: Send): false {
    const requestId = params?.requestId;
    const isOfProxy = (params?.authChallenge as { source?: unknown } | undefined)?.source === 'Proxy';
    const answer = { requestId, authChallengeResponse: this.#responseTo(sessionId, requestId, isOfProxy) };
    send(addedCommand(sessionId, { method: 'Fetch.continueWithAuth', params: answer }));
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

/** Pauses scripts too: for service workers, whose scripts Chromium requests with its own user agent. */
export const pauseScripts = {
  method: 'Fetch.enable',
  params: {
    handleAuthRequests: true,
    patterns: [...PAUSED, { urlPattern: '*', resourceType: 'Script' }, { urlPattern: '*', resourceType: 'Other' }],
  },
};

/**
 * Sent in the browser's own session: the scripts of all workers, and little else, are of this type. Only here can the
 * script of a nested worker get the device's headers (Chromium 156): user-agent overrides in the starting worker's
 * session have no effect on that request, `Network.setExtraHTTPHeaders` there changes its other requests too, and
 * `Fetch.enable` in the page's session pauses only the page's own workers. Scripts of blob: URLs make no request; while
 * they were paused, a flood of them filled the renderer's memory.
 */
export const pauseWorkerScripts = {
  method: 'Fetch.enable',
  params: { patterns: [{ urlPattern: 'http*', resourceType: 'Other' }] },
};

/** Without cache every request reaches the network, where it is recorded. */
const disableCache = { method: 'Network.setCacheDisabled', params: { cacheDisabled: true } };
const guardRequests = { method: 'Fetch.enable', params: { handleAuthRequests: true, patterns: PAUSED } };

/** Whether a paused request is a CORS preflight (Fetch standard, 4.8): pages cannot set its header. */
function isPreflight({ params }: ProtocolMessage): boolean {
  const { method, headers = {} } = (params?.request ?? {}) as { method?: string; headers?: Record<string, string> };
  if (method !== 'OPTIONS' || params?.responseStatusCode !== undefined) return false;
  return Object.keys(headers).some((name) => name.toLowerCase() === 'access-control-request-method');
}

const requestedUrl = ({ params }: ProtocolMessage): string => String((params?.request as { url?: unknown })?.url);
