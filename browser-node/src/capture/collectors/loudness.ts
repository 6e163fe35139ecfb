import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';

/** How certain an attempt to play would be heard: of several, the highest is kept. Pure. */
export const loudness = ({ muted, volume, has_audio, started }: ObservationOf<'autosound'>['facts']): number =>
  (!muted && volume > 0 ? 4 : 0) + (has_audio ? 2 : 0) + (started ? 1 : 0);
