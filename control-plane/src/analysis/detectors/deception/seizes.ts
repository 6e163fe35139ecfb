import { type Observation, observationsOf } from '@adsweep/shared/capture/observations/index.ts';

/** Whether a landing held its visitor by itself: with dialogs, windows, sound, the whole screen, vibration or a filled history. Pure. */
export function seizes(all: readonly Observation[], landing: number): boolean {
  const own = all.filter((one) => one.landing === landing);
  return (
    observationsOf(own, 'dialogs').length > 0 ||
    observationsOf(own, 'popups').some(({ facts }) => facts.without_gesture > 0) ||
    observationsOf(own, 'unprompted_call').some(({ facts }) => ['fullscreen', 'vibration'].includes(facts.demand)) ||
    observationsOf(own, 'autosound').some(({ facts }) => !facts.muted && facts.volume > 0 && facts.has_audio) ||
    observationsOf(own, 'back_button').some(({ facts }) => facts.copies >= 3)
  );
}
