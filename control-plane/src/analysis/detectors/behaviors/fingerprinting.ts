import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { type Detector, oneTag } from '../detector.ts';

/** A page that needs fonts itself tries a handful; fingerprinting scripts try fifty and more. */
const FONTS_OF_A_LIST = 32;
/** Each trait alone has honest uses: a page draws text, renders sound or looks for a font. */
const TRAITS_MIN = 2;

/** Pages that measure the browser in several ways at once, which only serves to recognise it. */
export const fingerprinting: Detector = {
  name: 'fingerprinting',
  needs: [],
  detect({ observations }) {
    const signs = observationsOf(observations, 'fingerprint')
      .map(({ landing, facts }) => ({ landing, traits: traitsOf(facts) }))
      .filter(({ traits }) => traits.length >= TRAITS_MIN);
    return oneTag(
      'fingerprinting',
      signs.map(({ landing, traits }) => ({ landing, text: traits.join(', ') })),
    );
  },
};

function traitsOf({ canvas_reads, audio_renders, fonts }: ObservationOf<'fingerprint'>['facts']): string[] {
  return [
    canvas_reads > 0 ? `${canvas_reads} drawings of text read back` : [],
    audio_renders > 0 ? `${audio_renders} sounds rendered` : [],
    fonts >= FONTS_OF_A_LIST ? `${fonts} fonts tried` : [],
  ].flat();
}
