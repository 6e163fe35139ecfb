import type { CapturedCreative } from '@adsweep/shared/capture/creative.ts';
import type { CaptureFile } from './capture-outcome.ts';
import type { OpenTab } from './landings.ts';

/**
 * The creative of an ad tag or VAST tag as it was found: the tab that shows it, the frame (CDP's id) of the innermost document with an
 * address of its own that does, what is told of it, and its picture and markup.
 */
export type SeenCreative = {
  tab: OpenTab;
  frameId: string;
  facts: Omit<CapturedCreative, 'redirect_chain'>;
  files: CaptureFile[];
  /**
   * Whether some of its buttons or links open nothing, found out by clicking them; called once its landings are captured. Takes `budgetMs`
   * at most. Absent: it is not checked.
   */
  checkInteractive?: (budgetMs: number) => Promise<{ clicked: number; inert: string }>;
};
