import type { Evidence } from '../evidence/evidence.ts';
import type { Detector } from './detector.ts';
import type { Finding } from './finding.ts';

/** An exit that turned out to be in another country than was asked for: what the scan saw is what visitors from there see. */
export const exitMismatch: Detector = { name: 'exit_mismatch', needs: [], detect };

function detect({ exit }: Pick<Evidence, 'exit'>): Finding[] {
  const found = exit?.observed_country_code;
  if (!exit || !found || found === exit.country_code) return [];
  const detail = `An exit in ${exit.country_code} was asked for, and this one was found in ${found}.`;
  return [{ tag_slug: 'exit_mismatch', detail, url: '', surface: 'page' }];
}
