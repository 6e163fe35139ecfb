import { VAST_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { type FetchedText, fetchText } from '../page-scripts/fetch-text.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { lastOf } from '../session/network-journal.ts';
import { clipUrl } from '../session/urls.ts';
import type { AnswerInterceptor } from './intercept-answers.ts';
import type { PlayerPage } from './player-page.ts';
import type { FetchedDocument } from './resolution.ts';
import type { FetchDocument } from './unwrap.ts';

/** One document, and all of a tag together. */
const DOCUMENT_MS = 6_000;
const ALL_DOCUMENTS_MS = 15_000;

/** Fetches documents in the player's page, through the exit, as a player does. `fill` fills the macros of a URL. */
export function documentFetcher(
  captureSession: CaptureSession,
  page: PlayerPage,
  answers: AnswerInterceptor,
  fill: (url: string) => string,
): FetchDocument {
  const until = performance.now() + ALL_DOCUMENTS_MS;
  return async (url) => {
    const since = performance.now();
    const atMs = Math.round(since - captureSession.startedAt);
    const timeoutMs = Math.max(1, Math.min(DOCUMENT_MS, until - since));
    const asked = fill(url);
    // One character more tells that a document is too large.
    const request = { url: asked, timeoutMs, lengthMax: VAST_LENGTH_MAX + 1 };
    const answer = await page.run(fetchText, request, timeoutMs + 1_000);
    const found = answer ?? { url: asked, statusCode: 0, contentType: '', text: '', fault: 'the page did not answer' };
    const elapsedMs = Math.round(performance.now() - since);
    return { ...witnessed(captureSession, asked, found), readable: answers.isReadable(found.url), atMs, elapsedMs };
  };
}

/** Chromium tells pages and us alike that such a fetch failed, and not why. */
export const MIXED_CONTENT = 'net::ERR_BLOCKED_BY_MIXED_CONTENT';

/** Whether a page may not ask for a document at all: one over https asks for nothing by http (Mixed Content, 4.4). Pure. */
export const isMixedContent = (pageUrl: string, url: string): boolean =>
  /^https:/i.test(pageUrl) && /^http:/i.test(url);

/** What the gateway answers in place of a server is no document, and what broke has a name that the page is not told. */
function witnessed(
  { journal, publisherUrl }: CaptureSession,
  asked: string,
  found: FetchedText,
): Omit<FetchedDocument, 'readable' | 'atMs' | 'elapsedMs'> {
  const first = journal.entries().findLast(({ url }) => url === clipUrl(found.url) || url === clipUrl(asked));
  const { url, statusCode, contentType, text } = found;
  const entry = first && lastOf(first);
  if (entry?.gateway) return { url, statusCode: 0, contentType: '', text: '', fault: `gateway: ${entry.gateway}` };
  const fault = isMixedContent(publisherUrl ?? '', asked) ? MIXED_CONTENT : entry?.fault || found.fault;
  return { url, statusCode, contentType: contentType.slice(0, 300), text, fault: found.fault && fault };
}
