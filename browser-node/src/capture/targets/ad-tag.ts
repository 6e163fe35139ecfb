import { setTimeout } from 'node:timers/promises';
import { checkInteractive } from '../harness/check-interactive.ts';
import { clickCreative } from '../harness/click-creative.ts';
import {
  authenticate,
  type HarnessPage,
  hasNavigatedAway,
  markAsLanding,
  openHarnessPage,
} from '../harness/harness-page.ts';
import { hasElement, isTagUrl, mraidAnswer, placementPage } from '../harness/placement.ts';
import { publisherFragment, publisherUrl } from '../harness/publisher-url.ts';
import { clickablesOf, isRendered, seeCreative } from '../harness/see-creative.ts';
import { EMPTY_PLACEMENT_MS, NAVIGATION_MS } from '../session/budgets.ts';
import { stopBusyScripts } from '../session/busy-scripts.ts';
import type { CaptureFailure, CaptureRequest } from '../session/capture-outcome.ts';
import type { CaptureSession, MemberCapture } from '../session/capture-session.ts';
import { causeText } from '../session/ending.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import { settle } from '../session/settle.ts';
import type { CaptureTarget, Visited } from './target.ts';

/**
 * An ad tag: rendered in a placement on a harness page, measured and clicked. Its landings are the tabs that open; a
 * landing that fails does not fail the scan.
 */
export const adTag: CaptureTarget = {
  prepare: authenticate,
  refusal,
  publisherUrl: ({ target, referrer }) => publisherUrl(referrer, target.value),
  visit,
};

const LOOK_EVERY_MS = 250;

function refusal({ target: { value } }: CaptureRequest): CaptureFailure | null {
  if (isTagUrl(value) || hasElement(value)) return null;
  return { code: 'ad_tag: INVALID', cause: 'the snippet holds no element' };
}

async function visit(capture: MemberCapture, tab: OpenTab, { target, referrer }: CaptureRequest): Promise<Visited> {
  const tag = target.value;
  const isUrl = isTagUrl(tag);
  const markup = placementPage(new URL(capture.publisherUrl).host, tag);
  const content = { fragment: publisherFragment(referrer), markup, tag };
  const opened = await openHarnessPage(capture, tab, content, mraidAnswer);
  if (!opened) return visited(capture);
  await settle(capture);
  await capture.ending.race(stopBusyScripts(capture));
  const { harness, ...own } = isUrl ? await ownDocument(capture, opened, tag.trim()) : { harness: opened, error: '' };
  if (own.error) return visited(capture, own);
  await settleLateCreative(capture, harness, isUrl);
  // A creative that navigated away by itself is gone: what replaced it is a landing.
  if (hasNavigatedAway(harness)) {
    markAsLanding(capture, harness);
    return visited(capture, own);
  }
  const found = await seeCreative(capture, harness, isUrl);
  const isCheckable = await capture.ending.contain(clickCreative(capture, harness, found));
  // A timer that a click started may have navigated the page later.
  if (hasNavigatedAway(harness)) markAsLanding(capture, harness);
  const clickables = () => clickablesOf(capture, harness, isUrl);
  const check = (budgetMs: number) => checkInteractive(capture, harness, clickables, budgetMs);
  const creative = isCheckable ? { ...found.creative, checkInteractive: check } : found.creative;
  return visited(capture, { ...own, creative });
}

const visited = ({ ending }: CaptureSession, found: Partial<Visited> = {}): Visited => ({
  error: '',
  ...found,
  failure: ending.failure,
});

/** Watches a placement that is still empty, and waits until late content has settled. */
async function settleLateCreative(session: CaptureSession, harness: HarnessPage, isUrl: boolean): Promise<void> {
  const { ending, tabs } = session;
  const tabsBefore = tabs.all.length;
  const isOver = () => ending.failure !== null || hasNavigatedAway(harness) || tabs.all.length > tabsBefore;
  const until = performance.now() + EMPTY_PLACEMENT_MS;
  if (isOver() || (await isRendered(session, harness, isUrl))) return;
  while (!isOver() && performance.now() < until) {
    await ending.race(setTimeout(LOOK_EVERY_MS));
    if (await isRendered(session, harness, isUrl)) break;
  }
  await settle(session);
}

