import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import type { LinearParts } from './play-linear.ts';

/** What ads are played with. */
export type Player = Omit<LinearParts, 'until'> & {
  emulator: Pick<Emulator, 'browser' | 'category'>;
  /** In device pixels. */
  pixelWidth: number;
  /** Clicks at what is shown, once for the whole tag; the trackers and the URL are the ad's own. */
  click: (url: string, trackers: string[]) => Promise<void>;
  files: CaptureFile[];
};

/** The same, with the end of the time of all ads by `performance.now()`. */
export type TimedPlayer = Player & { until: number };

/** How showing an ad ended; `mediafile_url` where a file or a script was taken. */
export type ShowOutcome = Pick<PlayedAd, 'shown' | 'played_ms' | 'media' | 'error_code'> & {
  picture: Buffer | null;
  mediafile_url?: string;
};

/** An ad that was not shown, and the code that tells why (VAST 4.3, 2.3.6.3). */
export const notShown = (errorCode: number): ShowOutcome => ({
  shown: 'nothing',
  played_ms: 0,
  media: [],
  error_code: errorCode,
  picture: null,
});
