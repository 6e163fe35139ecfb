import { isRendered } from '@adsweep/shared/capture/creative.ts';
import { observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Detector } from '../detector.ts';

/** Ads that render nothing visible. */
export const creativeEmpty: Detector = {
  name: 'creative_empty',
  needs: [],
  detect({ creative }) {
    if (!creative || isRendered(creative)) return [];
    return [{ tag_slug: 'creative_empty', detail: 'nothing was rendered', url: '', surface: 'creative' }];
  },
};

/** Creatives in which some buttons or links do not open the landing (spec 2.5). */
export const creativeInteractive: Detector = {
  name: 'creative_interactive',
  needs: [],
  detect: ({ observations }) =>
    observationsOf(observations, 'creative_interactive').flatMap(({ facts: { clicked, inert } }) => {
      if (inert === '') return [];
      const detail = `${inert} opened nothing; ${clicked} ${clicked === 1 ? 'thing was' : 'things were'} clicked`;
      return [{ tag_slug: 'creative_interactive', detail, url: '', surface: 'creative' as const }];
    }),
};
