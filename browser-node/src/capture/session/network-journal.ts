import type { HopKind } from '@adsweep/shared/capture/hop.ts';
import { REQUEST_URLS_MAX } from '@adsweep/shared/limits.ts';
import type { GatewayOutcome } from '@adsweep/shared/targeting/exit-ticket.ts';
import { gatewayOutcome } from '@adsweep/shared/targeting/gateway-status.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { startedWorker } from '../../browser/cdp-messages.ts';
import { type DevTools, type EventPayload, rootOf, type TargetSession } from '../devtools/devtools.ts';
import { CONTENT_TYPE_LENGTH_MAX, HOPS_MAX } from './budgets.ts';
import { FairList } from './fair-list.ts';
import { isNeverSent } from './never-sent.ts';
import type { Tab } from './tab.ts';
import { clipUrl, hasImpossibleHost } from './urls.ts';

type Sent = EventPayload<'Network.requestWillBeSent'>;
type Response = EventPayload<'Network.responseReceived'>['response'];

/** One request as far as it is known. `timestampMs` is the Unix time in milliseconds. */
export type Entry = {
  url: string;
  method: string;
  resourceType: string;
  statusCode: number;
  contentType: string;
  bodySize: number;
  timestampMs: number;
  /** Target id of the tab it was made for, null = no tab's. */
  tab: string | null;
  /** How the tab came here, where this is a navigation of the tab itself; null for everything else. `other` for its first. */
  hop: HopKind | null;
  /** Whether an HTTP answer led here. */
  isRedirect: boolean;
  /** The request that its own answer led to, null = it led to none. */
  redirectedTo: Entry | null;
  /** The frame it was made for, '' = none. */
  frameId: string;
  /** The document that made it, by the id of its load. */
  loaderId: string;
  /** The URL of the script or document that caused it. */
  initiatorUrl: string;
  /** Chromium's name of the fault it ended with, '' = none. */
  fault: string;
  /** What the gateway said in place of the target, null where the target answered. */
  gateway: GatewayOutcome | null;
  /** Says that the response is to be kept as a file. */
  attachment: boolean;
  certificate: Response['securityDetails'] | null;
  /** It was stopped inside the browser, by us or by a policy: it never reached the network. */
  isStopped: boolean;
  /** Monotonic time at which something of its answer last came, 0 = nothing has. */
  receivedAt: number;
  /** All of its answer came. */
  isWhole: boolean;
};

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
  loaderId: '',
  initiatorUrl: '',
  fault: '',
  gateway: null,
  attachment: false,
  certificate: null,
  isStopped: false,
  receivedAt: 0,
  isWhole: false,
});

/** The last request of a chain of redirects. */
export const lastOf = (entry: Entry): Entry => (entry.redirectedTo ? lastOf(entry.redirectedTo) : entry);

/** A request whose contents can be asked for now. */
export type Finished = { entry: Entry; session: TargetSession; requestId: string };

/** The status and headers of an answer. */
type AnswerHead = { status: number; headers: Record<string, string> };

/** `apart`: the head of its answer as it was told beside the answer itself. */
type Open = { entry: Entry; startedAt: number; seen: number; extraInfo?: AnswerHead };

/** How an answer ends that the browser keeps from its page (Opaque Response Blocking, Fetch standard): a script or picture that is HTML. */
export const ORB_BLOCKED = 'net::ERR_BLOCKED_BY_ORB';

/** All network requests of the context, in order, from the protocol events of all its targets. */
export class NetworkJournal {
  /** Requests that are kept, of all sites alike, in no order where they were too many. */
  readonly #requests = new FairList<Entry>(REQUEST_URLS_MAX);
  readonly #hops: Entry[] = [];
  /** Requests beyond those that are kept. */
  dropped = 0;
  /** Requests that have ended, well or not. */
  ended = 0;
  lastActivityAt = performance.now();
  readonly #tabs: Map<string, Tab>;
  readonly #open = new Map<string, Open>();
  readonly #sockets = new Map<string, Entry>();
  /** Requests whose answer was kept back before its head was told. */
  readonly #orbBlocked = new Map<string, Entry>();
  /** URLs of document requests that we stopped and that were not written down yet. */
  readonly #stopped: string[] = [];
  readonly #finished: ((finished: Finished) => void)[] = [];
  /** Unix time in ms from which on nothing is written down, null = it still is. */
  closedAtMs: number | null = null;

