import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import type { TrackerLog } from './tracker-log.ts';
import type { Resolution } from './wrapper-chain.ts';

/** How a VAST tag was resolved and played: its visit fills it, and a collector turns it into a record. */
export type VastRun = { resolution: Resolution; played: PlayedAd[]; log: TrackerLog };
