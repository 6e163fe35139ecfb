import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FailureCode, isTransient, publicTextOf } from '@adsweep/shared/failures.ts';
import { type Entry, emptyEntry } from '../src/capture/session/journal-entry.ts';
import { visitOutcome } from '../src/capture/targets/vast-outcome.ts';
import { isMixedContent, MIXED_CONTENT } from '../src/capture/vast/fetch-document.ts';
import { unwrap } from '../src/capture/vast/unwrap.ts';
import type { FetchedDocument } from '../src/capture/vast/wrapper-chain.ts';
import { failureOfVisit } from '../src/failures.ts';

const TAG = 'https://ads.example/tag';
const NEXT = 'https://ads.example/next';
const WRAPPER = `<VAST version="4.2"><Ad><Wrapper><AdSystem>a</AdSystem><VASTAdTagURI><![CDATA[${NEXT}]]></VASTAdTagURI></Wrapper></Ad></VAST>`;
const INLINE = '<VAST version="4.2"><Ad><InLine><AdSystem>a</AdSystem></InLine></Ad></VAST>';

/** The response of a URL: its status, its body, and the network error that the journal and the player saw. */
type Answer = { status?: number; body?: string; fault?: string; journal?: Partial<Entry> };

const fetched = (url: string, { status = 0, body = '', fault = '' }: Answer): FetchedDocument => ({
  url,
  statusCode: status,
  contentType: 'text/html',
  text: body,
  fault,
  readable: true,
  atMs: 0,
  elapsedMs: 0,
});

/** The outcome of a scan whose tag, or whose wrapper's document, has this response. */
async function endsAt(url: string, answer: Answer): Promise<FailureCode | null> {
  const root = url === TAG ? fetched(TAG, answer) : fetched(TAG, { status: 200, body: WRAPPER });
  const resolution = await unwrap(root, async () => fetched(NEXT, answer));
  const entry = { ...emptyEntry(url, 'GET', 0), statusCode: answer.status ?? 0, fault: answer.fault ?? '' };
  const visit = visitOutcome(resolution, { entries: () => [{ ...entry, ...answer.journal }] });
  if (visit.failure) return visit.failure.code;
  return failureOfVisit(visit.error, visit.document ? { ...visit.document, silentMs: 0 } : null, null);
}

const PAGE = '<!doctype html><title>an error</title>';
const ERROR = '<h1>an error';

/** A response, the failure if it is the tag's own, and the failure if it is a wrapped document's. P: permanent, T: transient. */
const ENDS: [what: string, answer: Answer, tag: string, wrapper: string][] = [
  ['404', { status: 404 }, 'vast: INVALID P', 'vast: WRAPPER_UNREACHABLE P'],
  ['404 with a page', { status: 404, body: PAGE }, 'vast: INVALID P', 'vast: WRAPPER_UNREACHABLE P'],
  ['404 with an ad', { status: 404, body: INLINE }, 'vast: INVALID P', 'vast: WRAPPER_UNREACHABLE P'],
  ['410', { status: 410, body: ERROR }, 'vast: INVALID P', 'vast: WRAPPER_UNREACHABLE P'],
  ['500', { status: 500, body: ERROR }, 'navigation: CONNECTION_FAILED T', 'vast: WRAPPER_UNREACHABLE T'],
  ['503', { status: 503 }, 'navigation: CONNECTION_FAILED T', 'vast: WRAPPER_UNREACHABLE T'],
  ['an empty answer', { status: 200 }, 'vast: NO_AD P', 'vast: NO_AD P'],
  ['204', { status: 204 }, 'vast: NO_AD P', 'vast: NO_AD P'],
  ['a page', { status: 200, body: PAGE }, 'vast: INVALID P', 'vast: INVALID P'],
  ['text', { status: 200, body: 'not now' }, 'vast: INVALID P', 'vast: INVALID P'],
  ['other XML', { status: 200, body: '<DAAST version="1.0"/>' }, 'vast: INVALID P', 'vast: INVALID P'],
  ['a document without an ad', { status: 200, body: '<VAST/>' }, 'vast: NO_AD P', 'vast: NO_AD P'],
  [
    'an unknown name',
    { fault: 'gateway: dns', journal: { statusCode: 590, gateway: 'dns', fault: '' } },
    'navigation: DNS T',
    'vast: WRAPPER_UNREACHABLE T',
  ],
  [
    'a private address',
    { fault: 'gateway: private_address', journal: { statusCode: 590, gateway: 'private_address', fault: '' } },
    'navigation: BLOCKED_URL P',
    'vast: WRAPPER_UNREACHABLE P',
  ],
  [
    'a refused connection',
    { fault: 'gateway: connection_refused', journal: { statusCode: 591, gateway: 'connection_refused', fault: '' } },
    'navigation: CONNECTION_FAILED T',
    'vast: WRAPPER_UNREACHABLE T',
  ],
  ['a reset', { fault: 'net::ERR_EMPTY_RESPONSE' }, 'navigation: CONNECTION_FAILED T', 'vast: WRAPPER_UNREACHABLE T'],
  [
    'silence',
    { fault: 'net::ERR_TIMED_OUT', journal: { fault: 'net::ERR_ABORTED' } },
    'navigation: TIMEOUT T',
    'vast: WRAPPER_UNREACHABLE T',
  ],
  [
    'half a document, then silence',
    { status: 200, body: '<VAST>', fault: 'net::ERR_TIMED_OUT', journal: { fault: 'net::ERR_ABORTED' } },
    'navigation: TIMEOUT T',
    'vast: WRAPPER_UNREACHABLE T',
  ],
  [
    'redirects in a circle',
    { fault: 'net::ERR_TOO_MANY_REDIRECTS' },
    'navigation: TOO_MANY_REDIRECTS P',
    'vast: WRAPPER_UNREACHABLE P',
  ],
  [
    'a redirect to a file',
    { fault: 'net::ERR_UNSAFE_REDIRECT' },
    'navigation: BLOCKED_URL P',
    'vast: WRAPPER_UNREACHABLE P',
  ],
  [
    'an http address on an https page',
    { fault: MIXED_CONTENT },
    'navigation: BLOCKED_URL P',
    'vast: WRAPPER_UNREACHABLE P',
  ],
];

it('a document over http on an https page is mixed content', () => {
  const pages = ['https://news.example/', 'http://news.example/'];
  const seen = pages.map((page) =>
    ['HTTP://ads.example/', 'https://ads.example/'].map((url) => isMixedContent(page, url)),
  );
  assert.deepEqual(seen, [
    [true, false],
    [false, false],
  ]);
});

describe('a VAST tag without an ad', () => {
  const written = (code: FailureCode | null) => code && `${publicTextOf(code)} ${isTransient(code) ? 'T' : 'P'}`;

  for (const [what, answer, tag, wrapper] of ENDS) {
    it(`a VAST tag whose own URL returns ${what} ends as ${tag}`, async () => {
      assert.equal(written(await endsAt(TAG, answer)), tag);
    });

    it(`a VAST tag whose wrapper leads to ${what} ends as ${wrapper}`, async () => {
      assert.equal(written(await endsAt(NEXT, answer)), wrapper);
    });
  }
});
