import { CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { ALLOWED, INSIDE } from '../../browser/request-guard.ts';

/** A URL cut to the length that captures keep. A copy: a slice would keep the whole string in memory. */
export function clipUrl(url: string): string {
  return url.length <= CAPTURE_URL_LENGTH_MAX
    ? url
    : Buffer.from(url.slice(0, CAPTURE_URL_LENGTH_MAX)).toString('utf8').toWellFormed();
}

/**
 * Whether the host of a URL is longer than hosts can be: 253 characters (RFC 1035 section 2.3.4) and a port of five
 * digits.
 */
export const hasImpossibleHost = (url: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^/?#]{260}/i.test(url);

/** Whether a browser shows what is at a URL itself; others belong to apps. */
export const isOfBrowser = (url: string): boolean => ALLOWED.test(url);

/**
 * Whether a parsed URL belongs to an app that a page may open: browsers let no page go to their own addresses and to
 * files.
 */
export const isOfApp = (url: string): boolean => !isOfBrowser(url) && !INSIDE.some((start) => url.startsWith(start));

/** Whether a server is asked for what is at a URL; others belong to apps, or name what a page made itself (`blob:`). */
export const isOfServer = (url: string): boolean => /^https?:/i.test(url);

/** A URL without its fragment, which no server sees. */
export const withoutFragment = (url: string): string => url.split('#')[0] as string;

/**
 * A URL as servers and proxies see it: without its fragment and its credentials, which are in a header of their own.
 */
export const asSent = (url: string): string => withoutFragment(url).replace(/^(https?:\/\/)[^/?]*@/i, '$1');

/**
 * Comparison key of a URL, without scheme and fragment: Chromium upgrades http images and media of an https page to
 * https. Pure.
 */
export const urlKey = (url: string): string => withoutFragment(clipUrl(url)).replace(/^https?:/i, '');
