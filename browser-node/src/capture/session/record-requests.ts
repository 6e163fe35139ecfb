import { startedWorker } from '../../browser/cdp-messages.ts';
import { type DevTools, type EventPayload, isWithin, rootOf, type TargetSession } from '../devtools/devtools.ts';
import { describeRequest, recordedUrl, type Sent } from './describe-request.ts';
import {
  type Entry,
  emptyEntry,
  fillHead,
  fillResponse,
  isNeverSent,
  ORB_BLOCKED,
  type ResponseHead,
} from './journal-entry.ts';
import type { NetworkJournal } from './network-journal.ts';
import type { PendingRequests } from './pending-requests.ts';
import type { Tab } from './tab.ts';
import { clipUrl, isOfBrowser } from './urls.ts';

/** What a context requests: the record of it, and what has not ended yet. */
export type Requests = { journal: NetworkJournal; pendingRequests: PendingRequests };

/** Records all network requests of a context, from the CDP events of all its targets. `tabs`: by their target ids. */
export function recordRequests(devtools: DevTools, tabs: ReadonlyMap<string, Tab>, requests: Requests): void {
  const recorder = new RequestRecorder(tabs, requests);
  devtools.on('Page.frameRequestedNavigation', ({ frameId }, requester) => {
    if ([...devtools.sessions()].some(({ targetId }) => targetId === frameId))
      recorder.navigationRequested(frameId, requester);
  });
  devtools.on('Network.requestWillBeSent', (event, session) => recorder.sent(event, session));
  devtools.on('Network.responseReceived', (event) => recorder.responded(event));
  devtools.on('Network.responseReceivedExtraInfo', (event) => recorder.extraInfo(event));
  devtools.on('Network.dataReceived', (event) => recorder.dataReceived(event));
  devtools.on('Network.loadingFinished', ({ requestId }, session) => recorder.ended(requestId, '', session));
  devtools.on('Network.loadingFailed', (event, session) => recorder.failed(event, session));
  devtools.on('Network.webSocketCreated', ({ requestId, url }, session) =>
    recorder.socketCreated(requestId, url, 'websocket', session),
  );
  devtools.on('Network.webTransportCreated', ({ transportId, url }, session) =>
    recorder.socketCreated(transportId, url, 'webtransport', session),
  );
  devtools.on('Network.webSocketHandshakeResponseReceived', (event) => recorder.socketResponded(event));
}

/** Each method receives one CDP event. */
class RequestRecorder {
  readonly #tabs: ReadonlyMap<string, Tab>;
  readonly #journal: NetworkJournal;
  readonly #pending: PendingRequests;
  readonly #sockets = new Map<string, Entry>();
  /** ORB-blocked requests whose extra info has not arrived yet. */
  readonly #orbBlocked = new Map<string, Entry>();
  /**
   * The target that requested the last navigation of a frame or tab with a target of its own, by the id of that one.
   */
  readonly #requesters = new Map<string, TargetSession>();

  constructor(tabs: ReadonlyMap<string, Tab>, { journal, pendingRequests }: Requests) {
    this.#tabs = tabs;
    this.#journal = journal;
    this.#pending = pendingRequests;
  }

  navigationRequested(targetId: string, requester: TargetSession): void {
    this.#requesters.set(targetId, requester);
  }

