import { observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';

/** Creatives where some buttons or links do not open the landing (spec 2.5). */
export const creativeInteractive: Detector = { name: 'creative_interactive', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  return observationsOf(observations, 'creative_interactive').flatMap(({ facts: { clicked, inert } }) => {
    if (inert === '') return [];
    const detail = `${inert} opened nothing; ${clicked} ${clicked === 1 ? 'thing was' : 'things were'} clicked`;
    return [{ tag_slug: 'creative_interactive', detail, url: '', surface: 'creative' as const }];
  });
}
