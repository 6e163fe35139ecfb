import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { oneTag } from './one-tag.ts';

/** A page that needs fonts for itself tries a handful; lists of those that tell visitors apart have fifty and more. */
const FONTS_OF_A_LIST = 32;
/** Each trait alone has honest uses: text that is drawn for a picture, a sound that is computed, a font that is looked for. */
const TRAITS_MIN = 2;

/** Pages that measure the browser in several ways at once, which only serves to know it again. */
export const fingerprinting: Detector = { name: 'fingerprinting', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const signs = observationsOf(observations, 'fingerprint')
    .map(({ landing, facts }) => ({ landing, traits: traitsOf(facts) }))
    .filter(({ traits }) => traits.length >= TRAITS_MIN);
  return oneTag(
    'fingerprinting',
    signs.map(({ landing, traits }) => ({ landing, text: traits.join(', ') })),
  );
}

function traitsOf({ canvas_reads, audio_renders, fonts }: ObservationOf<'fingerprint'>['facts']): string[] {
  return [
    canvas_reads > 0 ? `${canvas_reads} drawings of text read back` : [],
    audio_renders > 0 ? `${audio_renders} sounds rendered` : [],
    fonts >= FONTS_OF_A_LIST ? `${fonts} fonts tried` : [],
  ].flat();
}
