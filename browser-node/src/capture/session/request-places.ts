import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { CaptureSession } from './capture-session.ts';
import type { OpenTab } from './landings.ts';
import type { Entry, NetworkJournal } from './network-journal.ts';
import type { SeenCreative } from './seen-creative.ts';
import type { Tab } from './tab.ts';
import { withoutFragment } from './urls.ts';

/** Where a request belongs: to a hop of a landing's chain, or to one of the creative's. */
export type Place = Pick<NetworkRequest, 'landing' | 'hop' | 'surface'>;

/** The hops of a tab that belong to its landing; those before them showed a creative. */
export const landingHops = (journal: Pick<NetworkJournal, 'hopsOf'>, { session, landingHop }: Tab): Entry[] =>
  landingHop === null ? [] : journal.hopsOf(session.targetId).slice(landingHop);

/** The documents that a creative's frame loaded, redirects included, in order. */
export function creativeDocuments(
  journal: Pick<NetworkJournal, 'hopsOf' | 'entries'>,
  { tab, frameId, facts }: Pick<SeenCreative, 'tab' | 'frameId' | 'facts'>,
): Entry[] {
  const { targetId } = tab.tab.session;
  if (frameId === targetId) return journal.hopsOf(targetId).slice(0, tab.tab.landingHop ?? undefined);
  const documents = journal.entries().filter((entry) => entry.frameId === frameId && entry.resourceType === 'document');
  // Documents loaded after the inspection, such as a landing in the creative's place, do not belong to the creative.
  const shown = documents.findLastIndex(({ url }) => withoutFragment(url) === withoutFragment(facts.url));
  return shown < 0 ? documents : documents.slice(0, shown + 1);
}

/** Assigns each request of a capture to its place. */
export function requestPlaces({ landings, journal, creative }: CaptureSession): (entry: Entry) => Place {
  const targetOf = ({ tab }: OpenTab) => tab.session.targetId;
  const all = new Map(landings.all.map((landing) => [targetOf(landing), landing]));
  const hopsOf = new Map(landings.all.map((landing) => [targetOf(landing), landingHops(journal, landing.tab)]));
  const shown = creative && targetOf(creative.tab);
  const documents = creative ? creativeDocuments(journal, creative) : [];
  return (entry) => {
    const landing = all.get(entry.tab ?? '');
    const hops = hopsOf.get(entry.tab ?? '') ?? [];
    const isLanding = landing && (entry.tab !== shown || entry.timestampMs >= (hops[0]?.timestampMs ?? Infinity));
    if (isLanding) return { landing: landing.ord, hop: hopOf(entry, hops) };
    if (shown === null || entry.tab !== shown) return { landing: null, hop: null };
    return { landing: null, hop: creativeHopOf(entry, documents), surface: 'creative' };
  };
}

/** The index of the hop whose document made a request: by its load, else the last one before it. A hop is its own. */
function hopOf(entry: Entry, hops: Entry[]): number | null {
  const own = entry.hop ? hops.indexOf(entry) : madeBy(entry, hops);
  const index = own >= 0 ? own : hops.findLastIndex((hop) => hop.timestampMs <= entry.timestampMs);
  return index >= 0 ? index : null;
}

/** The same in the creative's chain; what no document of the chain made, such as its loader's requests, stands with the last. */
function creativeHopOf(entry: Entry, documents: Entry[]): number | null {
  const own = documents.indexOf(entry);
  const index = own >= 0 ? own : madeBy(entry, documents);
  return index >= 0 ? index : documents.length > 0 ? documents.length - 1 : null;
}

const madeBy = ({ loaderId }: Entry, hops: Entry[]): number =>
  hops.findLastIndex((hop) => hop.loaderId !== '' && hop.loaderId === loaderId);