  sent(event: Sent, session: TargetSession): void {
    const { requestId, request, redirectResponse, timestamp } = event;
    const before = this.#pending.get(requestId);
    // Both processes report a frame that moves from one to the other.
    if (before && (before.seen === timestamp || !redirectResponse)) return;
    const url = recordedUrl(request);
    if (before?.entry.hop === null && redirectResponse && isUpgrade(before.entry.url, url, redirectResponse)) {
      before.entry.url = url;
      return;
    }
    if (before && redirectResponse) fillResponse(before.entry, redirectResponse);
    if (startedWorker(event) !== null) this.#pending.noteWorker();
    const isNetwork = /^(https?|wss?):/.test(request.url);
    // An HTTP redirect to an app or a forbidden scheme is a hop, and so is what a window opens with; data: and blob:
    // are not requests at all.
    if (!isNetwork && !redirectResponse && !this.#opensApp(event, session)) return;
    const entry = this.#describe(event, session, before !== undefined);
    if (!before && !this.#journal.admits(entry)) return;
    if (before) before.entry.redirectedTo = entry;
    this.#pending.start(requestId, entry, timestamp);
    this.#journal.record(entry);
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
    const requester = this.#requesterOf(event, session);
    return {
      ...describeRequest(event),
      tab: tabOf(session),
      hop: this.#hopKind(event, session, isRedirect),
      isRedirect,
      isFromOutside: requester !== null && !isWithin(requester, session),
      requesterId: requester?.targetId ?? '',
      isOfServiceWorker: session.type === 'service_worker',
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

  responded({ requestId, response }: EventPayload<'Network.responseReceived'>): void {
    const pending = this.#pending.get(requestId);
    if (!pending) return;
    fillResponse(pending.entry, response);
    pending.entry.receivedAt = performance.now();
    const tab = pending.entry.hop && this.#tabs.get(pending.entry.tab ?? '');
    if (tab && pending.entry.gateway) tab.refused = true;
  }

  /**
   * ORB-blocked responses have no responseReceived event: only this one has their status, before or after
   * loadingFailed.
   */
  extraInfo({ requestId, statusCode: status, headers }: EventPayload<'Network.responseReceivedExtraInfo'>): void {
    if (isRedirectStatus(status)) return;
    const [pending, orbBlocked] = [this.#pending.get(requestId), this.#orbBlocked.get(requestId)];
    if (pending) pending.extraInfo = { status, headers };
    else if (orbBlocked) fillHead(orbBlocked, { status, headers });
    this.#orbBlocked.delete(requestId);
  }

  dataReceived({ requestId, dataLength }: EventPayload<'Network.dataReceived'>): void {
    const pending = this.#pending.get(requestId);
    if (!pending) return;
    pending.entry.bodySize += dataLength;
    pending.entry.receivedAt = performance.now();
  }

  failed(event: EventPayload<'Network.loadingFailed'>, session: TargetSession): void {
    const entry = this.#pending.get(event.requestId)?.entry;
    // Hops are kept even if they were never sent: the redirect chain shows where the tab was to go.
    if (entry && entry.hop === null && entry.statusCode === 0) entry.isStopped ||= isNeverSent(event);
    this.ended(event.requestId, event.errorText, session);
  }

  ended(requestId: string, fault: string, session: TargetSession): void {
    const pending = this.#pending.end(requestId);
    if (!pending) return;
    const { entry, extraInfo } = pending;
    entry.fault = fault;
    entry.isWhole = fault === '';
    if (fault === ORB_BLOCKED && entry.statusCode === 0) {
      if (extraInfo) fillHead(entry, extraInfo);
      else this.#orbBlocked.set(requestId, entry);
    }
    if (!fault) this.#journal.finish({ entry, session, requestId });
  }

  socketCreated(requestId: string, url: string, resourceType: string, session: TargetSession): void {
    const entry = { ...emptyEntry(clipUrl(url), 'GET', Date.now()), resourceType, tab: tabOf(session) };
    if (!this.#journal.admits(entry)) return;
    this.#pending.noteRequest(entry);
    this.#sockets.set(requestId, entry);
    this.#journal.record(entry);
  }

  socketResponded({ requestId, response }: EventPayload<'Network.webSocketHandshakeResponseReceived'>): void {
    const entry = this.#sockets.get(requestId);
    if (entry) entry.statusCode = response.status;
    this.#sockets.delete(requestId);
  }
}

/** The target id of the tab that a session belongs to, null: to none. */
function tabOf(session: TargetSession): string | null {
  const root = rootOf(session);
  return root.type === 'page' ? root.targetId : null;
}

/**
 * Whether a redirect is Chromium's own, from http to https (RFC 6797, HSTS): only the second URL is requested. A server
 * may pretend to that.
 */
const isUpgrade = (from: string, to: string, { headers }: ResponseHead): boolean =>
  headers['Non-Authoritative-Reason'] === 'HSTS' && from.replace(/^http:/, 'https:') === to;

const isRedirectStatus = (status: number): boolean => status >= 300 && status < 400;
