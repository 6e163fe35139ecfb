import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a form was sent by a page of this host. Browsers say so in `Sec-Fetch-Site`, or in `Origin`; a request
 * without both is none of a browser's forms.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin = '' } = headers;
  return origin === new URL(publicUrl).origin || (URL.parse(origin)?.host ?? '') === (headers.host ?? null);
}
