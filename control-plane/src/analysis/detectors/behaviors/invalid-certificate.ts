import type { Detector } from '../detector.ts';
import type { Evidence } from '../evidence.ts';
import type { Finding } from '../finding.ts';
import { textFact } from '../read-fact.ts';

/** Documents whose certificate browsers refuse; the crawl takes them all the same, to see what is behind. */
export const invalidCertificate: Detector = { name: 'invalid_certificate', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  return observations
    .filter(({ kind }) => kind === 'invalid_certificate')
    .map((observation) => {
      const detail = [textFact(observation, 'host'), textFact(observation, 'reason')].filter(Boolean).join(': ');
      return { tag_slug: 'invalid_certificate', detail, url: observation.url, surface: 'page' as const };
    });
}
