import { STATUS_CODES } from 'node:http';
import type { HopKind } from '@adsweep/shared/capture/hop.ts';
import type { PlayedAd, VastOutcome } from '@adsweep/shared/capture/vast.ts';
import { FAILURE_CODES, type FailureCode } from '@adsweep/shared/failures.ts';
import { VAST_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { TargetKind } from '@adsweep/shared/scan/target.ts';

/** The scanned target, for a heading. */
export const TARGETS: Record<TargetKind, string> = { url: 'Page', ad_tag: 'Ad tag', vast_tag: 'Video ad tag' };

/** Short names of the states, for a badge. */
export const STATUSES: Record<ScanStatus, string> = {
  pending: 'waiting',
  running: 'running',
  crawled: 'checking',
  checking: 'checking',
  rechecking: 'checking again',
  completed: 'completed',
  partial: 'partly checked',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** How a step of a chain came about; an `http` one is named by the status code that caused it. */
export const HOPS: Record<Exclude<HopKind, 'initial' | 'http'>, string> = {
  meta_refresh: 'meta refresh',
  refresh_header: 'refresh header',
  script: 'script',
  form: 'form',
  anchor: 'link',
  history: 'history',
  other: 'navigation',
};

/** What became of a document of a video ad tag. */
export const VAST_OUTCOMES: Record<VastOutcome, string> = {
  ads: 'has an ad',
  no_ad: 'has no ad',
  invalid: 'is not a VAST document',
  too_large: `is larger than ${VAST_LENGTH_MAX.toLocaleString('en')} characters`,
  refused: 'was refused by its server',
  unanswered: 'did not come: no answer',
  loop: 'leads in a circle',
  limit: 'was not asked for: too many wrappers',
  not_followed: 'is a wrapper, where the one before allows none',
};

/** How a video ad was shown. */
export const SHOWN: Record<PlayedAd['shown'], string> = {
  video: 'played as a video',
  vpaid: 'ran as a script in the player (VPAID)',
  nonlinear: 'shown over the content',
  nothing: 'not shown',
};

/** Error codes of a player (VAST 4.3, 2.3.6.3), as they may stand beside an ad. */
export const VAST_ERRORS: Record<number, string> = {
  101: 'the ad has nothing that a player can show',
  401: 'the video file was not found',
  402: 'the video file did not arrive in time',
  403: 'no video file is of a type that the device plays',
  405: 'the video file cannot be displayed',
  502: 'the overlay could not be loaded',
  503: 'no overlay is of a type that the device shows',
  602: 'a required companion cannot be shown',
  901: 'the script of the ad failed',
};

const FAILURES: Record<FailureCode, string> = {
  'proxy: NODE_NOT_FOUND':
    'No exit matches the place that was asked for, so the target could not be visited from there.',
  'proxy: ACCOUNT_REFUSED': 'The exit provider refused the account, so the target was never reached.',
  'proxy: NODE_BUSY': 'All exits in that place were busy.',
  'proxy: UPSTREAM_FAILED': 'The exit broke down on the way to the target.',
  'proxy: RATE_LIMITED': 'The exit provider asked to slow down.',
  'navigation: TIMEOUT': 'The target did not answer in time.',
  'navigation: CONNECTION_FAILED': 'The target refused the connection, or cut it.',
  'navigation: DNS': 'The name of the target could not be resolved.',
  'navigation: TLS': 'No encrypted connection to the target could be made.',
  'navigation: BLOCKED_URL': 'The address is one that scans do not visit, such as that of a private network.',
  'navigation: TOO_MANY_REDIRECTS': 'The target went on redirecting and never arrived anywhere.',
  'navigation: DOWNLOAD': 'The target is a file that wants to be downloaded, not a page.',
  'navigation: NO_CONTENT': 'The target answered that it has nothing to show.',
  'ad_tag: INVALID': 'The ad tag holds nothing that a browser could show.',
  'vast: INVALID': 'The video ad tag is not a VAST document, or too large a one.',
  'vast: NO_AD': 'The video ad tag has no ad, or leads to none.',
  'vast: WRAPPER_LIMIT': 'The video ad tag leads from wrapper to wrapper, more than five, or in a circle.',
  'vast: WRAPPER_UNREACHABLE': 'A wrapper of the video ad tag leads to a document that its server does not give.',
  'vast: WRAPPER_UNANSWERED': 'A wrapper of the video ad tag leads to a server that did not answer.',
  'browser: CRASHED': 'The page crashed the browser.',
  'browser: OUT_OF_MEMORY': 'The page used up all the memory that it may have.',
  'browser: TIMEOUT': 'The page kept the browser so busy that the scan could not be finished.',
  'node: LOST': 'The machine that ran this scan was lost. This is our failure, not that of the target.',
  'internal: ERROR': 'Something went wrong on our side. This is our failure, not that of the target.',
};

/** What a failure code means, for people. */
export function failureWords(error: string): string {
  const code = FAILURE_CODES.find((known) => known === error);
  return code ? FAILURES[code] : 'The scan could not be finished.';
}

/** `404 Not Found`; `no answer` for 0. */
export const statusWords = (code: number): string =>
  code === 0 ? 'no answer' : `${code} ${STATUS_CODES[code] ?? ''}`.trim();

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

/** A moment such as `21 Nov 2025, 20:07 UTC`. */
export const timeWords = (at: Date): string => `${times.format(at)} UTC`;

/** `43 bytes`, `12 KB`, `3.4 MB`. */
export function sizeWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
