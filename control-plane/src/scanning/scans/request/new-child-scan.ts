import { derivedId } from '@adsweep/shared/ids.ts';
import type { AddMembers } from '@adsweep/shared/lease/messages.ts';
import type { ScanLease, ScanRecord } from '../../../scan/scan.ts';
import { pendingScan } from './new-scan.ts';

/** A scan that a sweep found: its slot, its target, and the referrer it is loaded with. */
export type FoundScan = AddMembers['members'][number];

/**
 * The record of a scan that `parent` found: `running` under the parent's lease, its charge in its outbox. It inherits everything but its
 * target and referrer. Its id is derived from its slot, so that it is created and charged once even if it is found again.
 */
export function newChildScan(
  parent: ScanRecord,
  { slot, target, referrer }: FoundScan,
  lease: ScanLease,
  now: Date,
): ScanRecord {
  const { organization_id, job_id, job_kind, country_code, emulator_id, proxy, labels, campaign_id, run_id } = parent;
  const { ignore_first_n_domains, retry_max_attempts, price_micros, band } = parent;
  const child = {
    _id: derivedId(parent._id, slot),
    ...{ organization_id, job_id, job_kind, slot, parent_scan_id: parent._id, target, referrer },
    ...{ country_code, emulator_id, proxy, labels, campaign_id, run_id },
    ...{ ignore_first_n_domains, retry_max_attempts, price_micros },
    ...(band !== undefined && { band }),
  };
  return { ...pendingScan(child, now), status: 'running', lease, started_at: now };
}
