import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { SeenCreative } from '../harness/see-creative.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import { type Entry, isLoad } from '../session/journal-entry.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import { withoutFragment } from '../session/urls.ts';

/** What a request belongs to: a hop of a landing's redirect chain, or one of the creative's. */
export type Attribution = Pick<NetworkRequest, 'landing' | 'hop' | 'surface'>;

/** The documents that a creative's frame loaded, redirects included, in order. */
export function creativeDocuments(
  { journal, landings }: Pick<MemberCapture, 'journal' | 'landings'>,
  { tab, frameId, facts, isOnPage }: SeenCreative,
): Entry[] {
  if (isOnPage) return [];
  if (frameId === tab.tab.session.targetId) return landings.creativeHops(journal, tab.tab);
  const documents = journal.entries().filter((entry) => entry.frameId === frameId && entry.resourceType === 'document');
  // Documents loaded after the inspection, such as a landing in the creative's place, do not belong to the creative.
  const shown = documents.findLastIndex(({ url }) => withoutFragment(url) === withoutFragment(facts.url));
  return shown < 0 ? documents : documents.slice(0, shown + 1);
}

/** Returns the function that attributes each request of a capture to what it belongs to. */
export function requestAttribution(capture: MemberCapture, creative?: SeenCreative): (entry: Entry) => Attribution {
  const { landings, journal } = capture;
  const targetOf = ({ tab }: OpenTab) => tab.session.targetId;
  const all = new Map(landings.all.map((landing) => [targetOf(landing), landing]));
  const hopsOf = new Map(
    landings.all.map((landing) => [targetOf(landing), landings.landingHops(journal, landing.tab)]),
  );
  const shown = creative ? targetOf(creative.tab) : null;
  const documents = creative ? creativeDocuments(capture, creative) : [];
  return (entry) => {
    const landing = all.get(entry.tab ?? '');
    const hops = hopsOf.get(entry.tab ?? '') ?? [];
    const isLanding = landing && (entry.tab !== shown || entry.timestampMs >= (hops[0]?.timestampMs ?? Infinity));
    if (isLanding) return { landing: landing.ord, hop: hopOf(entry, hops) };
    if (shown === null || entry.tab !== shown) return { landing: null, hop: null };
    return { landing: null, hop: creativeHopOf(entry, documents), surface: 'creative' };
  };
}

/**
 * The index of the hop whose document made a request: by its load, else the last one that was shown before it. A hop
 * belongs to itself.
 */
function hopOf(entry: Entry, hops: Entry[]): number | null {
  const own = entry.hop ? hops.indexOf(entry) : madeBy(entry, hops);
  const index = own >= 0 ? own : hops.findLastIndex((hop) => isShown(hop) && hop.timestampMs <= entry.timestampMs);
  return index >= 0 ? index : null;
}

/**
 * The same in the creative's chain. What no document of the chain made, such as requests of its loader, belongs to the
 * last one.
 */
function creativeHopOf(entry: Entry, documents: Entry[]): number | null {
  const own = documents.indexOf(entry);
  const index = own >= 0 ? own : madeBy(entry, documents);
  return index >= 0 ? index : documents.length > 0 ? documents.length - 1 : null;
}

/** What a server sends in place of a document; 0: nothing. */
const NO_DOCUMENT = [0, 204, 205];

/**
 * Whether a hop replaced the document that the tab showed. A hop to an app or a download, or to a response without
 * content, did not; one whose load was stopped did.
 */
const isShown = (hop: Entry): boolean => {
  const { fault, attachment, statusCode } = hop;
  return isLoad(hop) && !(fault.includes('ERR_ABORTED') && (attachment || NO_DOCUMENT.includes(statusCode)));
};

const madeBy = ({ loaderId }: Entry, hops: Entry[]): number =>
  hops.findLastIndex((hop) => hop.loaderId !== '' && hop.loaderId === loaderId);
