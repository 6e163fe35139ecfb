import { observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { oneTag } from './one-tag.ts';

const WINDOWS_OF_A_BOMB = 3;

/** Pages that open many windows, or any without a click. */
export const popupBomb: Detector = { name: 'popup_bomb', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const bombs = observationsOf(observations, 'popups').filter(
    ({ facts }) => facts.windows >= WINDOWS_OF_A_BOMB || facts.without_gesture > 0,
  );
  return oneTag(
    'popup_bomb',
    bombs.map(({ landing, facts }) => {
      return { landing, text: `${facts.windows} windows, ${facts.without_gesture} without a click` };
    }),
  );
}
