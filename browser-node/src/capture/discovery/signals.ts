import type { AdSignal } from '@adsweep/shared/capture/ad-block.ts';
import { adServerName } from './ad-servers.ts';
import { isFrame, type NodeRef, type PageIndex } from './page-index.ts';

/** An element of a page that a signal may tell to be an ad, or a part of one. */
export type Candidate = { page: PageIndex; ref: NodeRef; tag: string; attribute(name: string): string };

/** A sign in an element alone that it is an ad. */
export type Sign = { signal: AdSignal; tells(candidate: Candidate): boolean };

/** The addresses that a frame's element has shown, its own included; none for other elements. */
export function frameUrls({ page, ref, tag, attribute }: Candidate): string[] {
  if (!isFrame(tag)) return [];
  const inside = page.documentIn(ref);
  if (inside === null) return [attribute('src')];
  const own = page.requestsOf(inside).filter(({ resourceType }) => resourceType === 'document');
  return [...own.map(({ url }) => url), page.documentAt(inside).url, attribute('src')];
}

const SAFEFRAME_URL = /^https?:\/\/([^/]+\.safeframe\.googlesyndication\.com\/|[^?#]*\/safeframe\/)/i;

/** Each is enough for an ad block if the element shows something. */
export const SIGNS: readonly Sign[] = [
  { signal: 'ad_server_frame', tells: (one) => frameUrls(one).some((url) => adServerName(url) !== null) },
  {
    signal: 'google_publisher_tag',
    tells: ({ tag, attribute }) =>
      attribute('data-google-query-id') !== '' || (isFrame(tag) && /^google_ads_iframe_/.test(attribute('id'))),
  },
  {
    signal: 'adsense',
    tells: ({ tag, attribute }) =>
      tag === 'ins' && /\badsbygoogle\b/.test(attribute('class')) && attribute('data-ad-status') !== 'unfilled',
  },
  {
    signal: 'safeframe',
    tells: (one) =>
      frameUrls(one).some((url) => SAFEFRAME_URL.test(url)) || one.attribute('data-is-safeframe') === 'true',
  },
];

/** Elements that are slots by themselves: what is around an ad belongs to it up to the outermost of these. */
export const isSlot = ({ tag, attribute }: Candidate): boolean =>
  attribute('data-google-query-id') !== '' ||
  /^div-gpt-ad/.test(attribute('id')) ||
  /^google_ads_iframe_.*__container__$/.test(attribute('id')) ||
  (tag === 'ins' && /\badsbygoogle\b/.test(attribute('class')));

export function candidateAt(page: PageIndex, ref: NodeRef): Candidate {
  const { tag, attributes } = page.node(ref);
  return { page, ref, tag, attribute: (name) => attributes[name] ?? '' };
}
