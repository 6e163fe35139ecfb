import type { Need } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import { vastForm } from './vast-form.ts';
import { vastMedia } from './vast-media.ts';
import { vastTechniques } from './vast-techniques.ts';
import { vastTrackers } from './vast-trackers.ts';

/** What is read from a VAST tag, in the order in which tags are listed. */
export const vastDetectors: Detector<Need>[] = [vastMedia, vastTechniques, vastTrackers, vastForm];
