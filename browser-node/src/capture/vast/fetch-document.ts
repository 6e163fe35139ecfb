import { VAST_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { type FetchedText, fetchText } from '../page-scripts/fetch-text.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import { lastOf } from '../session/journal-entry.ts';
import { clipUrl } from '../session/urls.ts';
import type { ResponseInterceptor } from './intercept-responses.ts';
import type { PlayerPage } from './player-page.ts';
import type { FetchDocument } from './unwrap.ts';
import type { FetchedDocument } from './wrapper-chain.ts';

/** Time for one document, and for all documents of a tag together. */
const DOCUMENT_MS = 6_000;
const ALL_DOCUMENTS_MS = 15_000;

/** Fetches documents in the player's page, through the exit, as a player does. `fill` fills the macros of a URL. */
export function documentFetcher(
  captureSession: MemberCapture,
  page: PlayerPage,
  responses: ResponseInterceptor,
  fill: (url: string) => string,
): FetchDocument {
  const until = performance.now() + ALL_DOCUMENTS_MS;
  return async (url) => {
    const since = performance.now();
    const atMs = Math.round(since - captureSession.startedAt);
    const timeoutMs = Math.max(1, Math.min(DOCUMENT_MS, until - since));
    const requested = fill(url);
    responses.announceDocument(requested);
    // One character more than is read shows that a document is too large.
    const request = { url: requested, timeoutMs, lengthMax: VAST_LENGTH_MAX + 1 };
    const answer = await page.run(fetchText, request, timeoutMs + 1_000);
    const found = answer ?? {
      url: requested,
      statusCode: 0,
      contentType: '',
      text: '',
      fault: 'the page did not answer',
    };
    const elapsedMs = Math.round(performance.now() - since);
    const readable = responses.isReadable(found.url);
    return { ...asOnTheNetwork(captureSession, requested, found), readable, atMs, elapsedMs };
  };
}

/** The fault of a fetch that Chromium blocks as mixed content; the browser itself reports no reason. */
export const MIXED_CONTENT = 'net::ERR_BLOCKED_BY_MIXED_CONTENT';

/** Whether a page may not request a URL because the page is https and the URL http (Mixed Content, 4.4). Pure. */
export const isMixedContent = (pageUrl: string, url: string): boolean =>
  /^https:/i.test(pageUrl) && /^http:/i.test(url);

/**
 * Corrects what the page saw by the network journal: an error response of our gateway is not a document, and pages do
 * not see fault codes.
 */
function asOnTheNetwork(
  { journal, publisherUrl }: MemberCapture,
  requested: string,
  found: FetchedText,
): Omit<FetchedDocument, 'readable' | 'atMs' | 'elapsedMs'> {
  const first = journal.entries().findLast(({ url }) => url === clipUrl(found.url) || url === clipUrl(requested));
  const { url, statusCode, contentType, text } = found;
  const entry = first && lastOf(first);
  if (entry?.gateway) return { url, statusCode: 0, contentType: '', text: '', fault: `gateway: ${entry.gateway}` };
  const fault = isMixedContent(publisherUrl, requested) ? MIXED_CONTENT : entry?.fault || found.fault;
  return { url, statusCode, contentType: contentType.slice(0, 300), text, fault: found.fault && fault };
}
