import type { ScanRecord } from '../../scan/scan.ts';
import type { SeenEvidence } from './seen-evidence.ts';

/**
 * The URL of the page that an ad stands on, which is the client's own and private; '' = there is none, or nothing was seen. A VAST
 * document that the client sent as text has that page's URL among the documents of its scan.
 */
export function publisherUrl({ target }: ScanRecord, { creative, vast }: SeenEvidence): string {
  if (creative) return creative.page_url;
  const isText = target.kind === 'vast_tag' && !/^\s*https?:/i.test(target.value);
  return (isText && vast?.wrappers[0]?.url) || '';
}
