import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/** A page load that a frame requests: the frame's URL, the destination and the method. */
export type Navigation = { from: string; to: string; method: string };

/**
 * Whether a page load in a frame that shows a creative, after a click on it, leads to a landing. A creative that loads itself again, such
 * as the next slide of a carousel at the same address, does not; nor can a form that was sent be sent again in another tab. Pure.
 */
export function isClickThrough({ from, to, method }: Navigation): boolean {
  if (method !== 'GET' || !/^https?:/i.test(to)) return false;
  const [here, there] = [URL.parse(from), URL.parse(to)];
  if (!here || !there || !/^https?:$/.test(here.protocol)) return true;
  return registrableDomain(from) !== registrableDomain(to) || here.pathname !== there.pathname;
}