  constructor(devtools: DevTools, tabs: Map<string, Tab>) {
    this.#tabs = tabs;
    devtools.on('Network.requestWillBeSent', (event, session) => this.#sent(event, session));
    devtools.on('Network.responseReceived', (event) => this.#answered(event));
    devtools.on('Network.responseReceivedExtraInfo', (event) => this.#onExtraInfo(event));
    devtools.on('Network.dataReceived', ({ requestId, dataLength }) => {
      const open = this.#open.get(requestId);
      if (!open) return;
      open.entry.bodySize += dataLength;
      open.entry.receivedAt = performance.now();
    });
    devtools.on('Network.loadingFinished', ({ requestId }, session) => this.#ended(requestId, '', session));
    devtools.on('Network.loadingFailed', (event, session) => this.#failed(event, session));
    this.#listenToSockets(devtools);
  }

  /** From now on nothing is written down. */
  close(): void {
    this.closedAtMs ??= Date.now();
  }

  onFinished(listener: (finished: Finished) => void): void {
    this.#finished.push(listener);
  }

  /** Requests under way that are younger than `ms`. */
  underWay(ms = Number.POSITIVE_INFINITY): number {
    const since = performance.now() - ms;
    let count = 0;
    for (const { startedAt } of this.#open.values()) if (startedAt > since) count += 1;
    return count;
  }

  /** Navigations of a tab's own document, in order. */
  hopsOf(targetId: string): Entry[] {
    return this.#hops.filter((entry) => entry.tab === targetId && !entry.isStopped);
  }

  /** We stop a document request for this URL: it is not part of the record. */
  stopped(url: string): void {
    const known = this.written().findLast((entry) => isUnanswered(entry) && isSameUrl(entry.url, url));
    if (known) known.isStopped = true;
    else this.#stopped.push(url);
  }

  #sent(event: Sent, session: TargetSession): void {
    const { requestId, request, redirectResponse, timestamp } = event;
    const before = this.#open.get(requestId);
    // A frame that moves to another process is reported by both.
    if (before && (before.seen === timestamp || !redirectResponse)) return;
    if (before && redirectResponse) fill(before.entry, redirectResponse);
    // A page that starts workers is not at rest, wherever their scripts are from.
    if (startedWorker(event) !== null) this.lastActivityAt = performance.now();
    const isNetwork = /^(https?|wss?):/.test(request.url);
    // An HTTP answer that leads to an app or a forbidden scheme is a hop; data: and blob: are not even requests.
    if (!isNetwork && !redirectResponse) return;
    this.lastActivityAt = performance.now();
    const entry = this.#describe(event, session, before !== undefined);
    if (before) before.entry.redirectedTo = entry;
    this.#open.set(requestId, { entry, startedAt: this.lastActivityAt, seen: timestamp });
    this.#keep(entry);
  }

  #describe(event: Sent, session: TargetSession, isRedirect: boolean): Entry {
    const root = rootOf(session);
    const tab = root.type === 'page' ? root.targetId : null;
    return {
      ...emptyEntry(clipUrl(event.request.url), event.request.method, event.wallTime * 1_000),
      resourceType: (event.type ?? 'Other').toLowerCase(),
      tab,
      hop: this.#hopKind(event, session, isRedirect),
      isRedirect,
      frameId: event.frameId ?? '',
      loaderId: event.loaderId,
      initiatorUrl: clipUrl(initiatorUrl(event.initiator)),
    };
  }

  #hopKind({ request, requestId, loaderId, frameId, type }: Sent, session: TargetSession, isRedirect: boolean) {
    const isOwn = session.type === 'page' && frameId === session.targetId && type === 'Document';
    const tab = this.#tabs.get(session.targetId);
    if (!isOwn || requestId !== loaderId || !tab) return null;
    const isFirst = tab.lastLoaderId === '';
    tab.hopped(loaderId);
    return isRedirect ? 'http' : tab.kindOf(request.url, loaderId, isFirst);
  }

  #answered({ requestId, response }: EventPayload<'Network.responseReceived'>): void {
    const open = this.#open.get(requestId);
    if (!open) return;
    fill(open.entry, response);
    open.entry.receivedAt = performance.now();
    const tab = open.entry.hop && this.#tabs.get(open.entry.tab ?? '');
    if (tab && open.entry.gateway) tab.refused = true;
  }

  /** An answer that is kept back is never received: its status is told beside it alone, before or after its end. */
  #onExtraInfo({ requestId, statusCode: status, headers }: EventPayload<'Network.responseReceivedExtraInfo'>): void {
    if (isRedirectStatus(status)) return;
    const [open, orbBlocked] = [this.#open.get(requestId), this.#orbBlocked.get(requestId)];
    if (open) open.extraInfo = { status, headers };
    else if (orbBlocked) fillHead(orbBlocked, { status, headers });
    this.#orbBlocked.delete(requestId);
  }

  #failed(event: EventPayload<'Network.loadingFailed'>, session: TargetSession): void {
    const entry = this.#open.get(event.requestId)?.entry;
    // A tab's chain tells where it was led, even where nobody was asked.
    if (entry && entry.hop === null && entry.statusCode === 0) entry.isStopped ||= isNeverSent(event);
    this.#ended(event.requestId, event.errorText, session);
  }

  #ended(requestId: string, fault: string, session: TargetSession): void {
    const open = this.#open.get(requestId);
    if (!open) return;
    this.#open.delete(requestId);
    this.ended += 1;
    this.lastActivityAt = performance.now();
    open.entry.fault = fault;
    open.entry.isWhole = fault === '';
    if (fault === ORB_BLOCKED && open.entry.statusCode === 0) {
      if (open.extraInfo) fillHead(open.entry, open.extraInfo);
      else this.#orbBlocked.set(requestId, open.entry);
    }
    if (!fault && this.closedAtMs === null)
      for (const listener of this.#finished) listener({ entry: open.entry, session, requestId });
  }

  #keep(entry: Entry): void {
    entry.isStopped = this.#isStopped(entry);
    if (this.closedAtMs === null) this.add(entry);
  }

