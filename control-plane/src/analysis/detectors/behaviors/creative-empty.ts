import { isRendered } from '@adsweep/shared/capture/creative.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';

/** Ad tags that render nothing a visitor could see. */
export const creativeEmpty: Detector = { name: 'creative_empty', needs: [], detect };

function detect({ creative }: Pick<Evidence, 'creative'>): Finding[] {
  if (!creative || isRendered(creative)) return [];
  return [{ tag_slug: 'creative_empty', detail: 'nothing was rendered', url: '', surface: 'creative' }];
}
