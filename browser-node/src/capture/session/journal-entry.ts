import type { HopKind } from '@adsweep/shared/capture/hop.ts';
import type { GatewayOutcome } from '@adsweep/shared/targeting/exit-ticket.ts';
import { gatewayOutcome } from '@adsweep/shared/targeting/gateway-status.ts';
import type { EventPayload } from '../devtools/devtools.ts';
import { CONTENT_TYPE_LENGTH_MAX } from './budgets.ts';

type Response = EventPayload<'Network.responseReceived'>['response'];
type Failed = Pick<EventPayload<'Network.loadingFailed'>, 'errorText' | 'blockedReason' | 'corsErrorStatus'>;

/** One request as far as it is known. `timestampMs` is the Unix time in milliseconds. */
export type Entry = {
  url: string;
  method: string;
  resourceType: string;
  statusCode: number;
  contentType: string;
  bodySize: number;
  timestampMs: number;
  /** Target id of the tab that made it, null: no tab did. */
  tab: string | null;
  /** If this is a navigation of the tab itself, how it came about; otherwise null. `other` for the tab's first. */
  hop: HopKind | null;
  /** An HTTP redirect led here. */
  isRedirect: boolean;
  /** The request that its own response redirected to, null: none. */
  redirectedTo: Entry | null;
  /** The frame that made it, '' = none. */
  frameId: string;
  /** Of a document, the fragment of its URL, '' = none, or it is longer than the URLs that captures keep. */
  fragment: string;
  /** Of a document, whether another one around its frame requested it, so far as that is in another process. */
  isFromOutside: boolean;
  /**
   * Of a document, the target in whose process it was requested, by its id; '' = the browser requested it, or it is not
   * known.
   */
  requesterId: string;
  /** The document that made it, by the id of its load. */
  loaderId: string;
  /** The URL of the script or document that caused it. */
  initiatorUrl: string;
  /**
   * The URLs of the scripts that caused it, from the innermost call to the outermost, each once; at most
   * {@link SCRIPTS_MAX}.
   */
  initiatorScripts: readonly string[];
  /** V8's id of the script whose call caused it, '' = none. */
  initiatorScriptId: string;
  /** Chromium's name of the error it ended with, '' = none. */
  fault: string;
  /** What the gateway answered in place of the target, null: the target answered. */
  gateway: GatewayOutcome | null;
  /** A service worker made it, or answered it. */
  isOfServiceWorker: boolean;
  isFromServiceWorker: boolean;
  /** Its response is that of a prefetch, which is a request of its own. */
  isFromPrefetch: boolean;
  /** The response asks to be saved as a file. */
  attachment: boolean;
  certificate: Response['securityDetails'] | null;
  /** It was stopped inside the browser, by us or by a policy: it never reached the network. */
  isStopped: boolean;
  /** Monotonic time at which a part of its response last arrived, 0 = nothing has. */
  receivedAt: number;
  /** All of its response arrived. */
  isWhole: boolean;
};

/** Scripts of one request that are kept: of more, one calls the next. */
export const SCRIPTS_MAX = 8;

export const emptyEntry = (url: string, method: string, timestampMs: number): Entry => ({
  url,
  method,
  resourceType: 'other',
  statusCode: 0,
  contentType: '',
  bodySize: 0,
  timestampMs,
  tab: null,
  hop: null,
  isRedirect: false,
  redirectedTo: null,
  frameId: '',
  fragment: '',
  isFromOutside: false,
  requesterId: '',
  loaderId: '',
  initiatorUrl: '',
  initiatorScripts: [],
  initiatorScriptId: '',
  fault: '',
  gateway: null,
  isOfServiceWorker: false,
  isFromServiceWorker: false,
  isFromPrefetch: false,
  attachment: false,
  certificate: null,
  isStopped: false,
  receivedAt: 0,
  isWhole: false,
});

/** Whether a hop was a load, and not an app that a document opened, which leaves the document where it is. */
export const isLoad = ({ loaderId }: Entry): boolean => loaderId !== '';

/** The last request of a chain of redirects. */
export const lastOf = (entry: Entry): Entry => (entry.redirectedTo ? lastOf(entry.redirectedTo) : entry);

/** Writes a response into its request's entry. */
export function fillResponse(entry: Entry, response: Response): void {
  fillHead(entry, response, response.mimeType);
  entry.isFromServiceWorker = response.fromServiceWorker === true;
  // Chromium says so of the prefetch itself too.
  entry.isFromPrefetch = response.fromPrefetchCache === true && entry.resourceType === 'document';
  const isBad = response.securityState === 'insecure' && response.securityDetails;
  entry.certificate = isBad ? response.securityDetails : null;
}

/** The status and headers of a response. */
export type ResponseHead = { status: number; headers: Record<string, string> };

/** Writes the status and headers of a response into its request's entry. */
export function fillHead(entry: Entry, head: ResponseHead, mimeType = ''): void {
  const headers = lowerCased(head.headers);
  entry.statusCode = head.status;
  entry.contentType = (headers['content-type'] ?? mimeType).slice(0, CONTENT_TYPE_LENGTH_MAX);
  // Through a tunnel only the target can have written them.
  entry.gateway = entry.url.startsWith('http:') ? gatewayOutcome(headers) : null;
  entry.attachment = /^\s*attachment/i.test(headers['content-disposition'] ?? '');
}

const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/**
 * The error of a response that the browser withholds from its page (Opaque Response Blocking, Fetch standard): a script
 * or image that is HTML.
 */
export const ORB_BLOCKED = 'net::ERR_BLOCKED_BY_ORB';

/** What a page's own policy, mixed content, credentials in the URL, or a client of the browser forbids. */
const FORBIDDEN = new Set(['csp', 'mixed-content', 'origin', 'inspector']);

/**
 * Whether a request without a response was refused inside the browser before it was sent: by a policy, for its port
 * (Fetch standard, 2.9), or because its CORS preflight, a request of its own, was not granted. A request that fails
 * because of its response was sent: a response that the page may not read (CORS, CORP, ORB) or that is not the expected
 * one (integrity). Pure.
 */
export const isNeverSent = ({ errorText, blockedReason, corsErrorStatus }: Failed): boolean =>
  FORBIDDEN.has(blockedReason ?? '') ||
  errorText === 'net::ERR_UNSAFE_PORT' ||
  /Preflight/.test(corsErrorStatus?.corsError ?? '');
