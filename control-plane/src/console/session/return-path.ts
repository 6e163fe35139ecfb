import type { IncomingHttpHeaders } from 'node:http';

/** A place of no website, to resolve paths against. */
const NOWHERE = 'http://console.invalid';

/**
 * The path and query of a page of the console below `base`, from what a request says; `base` itself for everything
 * else, such as the address of another site. It is compared as a browser would read it.
 */
export function returnPath(sent: string | null, base: string): string {
  const url = sent === null ? null : URL.parse(sent, NOWHERE);
  const isOurs = url?.origin === NOWHERE && (url.pathname === base || url.pathname.startsWith(`${base}/`));
  return isOurs ? url.pathname + url.search : base;
}

/** The path of the page whose link or form led here; null: it is not known. */
export function pathOfReferrer({ referer = '' }: IncomingHttpHeaders): string | null {
  const url = URL.parse(referer);
  return url && url.pathname + url.search;
}
