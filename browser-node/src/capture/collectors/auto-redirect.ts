import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import type { Page } from 'playwright-core';
import { type EventPayload, rootOf, type TargetSession } from '../devtools/devtools.ts';
import { ScriptFrames } from '../devtools/script-frames.ts';
import { ANSWER_MS, LOADED_AT_LATEST_MS, SHOWN_AT_LATEST_MS, underLoad } from '../session/budgets.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import { FairList } from '../session/fair-list.ts';
import { clipUrl, isOfBrowser, withoutFragment } from '../session/urls.ts';
import { FIRST_PAINT } from '../session/watch-tabs.ts';
import type { Collector } from './collector.ts';

type Sent = EventPayload<'Network.requestWillBeSent'>;
type Facts = ObservationOf<'auto_redirect'>['facts'];
/**
 * A navigation of the tab `tab` (its target id, or its page) away from `url`; `loaderId` '' = nothing is loaded, for
 * example for a link to an app. `starter`: the frame whose script began it, null = not known.
 */
type Departure = { tab: string | Page; url: string; loaderId: string; facts: Facts; starter: Promise<string | null> };

/** Departures that are kept per capture, shared among sites, so that a loop does not displace the others. */
const DEPARTURES_MAX = 15;
/** What Chromium logs when it refuses a frame's navigation of its page. */
const REFUSED = /^Unsafe attempt to initiate navigation for frame .* targeting its top-level window/;

/** Navigations of tabs without a click: by their documents or frames, to a page or to an app. */
export const autoRedirect: Collector = {
  name: 'auto_redirect',
  start(capture) {
    const departures = watchDepartures(capture);
    return async (draft) => {
      for (const { tab, url, facts, starter } of departures) {
        const landing = capture.landings.numbered().find((one) => one.tab.session.targetId === tab || one.page === tab);
        // The scan's own navigation is a departure only if an HTTP redirect changed its URL.
        if (!landing || facts.to === url) continue;
        // The creative navigated our harness page, which is not a landing; the page that came next is one.
        const isOurs = withoutFragment(url) === capture.publisherUrl;
        draft.observations.push({
          kind: 'auto_redirect',
          landing: isOurs ? null : landing.ord,
          url,
          facts,
          frameId: await starter,
        });
      }
    };
  },
};

function watchDepartures(capture: MemberCapture): Iterable<Departure> {
  const { devtools } = capture;
  const departures = new FairList<Departure>(DEPARTURES_MAX);
  const documents = new Documents(() => underLoad(capture, LOADED_AT_LATEST_MS));
  const scripts = new ScriptFrames(devtools);
  const starterOf = (stack: CallStack | undefined, session: TargetSession) =>
    frameOfScript(capture, scripts, stack, session);
  const depart = (departure: Departure, frameId: string | null = null) => {
    if (capture.visit.phase !== 'navigating' && capture.visit.isUnprompted(frameId))
      departures.add(departure, registrableDomain(departure.facts.to));
  };
  devtools.on('Page.domContentEventFired', ({ timestamp }, session) => documents.parsed(session.targetId, timestamp));
  devtools.on('Page.lifecycleEvent', ({ frameId, name, timestamp }, session) => {
    if (name === FIRST_PAINT && frameId === session.targetId) documents.painted(frameId, timestamp);
  });
  devtools.on('Page.loadEventFired', ({ timestamp }, session) => documents.loaded(session.targetId, timestamp));
  devtools.on('Page.frameNavigated', ({ frame }, session) => {
    if (frame.id === session.targetId) documents.committed(session.targetId, frame.url + (frame.urlFragment ?? ''));
  });
  devtools.on('Network.requestWillBeSent', (event, session) => {
    if (!isOwnDocument(event, session) || event.hasUserGesture) return;
    const to = clipUrl(event.request.url);
    const known = event.redirectResponse && [...departures].find(({ loaderId }) => loaderId === event.loaderId);
    if (known) known.facts.to = to;
    else if (isOfBrowser(to)) {
      const starter = starterOf(event.initiator.stack, session);
      depart({ ...documents.departure(session.targetId, event.loaderId, to, event.timestamp), starter });
    }
  });
  devtools.on('Page.frameRequestedNavigation', ({ url, frameId }, session) => {
    if (isOfBrowser(url)) return;
    const departure = documents.departure(rootOf(session).targetId, '', clipUrl(url), null);
    // It is the frame that was to navigate, which may be the page itself.
    depart({ ...departure, starter: Promise.resolve(frameId) }, frameId);
  });
  // Those that a page script has cancelled; the ones above are the few that a document of another origin or an element
  // began.
  capture.reports.on('app-navigation', (page, url, frameId) => {
    const facts = { to: clipUrl(url.join('|')), after_load_ms: 0, refused: false };
    depart({ tab: page, url: clipUrl(page.url()), loaderId: '', facts, starter: Promise.resolve(frameId) }, frameId);
  });
  devtools.on('Page.downloadWillBegin', ({ frameId, url }) => {
    // A navigation that became a download left the tab where it was.
    const known = [...departures].findLast(({ tab, facts }) => tab === frameId && facts.to === clipUrl(url));
    if (known) known.facts.to = known.url;
  });
  /** Before it answers, Chromium repeats what other frames in the process of a target have logged. */
  const enabling = new Set<TargetSession>();
  devtools.onAttached(async (session) => {
    if (session.type !== 'page' && session.type !== 'iframe') return;
    enabling.add(session);
    await session.send('Log.enable').catch(() => undefined);
    enabling.delete(session);
  });
  devtools.on('Log.entryAdded', ({ entry }, session) => {
    if (enabling.has(session) || !REFUSED.test(entry.text)) return;
    // Chromium does not report the frame's destination.
    const departure = documents.departure(rootOf(session).targetId, '', '', null);
    // A frame with a target of its own is it, or holds it.
    const starter = session.type === 'page' ? starterOf(entry.stackTrace, session) : Promise.resolve(session.frameId);
    depart({ ...departure, facts: { ...departure.facts, refused: true }, starter }, session.frameId);
  });
  return departures;
}

