import type { AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { TargetSession } from '../devtools/devtools.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { OpenTab } from '../session/open-tabs.ts';

/** An element of a page, by the id that CDP knows it by as long as its document lives. */
export type PageElement = { session: TargetSession; backendNodeId: number };

/** Whether both are one element; null is none. */
export const isSameElement = (a: PageElement | null, b: PageElement | null): boolean =>
  a !== null && a.backendNodeId === b?.backendNodeId && a.session.targetId === b.session.targetId;

/** An ad that was found on a page, with what is needed to look at it, to click it, and to know what it does. */
export type FoundAd = {
  block: AdBlock;
  /** The slot; null for a pop, which is a tab and not an element. */
  element: PageElement | null;
  /** What of the page's own document the slot is, or is in; null: a pop, or it is not known. */
  inPage: PageElement | null;
  /**
   * Describes where the slot is in its page, alike on every load; '': a pop, or several slots of the page are described
   * alike.
   */
  description: string;
  /** The frames that show the ad, outermost first; none if it is part of the page's own document, or a pop. */
  frameIds: string[];
  /** The tab with the page; for a pop, the tab that opened, and for a tab-under the page's own tab. */
  tab: OpenTab;
  /**
   * What of the page's own document covers it with the ad, and maybe with others, until a visitor closes it; null: the
   * ad covers nothing.
   */
  overlay: PageElement | null;
  /** What closes the overlay; null: there is none, or none was found. The caller clicks it. */
  closeButton: PageElement | null;
  /** Whether a request is the ad's: of its frames, or of the scripts that made it. */
  ownsRequest(entry: Entry): boolean;
};
