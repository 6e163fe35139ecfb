import { observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { oneTag } from './one-tag.ts';

/** Pages, frames and creatives that begin a download without a click. */
export const autoDownload: Detector = { name: 'auto_download', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const files = observationsOf(observations, 'auto_download');
  return oneTag(
    'auto_download',
    files.map(({ landing, facts }) => ({ landing, text: `${facts.file_name} from ${facts.file_url}` })),
  );
}
