import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import type { FetchedBody } from '../collectors/collector.ts';
import type { FramedObservation } from '../collectors/framed-observations.ts';
import type { FrameTree } from '../devtools/frame-tree.ts';
import { CONSPICUOUS_FRAME_BYTES } from '../session/budgets.ts';
import type { Entry } from '../session/journal-entry.ts';

/** An ad of a page that has a scan of its own. */
export type SharingAd = {
  block: { width: number; height: number };
  /** The frames that show it; frames in them are its own too. */
  frameIds: readonly string[];
  /** The target id of its own tab, if it is a window that opened; null: it is on the page. */
  ownTab: string | null;
  ownsRequest(entry: Entry): boolean;
};

/**
 * What one session recorded of a page and its ads. `frameBytes`: what each frame loaded by itself, in bytes as they
 * were sent. `landing` of observations and documents is that of the session; `tabOf`: the target id of the tab with
 * this ordinal, null = the tab with the page if that is no landing.
 */
export type Recorded = {
  observations: readonly FramedObservation[];
  documents: readonly CapturedDocument[];
  bodies: readonly FetchedBody[];
  entries: readonly Entry[];
  frameBytes: ReadonlyMap<string, number>;
  frames: Pick<FrameTree, 'nearest'>;
  tabOf(landing: number | null): string | null;
};

/** What the page, or one of its ads, is responsible for. */
export type Share = {
  observations: FramedObservation[];
  documents: CapturedDocument[];
  bodies: FetchedBody[];
  entries: Entry[];
};

/**
 * Splits what a session recorded between a page and its ads, in the order of `ads`. What happened in a frame of an ad
 * is the ad's, with `landing` null: its own capture is about it as the creative. What happened in the tab of a pop is
 * the pop's, as its landing 0. Everything else is the page's, as it was recorded; so is what an ad without a scan did.
 * Pure.
 */
export function shareObservations(recorded: Recorded, ads: readonly SharingAd[]): { page: Share; ads: Share[] } {
  const owners = new Owners(recorded, ads);
  const shares = ads.map(emptyShare);
  const page = emptyShare();
  const shareOf = (owner: Owner) => (owner ? (shares[owner.at] as Share) : page);
  for (const observation of recorded.observations) {
    const owner = owners.ofFrame(observation.frameId, observation.landing);
    const own = observation.kind === 'frame_weight' ? withoutAds(observation, recorded, owners) : observation;
    if (own) shareOf(owner).observations.push({ ...own, landing: landingFor(owner, own.landing) });
  }
  for (const document of recorded.documents) {
    const owner = owners.ofFrame(document.frame || null, document.landing);
    shareOf(owner).documents.push({ ...document, landing: landingFor(owner, document.landing) });
  }
  for (const one of recorded.bodies) shareOf(owners.ofRequest(one.entry)).bodies.push(one);
  for (const entry of recorded.entries) shareOf(owners.ofRequest(entry)).entries.push(entry);
  for (const [at, ad] of ads.entries()) shares[at]?.observations.push(...weightOf(ad, recorded));
  return { page, ads: shares };
}

export const emptyShare = (): Share => ({ observations: [], documents: [], bodies: [], entries: [] });

/** The place of an ad in the list, and whether it owns the tab; null: the page. */
type Owner = { at: number; ownsTab: boolean } | null;

const landingFor = (owner: Owner, landing: number | null): number | null =>
  owner === null ? landing : owner.ownsTab ? 0 : null;

/** Finds the ad that is responsible for a frame, a tab or a request. */
class Owners {
  readonly #recorded: Recorded;
  readonly #ads: readonly SharingAd[];
  readonly #byFrame: ReadonlyMap<string, number>;
  readonly #adFrames: ReadonlySet<string>;

  constructor(recorded: Recorded, ads: readonly SharingAd[]) {
    this.#recorded = recorded;
    this.#ads = ads;
    this.#byFrame = new Map(ads.flatMap(({ frameIds }, at) => frameIds.map((frameId) => [frameId, at] as const)));
    this.#adFrames = new Set(this.#byFrame.keys());
  }

  /** The owner of what a frame did, or the tab with the ordinal `landing` where the frame is not known. */
  ofFrame(frameId: string | null, landing: number | null): Owner {
    const at = this.#adOf(frameId);
    return at === undefined ? this.#ofTab(this.#recorded.tabOf(landing)) : { at, ownsTab: false };
  }

  ofRequest(entry: Entry): Owner {
    const at = this.#ads.findIndex((ad) => ad.ownsRequest(entry));
    return at >= 0 ? { at, ownsTab: false } : this.#ofTab(entry.tab);
  }

  /** Whether a frame is in `outer`, and is an ad's. */
  isAdIn(frameId: string, outer: string): boolean {
    return this.#adOf(frameId) !== undefined && this.#recorded.frames.nearest(frameId, new Set([outer])) !== null;
  }

  #adOf(frameId: string | null): number | undefined {
    const found = this.#recorded.frames.nearest(frameId, this.#adFrames);
    return found === null ? undefined : this.#byFrame.get(found);
  }

  #ofTab(tab: string | null): Owner {
    const at = tab === null ? -1 : this.#ads.findIndex(({ ownTab }) => ownTab === tab);
    return at < 0 ? null : { at, ownsTab: true };
  }
}

/**
 * The weight of a frame of the page without the ads in it; null: it is light then, or an ad's, whose weight is that of
 * all its frames.
 */
function withoutAds(
  weight: FramedObservation<'frame_weight'>,
  { frameBytes }: Recorded,
  owners: Owners,
): FramedObservation<'frame_weight'> | null {
  const { facts, frameId } = weight;
  const ofAds = [...frameBytes].filter(([frame]) => frameId !== null && owners.isAdIn(frame, frameId));
  const bytes = facts.bytes - sumOf(ofAds);
  return bytes < CONSPICUOUS_FRAME_BYTES ? null : { ...weight, facts: { ...facts, bytes } };
}

/** The weight of an ad, if it is conspicuous. */
function weightOf({ block, frameIds }: SharingAd, { frameBytes, frames }: Recorded): FramedObservation[] {
  const own = new Set(frameIds);
  const bytes = sumOf([...frameBytes].filter(([frame]) => frames.nearest(frame, own) !== null));
  if (bytes < CONSPICUOUS_FRAME_BYTES) return [];
  const facts = { bytes, width: block.width, height: block.height };
  return [{ kind: 'frame_weight', landing: null, url: '', facts, frameId: frameIds[0] ?? null }];
}

const sumOf = (bytes: readonly (readonly [string, number])[]): number => bytes.reduce((sum, [, each]) => sum + each, 0);
