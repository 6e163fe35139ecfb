import { type AdBlock, networkOfBlock } from '@adsweep/shared/capture/ad-block.ts';
import { derivedId } from '@adsweep/shared/ids.ts';
import { carried } from '@adsweep/shared/tracing/spans.ts';
import { pickFields } from '../../../platform/pick-fields.ts';
import type { ScanLease, ScanRecord } from '../../../scan/scan.ts';
import { pendingScan } from './new-scan.ts';

/**
 * The id of the scan of an ad that `parentId` found: derived from the ad's identity, so that it is created and charged
 * once.
 */
export const childScanId = (parentId: string, { identity }: Pick<AdBlock, 'identity'>): string =>
  derivedId(`${parentId}/${identity}`, 0);

/**
 * The record of the scan of an ad that `parent` found: `running` under the parent's lease, its charge in its outbox. It
 * is a scan of the parent's page, inherits everything from the parent, and is never retried.
 */
export function newChildScan(parent: ScanRecord, adBlock: AdBlock, lease: ScanLease, now: Date): ScanRecord {
  const { band, traceparent } = parent;
  const child = {
    _id: childScanId(parent._id, adBlock),
    ...pickFields(parent, 'organization_id', 'job_id', 'job_kind', 'target', 'referrer', 'country_code', 'emulator_id'),
    ...pickFields(parent, 'proxy', 'labels', 'campaign_id', 'run_id', 'ignore_first_n_domains', 'price_micros'),
    slot: adBlock.slot_index + 1,
    parent_scan_id: parent._id,
    retry_max_attempts: 0,
    ad_block: adBlock,
    ...(band !== undefined && { band }),
    ...carried(traceparent),
  };
  return { ...pendingScan(child, now), ...networkOfBlock(adBlock), status: 'running', lease, started_at: now };
}
