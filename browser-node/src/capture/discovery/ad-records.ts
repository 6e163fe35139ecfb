import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import type { ObservationKind } from '@adsweep/shared/capture/observations/index.ts';
import type { Draft } from '../collectors/collector.ts';
import type { FramedObservation } from '../collectors/framed-observations.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { Tab } from '../session/tab.ts';
import type { FoundAd } from './found-ad.ts';
import { emptyShare, type Recorded, type Share, type SharingAd, shareObservations } from './share-observations.ts';

type Part = Omit<Share, 'entries'>;

/**
 * What was recorded of the ads of one page, by the identity of each, until its own capture is put together. Each
 * session of the sweep sees all that happens on the page: the first one before anything is clicked, that of an ad what
 * the ads after it do meanwhile.
 */
export class AdRecords {
  readonly #parts = new Map<string, Part>();

  /**
   * Takes out of the draft of the page what its ads did. `ads`: those that have a scan; `pageTab`: the tab with the
   * page.
   */
  leavePage(draft: Draft, capture: MemberCapture, ads: readonly FoundAd[], pageTab: Tab): void {
    const shared = shareObservations(
      recordedIn(draft, capture, pageTab),
      ads.map((ad) => sharing(ad, pageTab)),
    );
    for (const [at, ad] of ads.entries()) this.#add(ad, shared.ads[at] ?? emptyShare());
    const { observations, documents, bodies } = shared.page;
    Object.assign(draft, { observations, documents, bodies });
  }

  /**
   * Leaves in the draft of `ad` what it did, before its session and in it, and what its landings did. What the ads in
   * `later` did is kept for them; what the page did, or an ad that had its turn, is in a capture already.
   */
  leaveAd(draft: Draft, capture: MemberCapture, ad: FoundAd, later: readonly FoundAd[], pageTab: Tab): void {
    const ads = [ad, ...later];
    const shared = shareObservations(
      recordedIn(draft, capture, pageTab),
      ads.map((one) => sharing(one, pageTab)),
    );
    for (const [at, one] of later.entries()) this.#add(one, shared.ads[at + 1] ?? emptyShare());
    const [own = emptyShare()] = shared.ads;
    const before = this.#parts.get(ad.block.identity) ?? emptyShare();
    this.#parts.delete(ad.block.identity);
    Object.assign(draft, joined(before, joined(own, ofTurn(shared.page))));
  }

  #add({ block }: FoundAd, part: Part): void {
    this.#parts.set(block.identity, joined(this.#parts.get(block.identity) ?? emptyShare(), part));
  }
}

/** What is read of documents as they are, and would count twice if two sessions read it. */
const READ = new Set<ObservationKind>(['form', 'dialog_box', 'price', 'preselected', 'placement']);

/** What two sessions recorded, the earlier one first: of what both read, what the earlier one did. */
function joined(earlier: Part, later: Part): Part {
  const wasRead = ({ kind, landing }: FramedObservation) =>
    READ.has(kind) && earlier.observations.some((one) => one.kind === kind && one.landing === landing);
  const isKnown = ({ landing, frame }: CapturedDocument) =>
    earlier.documents.some((one) => one.landing === landing && one.frame === frame);
  return {
    observations: [...earlier.observations, ...later.observations.filter((one) => !wasRead(one))],
    documents: [...earlier.documents, ...later.documents.filter((one) => !isKnown(one))],
    bodies: [...earlier.bodies, ...later.bodies],
  };
}

/** What the landings of the ad whose turn it is did, and the check of its parts found, which is in no frame. */
const ofTurn = ({ observations, documents, bodies }: Part): Part => ({
  observations: observations.filter(({ kind, landing }) => landing !== null || kind === 'creative_interactive'),
  documents,
  bodies,
});

/** A tab-under is in the tab with the page, most of which is not its own. */
const sharing = ({ block, frameIds, element, tab, ownsRequest }: FoundAd, pageTab: Tab): SharingAd => ({
  block,
  frameIds,
  ownsRequest,
  ownTab: element === null && tab.tab !== pageTab ? tab.tab.session.targetId : null,
});

function recordedIn(
  { observations, documents, bodies, frameBytes }: Draft,
  { devtools, landings }: MemberCapture,
  pageTab: Tab,
): Recorded {
  const tabs = new Map(landings.all.map(({ ord, tab }) => [ord, tab.session.targetId]));
  const tabOf = (landing: number | null) => (landing === null ? pageTab.session.targetId : (tabs.get(landing) ?? null));
  return { observations, documents, bodies, entries: [], frameBytes, frames: devtools.frames, tabOf };
}
