import { CAPTURE_URL_LENGTH_MAX, REQUEST_URLS_MAX } from '@adsweep/shared/limits.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { startedWorker } from '../../browser/cdp-messages.ts';
import { type DevTools, type EventPayload, isWithin, rootOf, type TargetSession } from '../devtools/devtools.ts';
import { HOPS_MAX } from './budgets.ts';
import { FairList } from './fair-list.ts';
import {
  type Entry,
  emptyEntry,
  fillHead,
  fillResponse,
  isNeverSent,
  lastOf,
  ORB_BLOCKED,
  type ResponseHead,
  SCRIPTS_MAX,
} from './journal-entry.ts';
import { Polls } from './polls.ts';
import type { Tab } from './tab.ts';
import { clipUrl, hasImpossibleHost, isOfBrowser, withoutFragment } from './urls.ts';

type Sent = EventPayload<'Network.requestWillBeSent'>;

/** A request whose response body can be fetched now. */
export type Finished = { entry: Entry; session: TargetSession; requestId: string };

/** `seen`: the event's own time; `extraInfo`: status and headers from responseReceivedExtraInfo. */
type Open = { entry: Entry; startedAt: number; seen: number; isPoll: boolean; extraInfo?: ResponseHead };

/** The kinds without which a page does not do all that it will. */
const CODE_KINDS = new Set(['document', 'script', 'stylesheet']);

/** All network requests of a context, from the CDP events of all its targets. */
export class NetworkJournal {
  /** The requests that are kept, shared among sites; unordered once some were dropped. */
  readonly #requests = new FairList<Entry>(REQUEST_URLS_MAX);
  readonly #hops: Entry[] = [];
  /** How many requests were dropped. */
  dropped = 0;
  /** How many requests have ended, with or without an error. */
  ended = 0;
  lastActivityAt = performance.now();
  /** The same without requests that are polling. */
  lastLoadingAt = performance.now();
  readonly #polls = new Polls();
  readonly #tabs: Map<string, Tab>;
  readonly #admits: (entry: Entry) => boolean;
  #isOthers: (entry: Entry) => boolean = () => false;
  readonly #open = new Map<string, Open>();
  readonly #sockets = new Map<string, Entry>();
  /** ORB-blocked requests whose extra info has not arrived yet. */
  readonly #orbBlocked = new Map<string, Entry>();
  /**
   * The target that requested the last navigation of a frame or tab with a target of its own, by the id of that one.
   */
  readonly #requesters = new Map<string, TargetSession>();
  /** URLs of document requests that we stopped and that no event has reported yet. */
  readonly #stopped: string[] = [];
  readonly #finished: ((finished: Finished) => void)[] = [];
  /** Unix time in ms at which the record was closed, null: it is open. */
  closedAtMs: number | null = null;

