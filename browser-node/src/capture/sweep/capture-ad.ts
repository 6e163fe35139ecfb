import type { AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { finishMember, seeVisit } from '../capture-member.ts';
import { type DevTools, type TargetSession, targetWith } from '../devtools/devtools.ts';
import { ScriptFrames } from '../devtools/script-frames.ts';
import type { AdRecords } from '../discovery/ad-records.ts';
import type { FoundAd } from '../discovery/found-ad.ts';
import { watchUnrequested } from '../harness/harness-page.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import type { CaptureOutcome, CaptureRequest } from '../session/capture-outcome.ts';
import { type ContextWatch, leaveSession, type MemberCapture, openSession } from '../session/capture-session.ts';
import { closeTabs } from '../session/close-tabs.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { SessionScope } from '../session/open-tabs.ts';
import { Visit } from '../session/visit.ts';
import type { Visited } from '../targets/target.ts';
import { requestsOfAd } from './ad-requests.ts';
import { clickAd } from './click-ad.ts';
import { closeOverlay } from './close-overlay.ts';
import { type KeptAd, keepAd } from './keep-ads.ts';
import type { PublisherPage } from './publisher-page.ts';

/** How long the last beacons of an ad's landings are waited for: the page itself may never be quiet. */
const LEAVE_AD_MS = 1_500;

/**
 * An ad whose turn it is. `found`: null: it is not on the page any more. `kept`: what was kept when it was found, null:
 * nothing.
 */
export type AdTurn = {
  request: CaptureRequest & { ad_block: AdBlock };
  page: PublisherPage | null;
  found: FoundAd | null;
  kept: KeptAd | null;
  /** What was recorded of the page's ads so far. */
  records: AdRecords;
  signal: AbortSignal;
  logger: Logger;
};

/**
 * Captures one ad of a page: what was kept of it, and what a click on it opens. The page's own tab and the ads that
 * come later stay.
 */
export async function captureAd(
  watch: ContextWatch,
  turn: AdTurn,
  traffic: () => Promise<TicketTraffic | null>,
): Promise<CaptureOutcome> {
  const { request, page, found, signal, logger } = turn;
  const isOthers = framesOfOthers(watch, turn);
  const visit = new Visit((frameId) => frameId === null || !isOthers(frameId));
  const session = openSession(watch, scopeOf(watch, turn, visit), signal, logger);
  try {
    for (const entry of found && page ? requestsOfAd(page.entries, found) : []) session.journal.add(entry);
    const seen = await seeVisit({ ...session, visit, publisherUrl: '' }, request, (capture) => visitAd(capture, turn));
    if (found && page) {
      const later = page.ads.filter(({ block }) => block.slot_index > found.block.slot_index);
      turn.records.leaveAd(seen.draft, seen.capture, found, later, page.host.tab.tab);
      await closeOverlay(seen.capture, page.host, found, later);
    }
    const leftAt = performance.now();
    const carried = await closeTabs(session, traffic, { maxMs: LEAVE_AD_MS, isQuiet: false });
    return await finishMember(seen, carried, leftAt);
  } finally {
    page?.host.pageLoads.allow();
    const { busyDocuments, devtools, tabs } = session;
    if (busyDocuments.size > 0 || devtools.isFlooded || tabs.uninspected > 0) page?.spoil();
    leaveSession(session);
  }
}

/**
 * What of the context belongs to an ad: its requests and the tabs that it opens. Those of other ads and of the page do
 * not.
 */
function scopeOf(watch: ContextWatch, turn: AdTurn, visit: Visit): SessionScope {
  const { request, page, found } = turn;
  const host = page?.host.tab;
  const isPop = found !== null && found.element === null;
  const kept = new Set([...(host ? [host] : []), ...(page?.ads ?? []).map(({ tab }) => tab)]);
  if (isPop && found.tab !== host) kept.delete(found.tab);
  const own = new Set(found?.frameIds ?? []);
  const keptTabs = new Set([...kept].map(({ tab }) => tab.session.targetId));
  const { frames } = watch.devtools;
  const isOthers = framesOfOthers(watch, turn);
  const admitsTab = ({ openerFrameId }: TargetSession) =>
    frames.nearest(openerFrameId, own) !== null || (visit.clicks > 0 && !isOthers(openerFrameId));
  const admitsRequest = (entry: Entry) => {
    if (entry.tab !== null && !keptTabs.has(entry.tab)) return true;
    return (found?.ownsRequest(entry) ?? false) || (entry.hop !== null && entry.tab === host?.tab.session.targetId);
  };
  const stays = isPop && found.tab !== host ? [...kept, found.tab] : [...kept];
  return { limits: request.limits, kept: stays, admitsTab, admitsRequest };
}

/** Whether a frame is one of the page's other ads. */
function framesOfOthers(
  { devtools }: { devtools: Pick<DevTools, 'frames'> },
  { page, found }: AdTurn,
): (frameId: string) => boolean {
  const others = new Set((page?.ads ?? []).filter((ad) => ad !== found).flatMap(({ frameIds }) => frameIds));
  return (frameId) => devtools.frames.nearest(frameId, others) !== null;
}

/** Shows and clicks an ad. Whatever its page does, what was kept of the ad is captured. */
async function visitAd(capture: MemberCapture, turn: AdTurn): Promise<Visited> {
  const { page, found, kept } = turn;
  const { ending } = capture;
  if (found && page && found.element === null) return visitPop(capture, page, found);
  const shown = kept ?? (found && (await keepAd(capture, found)));
  if (!shown) return { error: '', failure: { code: 'ad_discovery: AD_GONE', cause: 'the ad was not found again' } };
  capture.notes.push(...shown.notes);
  const clicked = page && found ? await clickOn(capture, turn, page, found) : null;
  if (!clicked?.isThere) capture.notes.push(note('ad_gone'));
  const tab = page?.host.tab;
  if (!tab) return { error: '', failure: ending.failure };
  const creative = { tab, frameId: shown.frameId, facts: shown.facts, files: shown.files, isOnPage: true } as const;
  const check = clicked?.checkInteractive;
  return { error: '', failure: ending.failure, creative: check ? { ...creative, checkInteractive: check } : creative };
}

/** Null: the page ended meanwhile, or did not answer. */
async function clickOn(capture: MemberCapture, turn: AdTurn, { host }: PublisherPage, found: FoundAd) {
  const { ending, journal, landings, logger, open, tabs } = capture;
  const isOfPage = requestedByPage(capture, turn, host.tab.tab.session, found);
  host.pageLoads.serve({
    journal,
    tabs,
    isOfPage: startedByPage(capture, turn, host.tab.tab.session, found, isOfPage),
  });
  landings.markAsCreative(host.tab.tab, host.url);
  watchUnrequested(capture, host, isOfPage);
  try {
    await ending.race(host.pageLoads.start(open.context));
    return await ending.race(clickAd(capture, host, found));
  } catch (cause) {
    logger.info({ cause }, 'the page of an ad ended or did not answer while the ad was clicked');
    return null;
  }
}

/**
 * Whether what a target requests is done by the page of an ad, or by another ad of it: what these do while the ad is
 * clicked is not the ad's. False as well for what the page's own process does if documents of the ad are in it.
 */
function requestedByPage(
  { devtools }: MemberCapture,
  turn: AdTurn,
  page: TargetSession,
  { frameIds }: FoundAd,
): (requesterId: string) => boolean {
  const isOthers = framesOfOthers({ devtools }, turn);
  const isInPage = frameIds.length === 0 || frameIds.some((frameId) => targetWith(devtools, frameId) === page.targetId);
  return (requesterId) => (requesterId === page.targetId ? !isInPage : isOthers(requesterId));
}

/**
 * The same for a load in the page's tab, which the page may start by a refresh, a script or a form. A script of an ad
 * without frames runs in the page. `isOfPage`: as of {@link requestedByPage}.
 */
function startedByPage(
  capture: MemberCapture,
  turn: AdTurn,
  page: TargetSession,
  found: FoundAd,
  isOfPage: (requesterId: string) => boolean,
): (load: Entry) => Promise<boolean> {
  const scripts = new ScriptFrames(capture.devtools);
  const isOthers = framesOfOthers(capture, turn);
  return async (load) => {
    const { hop, requesterId, initiatorScriptId } = load;
    if (hop === 'meta_refresh' || hop === 'refresh_header') return true;
    if (requesterId !== '' && requesterId !== page.targetId) return isOfPage(requesterId);
    // Chromium does not say which script submitted a form.
    if (initiatorScriptId === '') return requesterId !== '' && isOfPage(requesterId);
    const frames = await scripts.of(page, underLoad(capture, ANSWER_MS));
    const frameId = frames.get(initiatorScriptId) ?? '';
    if (frameId !== page.targetId) return isOthers(frameId);
    return found.frameIds.length > 0 && !found.ownsRequest(load);
  };
}

/** A tab that opened by itself is its own landing; of a tab-under, what the page's own tab went to is. */
async function visitPop(capture: MemberCapture, { host, entries }: PublisherPage, found: FoundAd): Promise<Visited> {
  const { tab } = found;
  const { targetId } = tab.tab.session;
  capture.tabs.adopt(tab);
  if (tab === host.tab) {
    const hops = entries.filter((entry) => entry.tab === targetId && entry.hop !== null);
    const departed = hops.findIndex(({ isRedirect }, index) => index > 0 && !isRedirect);
    capture.landings.markAsCreative(tab.tab, host.url);
    capture.landings.markAsLanding(Math.max(0, departed));
  }
  return { error: '', failure: capture.ending.failure };
}
