import { observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { oneTag } from './one-tag.ts';

/** A page may ask once, and ask again; a third dialog keeps the visitor. */
const DIALOGS_OF_A_LOOP = 3;

/** Pages that show one dialog after the other. */
export const dialogLoop: Detector = { name: 'dialog_loop', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const loops = observationsOf(observations, 'dialogs').filter(({ facts }) => facts.count >= DIALOGS_OF_A_LOOP);
  return oneTag(
    'dialog_loop',
    loops.map(({ landing, facts }) => ({ landing, text: `${facts.count} dialogs` })),
  );
}
