import { REQUEST_URLS_MAX } from '@adsweep/shared/limits.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import type { TargetSession } from '../devtools/devtools.ts';
import { HOPS_MAX } from './budgets.ts';
import { FairList } from './fair-list.ts';
import { withoutForwarded } from './forwarded-requests.ts';
import { type Entry, emptyEntry } from './journal-entry.ts';
import type { Tab } from './tab.ts';
import { clipUrl, hasImpossibleHost, withoutFragment } from './urls.ts';

/** A request whose response body can be fetched now. */
export type Finished = { entry: Entry; session: TargetSession; requestId: string };

/** The record of a context's network requests, up to a limit: which are kept, and which of them were really sent. */
export class NetworkJournal {
  /** The requests that are kept, shared among sites; unordered once some were dropped. */
  readonly #requests = new FairList<Entry>(REQUEST_URLS_MAX);
  readonly #hops: Entry[] = [];
  /** How many requests were dropped. */
  dropped = 0;
  readonly #tabs: ReadonlyMap<string, Tab>;
  /** Whether a request belongs to the record. */
  readonly admits: (entry: Entry) => boolean;
  #isOthers: (entry: Entry) => boolean = () => false;
  /** URLs of document requests that we stopped and that no event has reported yet. */
  readonly #stopped: string[] = [];
  readonly #finished: ((finished: Finished) => void)[] = [];
  /** Unix time in ms at which the record was closed, null: it is open. */
  closedAtMs: number | null = null;

  /** `tabs`: the context's, by their target ids; `admits`: whether a request belongs to the record. */
  constructor(tabs: ReadonlyMap<string, Tab>, admits: (entry: Entry) => boolean = () => true) {
    this.#tabs = tabs;
    this.admits = admits;
  }

  /** Closes the record: later requests are not added. */
  close(): void {
    this.closedAtMs ??= Date.now();
  }

  onFinished(listener: (finished: Finished) => void): void {
    this.#finished.push(listener);
  }

  /** Announces the response of a request, unless the record is closed. */
  finish(finished: Finished): void {
    if (this.closedAtMs === null) for (const listener of this.#finished) listener(finished);
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
    if (this.admits(entry)) this.record(entry);
  }

  /** Records a request that was made now, unless the record is closed. */
  record(entry: Entry): void {
    entry.isStopped = this.#isStopped(entry);
    if (this.closedAtMs === null) this.add(entry);
  }

  #isStopped(entry: Entry): boolean {
    const index = isUnanswered(entry) ? this.#stopped.findIndex(isSameUrl(entry.url)) : -1;
    if (index >= 0) this.#stopped.splice(index, 1);
    return index >= 0;
  }

  /**
   * Adds a request to the record. Hops displace other requests: a page with many requests must not hide where it
   * navigates.
   */
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
}

const isUnanswered = ({ resourceType, statusCode, isStopped }: Entry): boolean =>
  resourceType === 'document' && statusCode === 0 && !isStopped;

/** Whether another URL is the same, apart from fragments, as far as captures keep it. */
function isSameUrl(url: string): (other: string) => boolean {
  const known = withoutFragment(clipUrl(url));
  return (other) => withoutFragment(clipUrl(other)) === known;
}