  /** `admits`: whether a request belongs to the record. */
  constructor(devtools: DevTools, tabs: Map<string, Tab>, admits: (entry: Entry) => boolean = () => true) {
    this.#tabs = tabs;
    this.#admits = admits;
    devtools.on('Page.frameRequestedNavigation', ({ frameId }, requester) => {
      if ([...devtools.sessions()].some(({ targetId }) => targetId === frameId))
        this.#requesters.set(frameId, requester);
    });
    devtools.on('Network.requestWillBeSent', (event, session) => this.#sent(event, session));
    devtools.on('Network.responseReceived', (event) => this.#onResponse(event));
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

  /** Whether a request that another source saw belongs to the record. */
  admits(entry: Entry): boolean {
    return this.#admits(entry);
  }

  /** Closes the record: later requests are not added. */
  close(): void {
    this.closedAtMs ??= Date.now();
  }

  onFinished(listener: (finished: Finished) => void): void {
    this.#finished.push(listener);
  }

  /** How many requests younger than `ms` are pending, those that are polling included if `countsPolls`. */
  underWay(ms = Number.POSITIVE_INFINITY, countsPolls = true): number {
    const since = performance.now() - ms;
    let count = 0;
    for (const { startedAt, isPoll } of this.#open.values())
      if (startedAt > since && (countsPolls || !isPoll)) count += 1;
    return count;
  }

  /** How many requests younger than `ms` have no response yet. */
  unanswered(ms: number): number {
    const since = performance.now() - ms;
    let count = 0;
    for (const { startedAt, entry } of this.#open.values()) if (startedAt > since && entry.statusCode === 0) count += 1;
    return count;
  }

  /** Whether a document, script or style sheet is pending, for however long. */
  get awaitsCode(): boolean {
    return this.#open.values().some(({ entry }) => CODE_KINDS.has(entry.resourceType));
  }

  /** Navigations of a tab's own document, in order. */
  hopsOf(targetId: string): Entry[] {
    return this.#hops.filter((entry) => entry.tab === targetId && this.#isSent(entry));
  }

  /** Leaves a document request for this URL, which we stop, out of the record. */
  stopped(url: string): void {
    const known = this.#lastFor(url, isUnanswered);
    if (known) known.isStopped = true;
    else this.#stopped.push(url);
  }

  /** The last document request for this URL that has no response; undefined: none is in the record. */
  unansweredDocument(url: string): Entry | undefined {
    return this.#lastFor(url, ({ resourceType, statusCode }) => resourceType === 'document' && statusCode === 0);
  }

  /** The last request for a URL that `isMeant`. Called for each document request: the record is not sorted for it. */
  #lastFor(url: string, isMeant: (entry: Entry) => boolean): Entry | undefined {
    const isFor = isSameUrl(url);
    let last: Entry | undefined;
    for (const requests of [this.#hops, this.#requests])
      for (const entry of requests)
        if ((!last || entry.timestampMs >= last.timestampMs) && isMeant(entry) && isFor(entry.url)) last = entry;
    return last;
  }

  /** Records an app as where a tab was to go, by its target id, for a navigation that was cancelled where it began. */
  openedApp(url: string, tab: string): void {
    const hop = this.#tabs.get(tab)?.openedApp(clipUrl(url));
    if (!hop) return;
    const entry = { ...emptyEntry(clipUrl(url), 'GET', Date.now()), resourceType: 'document', tab, hop, frameId: tab };
    if (this.#admits(entry)) this.#keep(entry);
  }

  #sent(event: Sent, session: TargetSession): void {
    const { requestId, request, redirectResponse, timestamp } = event;
    const before = this.#open.get(requestId);
    // Both processes report a frame that moves from one to the other.
    if (before && (before.seen === timestamp || !redirectResponse)) return;
    const url = clipUrl(urlOf(request));
    if (before?.entry.hop === null && redirectResponse && isUpgrade(before.entry.url, url, redirectResponse)) {
      before.entry.url = url;
      return;
    }
    if (before && redirectResponse) fillResponse(before.entry, redirectResponse);
    // A page that starts workers has not settled, whatever the origin of their scripts.
    if (startedWorker(event) !== null) this.#active(false);
    const isNetwork = /^(https?|wss?):/.test(request.url);
    // An HTTP redirect to an app or a forbidden scheme is a hop, and so is what a window opens with; data: and blob:
    // are not requests at all.
    if (!isNetwork && !redirectResponse && !this.#opensApp(event, session)) return;
    const entry = this.#describe(event, session, before !== undefined);
    if (!before && !this.#admits(entry)) return;
    const isPoll = this.#polls.add(entry);
    this.#active(isPoll);
    if (before) before.entry.redirectedTo = entry;
    this.#open.set(requestId, { entry, startedAt: this.lastActivityAt, seen: timestamp, isPoll });
    this.#keep(entry);
  }

  #active(isPoll: boolean): void {
    this.lastActivityAt = performance.now();
    if (!isPoll) this.lastLoadingAt = this.lastActivityAt;
  }

  /** Chromium reports a requested navigation in the process that requests it, and the request in that of the frame. */
  #requesterOf({ frameId = '', type }: Sent, session: TargetSession): TargetSession | null {
    if (type !== 'Document') return null;
    const requester = this.#requesters.get(frameId) ?? null;
    this.#requesters.delete(frameId);
    return session.targetId === frameId ? requester : null;
  }

  #opensApp({ request, frameId, type }: Sent, { targetId, type: kind }: TargetSession): boolean {
    const isOwn = kind === 'page' && frameId === targetId && type === 'Document';
    return isOwn && !isOfBrowser(request.url) && this.#tabs.get(targetId)?.hops === 0;
  }

  #describe(event: Sent, session: TargetSession, isRedirect: boolean): Entry {
    const root = rootOf(session);
    const requester = this.#requesterOf(event, session);
    const tab = root.type === 'page' ? root.targetId : null;
    return {
      ...emptyEntry(clipUrl(urlOf(event.request)), event.request.method, event.wallTime * 1_000),
      resourceType: (event.type ?? 'Other').toLowerCase(),
      tab,
      hop: this.#hopKind(event, session, isRedirect),
      isRedirect,
      frameId: event.frameId ?? '',
      fragment: fragmentOf(event),
      isFromOutside: requester !== null && !isWithin(requester, session),
      requesterId: requester?.targetId ?? '',
      loaderId: event.loaderId,
      isOfServiceWorker: session.type === 'service_worker',
      initiatorUrl: clipUrl(initiatorUrl(event.initiator)),
      initiatorScripts: initiatorScripts(event.initiator.stack),
      initiatorScriptId: event.initiator.stack?.callFrames[0]?.scriptId ?? '',
    };
  }

  #hopKind({ request, requestId, loaderId, frameId, type }: Sent, session: TargetSession, isRedirect: boolean) {
    const isOwn = session.type === 'page' && frameId === session.targetId && type === 'Document';
    const tab = this.#tabs.get(session.targetId);
    if (!isOwn || requestId !== loaderId || !tab) return null;
    const isFirst = tab.hops === 0;
    tab.hopped(loaderId);
    return isRedirect ? 'http' : tab.kindOf(request.url, loaderId, isFirst);
  }

  #onResponse({ requestId, response }: EventPayload<'Network.responseReceived'>): void {
    const open = this.#open.get(requestId);
    if (!open) return;
    fillResponse(open.entry, response);
    open.entry.receivedAt = performance.now();
    const tab = open.entry.hop && this.#tabs.get(open.entry.tab ?? '');
    if (tab && open.entry.gateway) tab.refused = true;
  }

  /**
   * ORB-blocked responses have no responseReceived event: only this one has their status, before or after
   * loadingFailed.
   */
  #onExtraInfo({ requestId, statusCode: status, headers }: EventPayload<'Network.responseReceivedExtraInfo'>): void {
    if (isRedirectStatus(status)) return;
    const [open, orbBlocked] = [this.#open.get(requestId), this.#orbBlocked.get(requestId)];
    if (open) open.extraInfo = { status, headers };
    else if (orbBlocked) fillHead(orbBlocked, { status, headers });
    this.#orbBlocked.delete(requestId);
  }

  #failed(event: EventPayload<'Network.loadingFailed'>, session: TargetSession): void {
    const entry = this.#open.get(event.requestId)?.entry;
    // Hops are kept even if they were never sent: the redirect chain shows where the tab was to go.
    if (entry && entry.hop === null && entry.statusCode === 0) entry.isStopped ||= isNeverSent(event);
    this.#ended(event.requestId, event.errorText, session);
  }

  #ended(requestId: string, fault: string, session: TargetSession): void {
    const open = this.#open.get(requestId);
    if (!open) return;
    this.#open.delete(requestId);
    this.ended += 1;
    this.#active(open.isPoll);
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
    const index = isUnanswered(entry) ? this.#stopped.findIndex(isSameUrl(entry.url)) : -1;
    if (index >= 0) this.#stopped.splice(index, 1);
    return index >= 0;
  }

