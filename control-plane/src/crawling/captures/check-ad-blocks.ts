import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { isOpen } from '@adsweep/shared/scan/scan-status.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import type { ScanInQueue, ScanRecord } from '../../scan/scan.ts';
import { childScanId } from '../../scanning/scans/request/new-child-scan.ts';

type Sweep = Pick<ScanRecord, '_id' | 'discovery'>;

/**
 * Issues of the ad blocks in the capture of a sweep; `members` are those of its job. Each block has an identity and an
 * index of its own and a format that is swept for. The blocks that are listed as scanned have scans, and the ads whose
 * scans have not ended are among them. Pure.
 */
export function checkAdBlocks(
  { ad_blocks = [] }: Pick<Capture, 'ad_blocks'>,
  { _id, discovery }: Sweep,
  members: Pick<ScanInQueue, '_id' | 'status'>[],
): Issue[] {
  const scans = new Set(members.map((member) => member._id));
  const listed = new Set(ad_blocks.map(({ identity }) => childScanId(_id, { identity })));
  const indexes = ad_blocks.map(({ slot_index }) => slot_index);
  const identities = ad_blocks.map(({ identity }) => identity);
  const issues = ad_blocks.flatMap(({ identity, slot_index, ad_kind, not_scanned }, at) => [
    ...(identities.indexOf(identity) === at ? [] : [issue([at, 'identity'], 'Another ad has this identity.')]),
    ...(indexes.indexOf(slot_index) === at ? [] : [issue([at, 'slot_index'], 'Another ad has this index.')]),
    ...(discovery?.ad_formats?.includes(ad_kind) === false
      ? [issue([at, 'ad_kind'], 'The sweep does not look for this format.')]
      : []),
    ...(not_scanned !== null || scans.has(childScanId(_id, { identity }))
      ? []
      : [issue([at, 'not_scanned'], 'The ad has no scan.')]),
  ]);
  const isMissing = members.some((one) => one._id !== _id && isOpen(one.status) && !listed.has(one._id));
  return isMissing ? [...issues, issue([], 'An ad is missing whose scan has not ended.')] : issues;
}

function issue(loc: (string | number)[], msg: string): Issue {
  return { loc: ['body', 'capture', 'ad_blocks', ...loc], msg, type: 'capture_mismatch', ctx: {} };
}
