import { isOfServer } from '../session/urls.ts';
import { adServerName } from './ad-servers.ts';
import type { PageRequest } from './page-facts.ts';

/** The parts of a URL that ask for a video ad (VAST, VMAP). */
const VIDEO_AD = /(^|[^a-z])(vast|vmap|vpaid|adtag|ad_tag|videoads?|preroll|instream|outstream)([^a-z]|\d|$)/i;
/** Google's ad server, asked for a video ad. */
const GOOGLE_VIDEO = /\/(gampad|pagead)\/(live\/)?ads\?.*\b(env=vp|output=(xml_)?v(ast|map))/i;
const DATA: ReadonlySet<string> = new Set(['xhr', 'fetch', 'other']);

/** Whether a request asks for a video ad: of an ad server, or one whose answer is XML. */
export function asksForVideoAd({ url, resourceType, contentType }: PageRequest): boolean {
  if (!isOfServer(url) || !DATA.has(resourceType)) return false;
  if (GOOGLE_VIDEO.test(url)) return true;
  const isXml = /xml/i.test(contentType) && !/html|svg|rss|atom/i.test(contentType);
  return (VIDEO_AD.test(url) && (isXml || adServerName(url) !== null)) || (isXml && adServerName(url) !== null);
}

/** The frames of Google's player for video ads. */
export const IMA_FRAME = /^https?:\/\/imasdk\.googleapis\.com\//i;