type CallStack = { callFrames: readonly { scriptId: string }[] };

/**
 * The frame in which the innermost function of a stack runs that called Chromium. A tab of a single frame is not asked.
 * While the page stays, as it does when a navigation is stopped or its server takes some time to answer, the frame is
 * found; later it is not known.
 */
async function frameOfScript(
  capture: MemberCapture,
  scripts: ScriptFrames,
  stack: CallStack | undefined,
  session: TargetSession,
): Promise<string | null> {
  const [caller] = stack?.callFrames ?? [];
  if (!caller || !capture.devtools.frames.hasChildren(session.targetId)) return null;
  return (await scripts.of(session, underLoad(capture, ANSWER_MS))).get(caller.scriptId) ?? null;
}

const isOwnDocument = ({ type, requestId, loaderId, frameId }: Sent, session: TargetSession): boolean =>
  type === 'Document' && requestId === loaderId && session.type === 'page' && frameId === session.targetId;

/**
 * When a document first showed something, had been parsed and had loaded, in the browser's monotonic seconds; Infinity:
 * not yet.
 */
type Progress = { url: string; paintedAt: number; parsedAt: number; loadedAt: number };

/** The documents of tabs. */
class Documents {
  readonly #byTab = new Map<string, Progress>();
  readonly #loadedAtLatestMs: () => number;

  /** `loadedAtLatestMs`: how long after it was parsed a document is taken for loaded. */
  constructor(loadedAtLatestMs: () => number) {
    this.#loadedAtLatestMs = loadedAtLatestMs;
  }

  committed(tab: string, url: string): void {
    const [paintedAt, parsedAt, loadedAt] = [Infinity, Infinity, Infinity];
    this.#byTab.set(tab, { url: clipUrl(url), paintedAt, parsedAt, loadedAt });
  }

  painted(tab: string, at: number): void {
    const document = this.#byTab.get(tab);
    if (document) document.paintedAt = Math.min(document.paintedAt, at);
  }

  parsed(tab: string, at: number): void {
    const document = this.#byTab.get(tab);
    if (document) document.parsedAt = Math.min(document.parsedAt, at);
  }

  loaded(tab: string, at: number): void {
    const document = this.#byTab.get(tab);
    if (document) document.loadedAt = at;
  }

  departure(tab: string, loaderId: string, to: string, at: number | null): Departure {
    const document = this.#byTab.get(tab);
    const shownForMs = document && at !== null ? (at - this.#shownAt(document)) * 1_000 : 0;
    const facts = { to, after_load_ms: Math.max(0, Math.round(shownForMs)), refused: false };
    return { tab, url: document?.url ?? to, loaderId, facts, starter: Promise.resolve(null) };
  }

  /** When a document had loaded, or is taken for loaded. */
  #shownAt({ paintedAt, parsedAt, loadedAt }: Progress): number {
    if (Number.isFinite(loadedAt)) return loadedAt;
    return Math.min(parsedAt + this.#loadedAtLatestMs() / 1_000, paintedAt + SHOWN_AT_LATEST_MS / 1_000);
  }
}
