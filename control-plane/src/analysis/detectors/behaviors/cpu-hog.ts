import { observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { oneTag } from './one-tag.ts';

const BUSY_SHARE = 0.8;
const BUSY_MS = 4_000;

/** Pages that keep a main thread busy long after they have loaded, or start frames and workers without end. */
export const cpuHog: Detector = { name: 'cpu_hog', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const hogs = observationsOf(observations, 'main_thread').filter(
    ({ facts }) => facts.busy_share >= BUSY_SHARE && facts.over_ms >= BUSY_MS,
  );
  const floods = observationsOf(observations, 'child_flood');
  return oneTag('cpu_hog', [
    ...hogs.map(({ landing, facts }) => {
      return { landing, text: `${Math.round(facts.busy_share * 100)} % busy over ${facts.over_ms} ms` };
    }),
    ...floods.map(({ landing, facts }) => {
      return { landing, text: `more than ${facts.children_max} frames and workers, and was stopped` };
    }),
  ]);
}
