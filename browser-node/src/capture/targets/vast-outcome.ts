import type { FailureCode } from '@adsweep/shared/failures.ts';
import { lastOf } from '../session/journal-entry.ts';
import type { NetworkJournal } from '../session/network-journal.ts';
import { clipUrl } from '../session/urls.ts';
import type { DocumentFault, FetchedDocument, Resolution } from '../vast/wrapper-chain.ts';
import type { Visited } from './target.ts';

const FAILURES: Record<DocumentFault, FailureCode> = {
  no_ad: 'vast: NO_AD',
  not_followed: 'vast: NO_AD',
  invalid: 'vast: INVALID',
  too_large: 'vast: INVALID',
  loop: 'vast: WRAPPER_LIMIT',
  limit: 'vast: WRAPPER_LIMIT',
  refused: 'vast: WRAPPER_UNREACHABLE',
  unanswered: 'vast: WRAPPER_UNANSWERED',
};

/**
 * The outcome of a tag without an ad. If its own server refuses it (4xx), it is not VAST; if that server does not
 * answer or fails (5xx), the tag fails like a page that does not load.
 */
export function visitOutcome({ failure, chain }: Resolution, journal: Pick<NetworkJournal, 'entries'>): Visited {
  if (!failure) return { error: '', failure: null };
  const [tag] = chain;
  if (chain.length === 1 && tag?.fetched && UNREACHED.has(failure) && !isClientError(tag.fetched)) {
    const { fault, statusCode } = tag.fetched;
    const first = journal.entries().findLast(({ url }) => url === clipUrl(tag.requestedUrl));
    const entry = first && lastOf(first);
    // A fetch that timed out in the middle of its response is not an aborted navigation.
    const document = entry && { ...entry, fault: entry.fault.includes('ERR_ABORTED') ? '' : entry.fault };
    return { error: fault || `the tag answered ${statusCode}`, failure: null, document };
  }
  const steps = chain.map(({ requestedUrl, outcome, fetched }) => `${requestedUrl} ${outcome} ${fetched?.fault ?? ''}`);
  const code = chain.length === 1 && failure === 'refused' ? 'vast: INVALID' : FAILURES[failure];
  return { error: '', failure: { code, cause: steps.join('\n').slice(0, 4_000) } };
}

const UNREACHED: ReadonlySet<DocumentFault> = new Set(['refused', 'unanswered']);

const isClientError = ({ statusCode }: FetchedDocument): boolean => statusCode >= 400 && statusCode < 500;