/**
 * The document of a tag's URL, the error of its navigation, '' = a document came; and the harness page as it is now.
 */
type OwnDocument = Pick<Visited, 'error' | 'document'> & { harness: HarnessPage };

/**
 * The last document that the frame of a tag's URL loaded. A document that browsers show in no frame of the harness page is opened in the tab
 * itself, with the `Referer` that the frame would have sent.
 */
async function ownDocument(capture: MemberCapture, harness: HarnessPage, url: string): Promise<OwnDocument> {
  await awaitAnswer(capture, harness);
  const own = ownLoads(capture, harness);
  const document = own.at(-1);
  if (isKeptFromFrame(document, harness)) return openByItself(capture, harness, url);
  if (isUnanswered(own)) return { document, error: 'net::ERR_TIMED_OUT', harness };
  return { document, error: own.some(isAnswered) ? '' : (document?.fault ?? ''), harness };
}

/**
 * Whether a document refuses to be framed (RFC 7034, CSP frame-ancestors), or is http content in an https page (Mixed Content): that is not even
 * requested, or if a redirect leads there, its first request is aborted.
 */
function isKeptFromFrame(load: Entry | undefined, { publisherUrl }: HarnessPage): boolean {
  if (load === undefined || load.fault.includes('ERR_BLOCKED_BY_RESPONSE')) return true;
  return publisherUrl.startsWith('https:') && load.statusCode === 0 && load.fault.includes('ERR_ABORTED');
}

async function openByItself(capture: MemberCapture, harness: HarnessPage, url: string): Promise<OwnDocument> {
  const { journal, ending, landings, visit } = capture;
  const { page, tab, publisherUrl } = harness;
  const { targetId } = tab.tab.session;
  const before = journal.hopsOf(targetId).length;
  const options = { waitUntil: 'commit', timeout: NAVIGATION_MS, ...refererFor(url, publisherUrl) } as const;
  const load = () => page.goto(url, options).then(() => '', causeText);
  const error = (await visit.navigate(() => ending.race(load()))) ?? '';
  if (!error) await settle(capture);
  const loads = journal.hopsOf(targetId).slice(before);
  landings.markAsCreative(tab.tab, tab.tab.documentUrl, before);
  return { document: loads.at(-1), error, harness: { ...harness, url: tab.tab.documentUrl } };
}

/** What the policy of the harness page gives other sites: its origin, and nothing from https to http. */
const refererFor = (url: string, publisherUrl: string): { referer?: string } => {
  const { origin, protocol } = new URL(publisherUrl);
  return protocol === 'https:' && new URL(url).protocol === 'http:' ? {} : { referer: `${origin}/` };
};

/** Waits as long for an answer of the tag's URL as for that of a page. */
async function awaitAnswer(session: CaptureSession, harness: HarnessPage): Promise<void> {
  const { ending, startedAt } = session;
  const isWaiting = () => isUnanswered(ownLoads(session, harness)) && !ending.failure;
  if (!isWaiting()) return;
  while (isWaiting() && performance.now() < startedAt + NAVIGATION_MS) await ending.race(setTimeout(LOOK_EVERY_MS));
  if (!isWaiting()) await settle(session);
}

/** The document requests of the frame of a tag's URL. */
function ownLoads({ journal }: CaptureSession, { tab }: HarnessPage): Entry[] {
  const { targetId } = tab.tab.session;
  const loads = journal.entries().filter((entry) => entry.tab === targetId && entry.resourceType === 'document');
  const first = loads.find(({ hop }) => hop === null);
  return loads.filter(({ frameId }) => frameId === first?.frameId);
}

const isAnswered = ({ statusCode, redirectedTo }: Entry): boolean => statusCode > 0 && redirectedTo === null;

/** Whether the server has neither answered nor refused the last of these requests, nor any before. */
const isUnanswered = (loads: Entry[]): boolean => loads.at(-1)?.fault === '' && !loads.some(isAnswered);