  /** Hops displace other requests: a page with many requests must not hide where it navigates. */
  add(entry: Entry): void {
    if (entry.hop && this.#hops.length < HOPS_MAX) {
      this.#hops.push(entry);
      this.dropped += this.#requests.limitTo(REQUEST_URLS_MAX - this.#hops.length);
    } else if (entry.hop || hasImpossibleHost(entry.url)) this.dropped += 1;
    else if (this.#requests.add(entry, `${entry.resourceType} ${registrableDomain(entry.url)}`)) this.dropped += 1;
  }

  /** From now on these requests are in {@link sent} alone: another record has them. */
  leaveOut(isOthers: (entry: Entry) => boolean): void {
    this.#isOthers = isOthers;
  }

  /** The requests of the record, ordered by time, without those that were stopped inside the browser. */
  entries(): Entry[] {
    return this.sent().filter((entry) => !this.#isOthers(entry));
  }

  /** The same, with those that another record has. */
  sent(): Entry[] {
    return withoutForwarded(this.all().filter((entry) => this.#isSent(entry)));
  }

  /** What is stopped of a tab that loads nothing, or ends with it, is not reported one by one. */
  #isSent(entry: Entry): boolean {
    const tab = this.#tabs.get(entry.tab ?? '');
    return !entry.isStopped && !(isUnanswered(entry) && tab && entry.timestampMs >= tab.loadsNothingFromMs);
  }

  /** The same, with those that were stopped inside the browser. */
  all(): Entry[] {
    return [...this.#hops, ...this.#requests].sort((a, b) => a.timestampMs - b.timestampMs);
  }

  #listenToSockets(devtools: DevTools): void {
    const created = (requestId: string, url: string, resourceType: string, session: TargetSession) => {
      const root = rootOf(session);
      const entry = { ...emptyEntry(clipUrl(url), 'GET', Date.now()), resourceType };
      entry.tab = root.type === 'page' ? root.targetId : null;
      if (!this.#admits(entry)) return;
      this.#active(this.#polls.add(entry));
      // Not among the pending requests: a socket stays open as long as its page.
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
      this.#sockets.delete(requestId);
    });
  }
}

/** Requests that were answered by others, and those others: only these were sent. */
const ANSWERED: readonly { isAnswered(entry: Entry): boolean; isAnswer(entry: Entry): boolean }[] = [
  {
    isAnswered: ({ isFromServiceWorker }) => isFromServiceWorker,
    isAnswer: ({ isOfServiceWorker }) => isOfServiceWorker,
  },
  { isAnswered: (entry) => lastOf(entry).isFromPrefetch, isAnswer: ({ resourceType }) => resourceType === 'prefetch' },
];

/**
 * Leaves out what service workers requested for the documents that they answered, and prefetches of documents that were
 * shown then: the document's request is in the record, and only one was sent. Pure.
 */
function withoutForwarded(entries: Entry[]): Entry[] {
  const keyOf = ({ method, url }: Entry) => `${method} ${withoutFragment(url)}`;
  return ANSWERED.reduce((kept, { isAnswered, isAnswer }) => {
    const answered = new Map<string, number>();
    for (const entry of kept) if (isAnswered(entry)) answered.set(keyOf(entry), (answered.get(keyOf(entry)) ?? 0) + 1);
    if (answered.size === 0) return kept;
    return kept.filter((entry) => {
      const left = isAnswer(entry) ? (answered.get(keyOf(entry)) ?? 0) : 0;
      if (left > 0) answered.set(keyOf(entry), left - 1);
      return left === 0;
    });
  }, entries);
}

const fragmentOf = ({ type, request: { urlFragment = '' } }: Sent): string =>
  type === 'Document' && urlFragment.length <= CAPTURE_URL_LENGTH_MAX ? urlFragment : '';

/** The URL of a request as it is recorded: without its fragment, unless it is that of an app, which gets it. */
const urlOf = ({ url, urlFragment = '' }: Sent['request']): string => (isOfBrowser(url) ? url : url + urlFragment);

/**
 * Whether a redirect is Chromium's own, from http to https (RFC 6797, HSTS): only the second URL is requested. A server
 * may pretend to that.
 */
const isUpgrade = (from: string, to: string, { headers }: ResponseHead): boolean =>
  headers['Non-Authoritative-Reason'] === 'HSTS' && from.replace(/^http:/, 'https:') === to;

const isRedirectStatus = (status: number): boolean => status >= 300 && status < 400;

const isUnanswered = ({ resourceType, statusCode, isStopped }: Entry): boolean =>
  resourceType === 'document' && statusCode === 0 && !isStopped;

/** Whether another URL is the same, apart from fragments, as far as captures keep it. */
function isSameUrl(url: string): (other: string) => boolean {
  const known = withoutFragment(clipUrl(url));
  return (other) => withoutFragment(clipUrl(other)) === known;
}

function initiatorUrl({ url, stack }: Sent['initiator']): string {
  return url ?? stack?.callFrames.find((frame) => frame.url)?.url ?? '';
}

/**
 * The web addresses in a stack, including those of what scheduled it; the depth is limited, because Chromium's is not
 * by much.
 */
function initiatorScripts(stack: Sent['initiator']['stack']): string[] {
  const urls = new Set<string>();
  for (let at = stack; at && urls.size < SCRIPTS_MAX; at = at.parent)
    for (const { url } of at.callFrames) if (/^https?:/.test(url) && urls.size < SCRIPTS_MAX) urls.add(clipUrl(url));
  return [...urls];
}