  #isStopped(entry: Entry): boolean {
    const index = isUnanswered(entry) ? this.#stopped.findIndex((url) => isSameUrl(url, entry.url)) : -1;
    if (index >= 0) this.#stopped.splice(index, 1);
    return index >= 0;
  }

  /** Hops replace other requests: a page with many requests must not hide where it navigates. */
  add(entry: Entry): void {
    if (entry.hop && this.#hops.length < HOPS_MAX) {
      this.#hops.push(entry);
      this.dropped += this.#requests.limitTo(REQUEST_URLS_MAX - this.#hops.length);
    } else if (entry.hop || hasImpossibleHost(entry.url)) this.dropped += 1;
    else if (this.#requests.add(entry, `${entry.resourceType} ${registrableDomain(entry.url)}`)) this.dropped += 1;
  }

  /** What is kept so far, in the order of time. */
  entries(): Entry[] {
    return this.written().filter(({ isStopped }) => !isStopped);
  }

  /** The same with requests that were stopped inside the browser. */
  written(): Entry[] {
    return [...this.#hops, ...this.#requests].sort((a, b) => a.timestampMs - b.timestampMs);
  }

  #listenToSockets(devtools: DevTools): void {
    const created = (requestId: string, url: string, resourceType: string, session: TargetSession) => {
      const root = rootOf(session);
      const entry = { ...emptyEntry(clipUrl(url), 'GET', Date.now()), resourceType };
      entry.tab = root.type === 'page' ? root.targetId : null;
      this.lastActivityAt = performance.now();
      // Not among those under way: a socket stays open for as long as its page.
      this.#sockets.set(requestId, entry);
      this.#keep(entry);
    };
    devtools.on('Network.webSocketCreated', ({ requestId, url }, session) =>
      created(requestId, url, 'websocket', session),
    );
    devtools.on('Network.webTransportCreated', ({ transportId, url }, session) =>
      created(transportId, url, 'webtransport', session),
    );
    devtools.on('Network.webSocketHandshakeResponseReceived', ({ requestId, response }) => {
      const entry = this.#sockets.get(requestId);
      if (entry) entry.statusCode = response.status;
    });
  }
}

function fill(entry: Entry, response: Response): void {
  fillHead(entry, response, response.mimeType);
  const isBad = response.securityState === 'insecure' && response.securityDetails;
  entry.certificate = isBad ? response.securityDetails : null;
}

function fillHead(entry: Entry, head: AnswerHead, mimeType = ''): void {
  const headers = lowerCased(head.headers);
  entry.statusCode = head.status;
  entry.contentType = (headers['content-type'] ?? mimeType).slice(0, CONTENT_TYPE_LENGTH_MAX);
  // Through a tunnel nobody but the target can have written them.
  entry.gateway = entry.url.startsWith('http:') ? gatewayOutcome(headers) : null;
  entry.attachment = /^\s*attachment/i.test(headers['content-disposition'] ?? '');
}

const isRedirectStatus = (status: number): boolean => status >= 300 && status < 400;

const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const isUnanswered = ({ resourceType, statusCode, isStopped }: Entry): boolean =>
  resourceType === 'document' && statusCode === 0 && !isStopped;

const isSameUrl = (a: string, b: string): boolean => a.split('#')[0] === clipUrl(b).split('#')[0];

function initiatorUrl({ url, stack }: Sent['initiator']): string {
  return url ?? stack?.callFrames.find((frame) => frame.url)?.url ?? '';
}
