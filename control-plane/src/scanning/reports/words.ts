import { STATUS_CODES } from 'node:http';
import type { AdKind } from '@adsweep/shared/capture/ad-block.ts';
import type { HopKind } from '@adsweep/shared/capture/hop.ts';
import type { ScannedKind } from '@adsweep/shared/capture/scanned-kind.ts';
import type { PlayedAd, VastOutcome } from '@adsweep/shared/capture/vast.ts';
import { FAILURE_CODES, type FailureCode } from '@adsweep/shared/failures.ts';
import { VAST_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';

/** What is scanned, for a heading. An ad on a page is introduced by its page. */
export const TARGETS: Record<ScannedKind, string> = {
  url: 'Page',
  ad_tag: 'Ad tag',
  vast_tag: 'Video ad tag',
  banner: 'Page with the ad',
  video: 'Page with the ad',
  pop: 'Page that opened it',
};

/** The formats of ads on a page. */
export const AD_KIND_WORDS: Record<AdKind, string> = { banner: 'Banner', video: 'Video ad', pop: 'Pop' };

/** Short names of the states, for a badge. */
export const STATUSES: Record<ScanStatus, string> = {
  pending: 'waiting',
  running: 'running',
  crawled: 'analysing',
  checking: 'analysing',
  rechecking: 'analysing again',
  completed: 'completed',
  partial: 'partly analysed',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** The kinds of navigation that lead to a hop; an `http` redirect is named by its status code. */
export const HOPS: Record<Exclude<HopKind, 'initial' | 'http'>, string> = {
  meta_refresh: 'meta refresh',
  refresh_header: 'refresh header',
  script: 'script',
  form: 'form',
  anchor: 'link',
  history: 'history',
  other: 'navigation',
};

/** The outcome of each document of a video ad tag. */
export const VAST_OUTCOMES: Record<VastOutcome, string> = {
  ads: 'has an ad',
  no_ad: 'has no ad',
  invalid: 'is not a VAST document',
  too_large: `is larger than ${VAST_LENGTH_MAX.toLocaleString('en')} characters`,
  refused: 'was refused by its server',
  unanswered: 'was not loaded: no response',
  loop: 'repeats an earlier wrapper',
  limit: 'was not requested: too many wrappers',
  not_followed: 'is a wrapper, which the previous wrapper does not allow',
};

/** How a video ad was shown. */
export const SHOWN: Record<PlayedAd['shown'], string> = {
  video: 'played as a video',
  vpaid: 'ran as a script in the player (VPAID)',
  nonlinear: 'shown over the content',
  nothing: 'not shown',
};

/** The error codes that a player can report for an ad (VAST 4.3, 2.3.6.3). */
export const VAST_ERRORS: Record<number, string> = {
  101: 'the ad has nothing that the player can show',
  401: 'the video file was not found',
  402: 'the video file did not arrive in time',
  403: 'no video file has a type that the device supports',
  405: 'the video file cannot be displayed',
  502: 'the overlay could not be loaded',
  503: 'no overlay has a type that the device supports',
  602: 'a required companion cannot be shown',
  901: 'the script of the ad failed',
};

const FAILURES: Record<FailureCode, string> = {
  'proxy: NODE_NOT_FOUND': 'There is no exit in the requested place, so the target could not be visited from there.',
  'proxy: ACCOUNT_REFUSED': 'The exit provider refused the account, so the target was never reached.',
  'proxy: NODE_BUSY': 'All exits in the requested place were busy.',
  'proxy: UPSTREAM_FAILED': 'The connection through the exit failed.',
  'proxy: RATE_LIMITED': 'The exit provider limited the request rate.',
  'navigation: TIMEOUT': 'The target did not respond in time.',
  'navigation: CONNECTION_FAILED': 'The target refused or closed the connection.',
  'navigation: DNS': 'The host name of the target could not be resolved.',
  'navigation: TLS': 'An encrypted connection to the target could not be established.',
  'navigation: BLOCKED_URL': 'Scans do not visit this address, for example because it is in a private network.',
  'navigation: TOO_MANY_REDIRECTS': 'The target redirected too many times.',
  'navigation: DOWNLOAD': 'The target is a file download, not a page.',
  'navigation: NO_CONTENT': 'The target returned no content.',
  'ad_tag: INVALID': 'The ad tag contains nothing that a browser can show.',
  'vast: INVALID':
    'The video ad tag is not a VAST document, or the document is too large. A VMAP playlist is none: scan the tags that it names.',
  'vast: NO_AD': 'Neither the video ad tag nor its wrappers contain an ad.',
  'vast: WRAPPER_LIMIT': 'The video ad tag has a chain of more than five wrappers, or its wrappers form a loop.',
  'vast: WRAPPER_UNREACHABLE': 'A wrapper of the video ad tag refers to a document that its server did not return.',
  'vast: WRAPPER_UNANSWERED': 'A wrapper of the video ad tag refers to a server that did not respond.',
  'browser: CRASHED': 'The page crashed the browser.',
  'browser: OUT_OF_MEMORY': 'The page exceeded its memory limit.',
  'browser: TIMEOUT': 'The page kept the browser so busy that the scan could not be finished.',
  'ad_discovery: AD_GONE': 'The ad was not on the page any more.',
  'node: LOST': 'The machine that ran this scan was lost. This is our failure, not that of the target.',
  'internal: ERROR': 'Something went wrong on our side. This is our failure, not that of the target.',
};

/** A sentence that explains a failure code. */
export function failureWords(error: string): string {
  const code = FAILURE_CODES.find((known) => known === error);
  return code ? FAILURES[code] : 'The scan could not be finished.';
}

/** `404 Not Found`; `no response` for 0. */
export const statusWords = (code: number): string =>
  code === 0 ? 'no response' : `${code} ${STATUS_CODES[code] ?? ''}`.trim();

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

/** English name of an ISO 3166-1 alpha-2 code; anything else stays as it is. */
export const countryName = (code: string): string => (/^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? code) : code);

/** `340 ms`, `4.2 s`, `2 min 5 s`. */
export function durationWords(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

const times = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A date and time such as `21 Nov 2025, 20:07 UTC`. */
export const timeWords = (at: Date): string => `${times.format(at)} UTC`;

/** `1 script`, `2 scripts`. */
export const counted = (count: number, words: string): string =>
  `${count} ${count === 1 ? words.replace(/ies$/, 'y').replace(/s$/, '') : words}`;

/** `43 bytes`, `12 KB`, `3.4 MB`. */
export function sizeWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
