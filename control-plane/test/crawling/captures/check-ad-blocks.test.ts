import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ListedAdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { checkAdBlocks } from '../../../src/crawling/captures/check-ad-blocks.ts';
import { childScanId } from '../../../src/scanning/scans/request/new-child-scan.ts';
import { adBlocks, listedBlocks } from '../../support/ad-blocks.ts';

const SWEEP = { _id: 'sweep', discovery: { ad_formats: ['banner' as const], max_discovered_ads: 3 } };
const membersWith = (status: ScanStatus, ...slots: number[]) => [
  { _id: 'sweep', status: 'running' as const },
  ...adBlocks(...slots).map((block) => ({ _id: childScanId('sweep', block), status })),
];
const messages = (ad_blocks: ListedAdBlock[] | undefined, members = membersWith('running', 1, 2)) =>
  checkAdBlocks({ ...(ad_blocks && { ad_blocks }) }, SWEEP, members).map(
    ({ loc, msg }) => `${loc.slice(3).join('.')}: ${msg}`,
  );

it('ad blocks agree with the scans of their sweep if each open scan is listed and each listed one exists', () => {
  const [capped] = adBlocks(3).map((block) => ({ ...block, not_scanned: 'cap' as const }));
  assert.deepEqual(messages([...listedBlocks(1, 2), capped!]), []);
  assert.deepEqual(messages(undefined, membersWith('running')), [], 'a page without ads');
  assert.deepEqual(messages(listedBlocks(2), membersWith('failed', 1, 2)), [], 'an ad that is gone');
});

it('ad blocks that contradict the scans of their sweep, its formats or each other are refused', () => {
  const [first, second, third] = listedBlocks(1, 2, 3) as [ListedAdBlock, ListedAdBlock, ListedAdBlock];
  const missing = ': An ad is missing whose scan has not ended.';
  assert.deepEqual(messages([first]), [missing]);
  assert.deepEqual(messages(undefined), [missing]);
  assert.deepEqual(messages([first, second, third]), ['2.not_scanned: The ad has no scan.']);
  assert.deepEqual(messages([first, second, second]), [
    '2.identity: Another ad has this identity.',
    '2.slot_index: Another ad has this index.',
  ]);
  assert.deepEqual(messages([first, { ...second, ad_kind: 'pop' }]), [
    '1.ad_kind: The sweep does not look for this format.',
  ]);
});
