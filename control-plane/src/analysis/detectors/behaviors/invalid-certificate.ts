import { observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';

/** Documents whose certificate browsers refuse; the crawl takes them all the same, to see what is behind. */
export const invalidCertificate: Detector = { name: 'invalid_certificate', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  return observationsOf(observations, 'invalid_certificate').map(({ url, facts }) => {
    const detail = `${facts.host}: ${facts.reason}`;
    return { tag_slug: 'invalid_certificate', detail, url, surface: 'page' as const };
  });
}
