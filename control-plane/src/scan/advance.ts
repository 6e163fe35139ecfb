import { isDeepStrictEqual } from 'node:util';
import { type AdBlock, networkOfBlock } from '@adsweep/shared/capture/ad-block.ts';
import { type FailureCode, isOurFault, isTransient, publicTextOf } from '@adsweep/shared/failures.ts';
import { isFinished, isOpen, type ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { Exit } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { OutboxEntry } from '../platform/outbox/outbox-entry.ts';
import { afterLoss } from './isolation.ts';
import type { Look, LookChange } from './look.ts';
import type {
  CaptureSummary,
  Classification,
  FoundAds,
  ScanLease,
  ScanRecord,
  ScanTag,
  ScanToClaim,
  SkippedRules,
} from './scan.ts';
import { withExtractedLabels } from './sent-labels.ts';
import { usageKindOf } from './usage-kind.ts';

/** An event in the life cycle of a scan. */
export type ScanEvent =
  | { type: 'cancel' }
  | { type: 'lease'; lease: ScanLease }
  | { type: 'alone'; fence: number }
  | { type: 'leave_session'; fence: number }
  | { type: 'release'; fence: number; waitMs: number }
  | { type: 'capture'; fence: number; capture: CaptureSummary; exit: Exit | null }
  | {
      type: 'failure';
      fence: number;
      code: FailureCode;
      /** Whether a request to the target was sent. */
      loaded: boolean;
      capture: CaptureSummary | null;
      exit: Exit | null;
      backoffMs: number;
    }
  | { type: 'found_ads'; fence: number; ads: FoundAds }
  | { type: 'found_again'; fence: number; adBlock: AdBlock }
  | { type: 'gone' }
  | { type: 'recheck'; id: string }
  | { type: 'claim_checks'; until: Date }
  | { type: 'renew_checks'; until: Date }
  /** The attempt at the analysis is not counted. */
  | { type: 'uncount_checks' }
  | {
      type: 'finish';
      tags: ScanTag[];
      classification: Classification;
      /** The labels that the AI model filled in. */
      extractedLabels: Record<string, string>;
      network: string;
      networkHost: string;
      complete: boolean;
      error: string;
      /** Absent: none. */
      rulesOutOfBudget?: SkippedRules;
      /** What a scan of a run showed, and what differs from the last run. */
      compared?: { look: Look; changes: LookChange[] };
      /** What the scan violates of the policy set of its campaign; absent: nothing. */
      alerts?: OutboxEntry<'alerts'>;
    };

/**
 * A change of a scan: the fields to `set` if the document still matches `when`. `follows` is added to the outbox in the
 * same write.
 */
export type ScanChange = {
  when: {
    status: ScanStatus;
    fence?: number;
    checks_claimed_until?: Date | null;
    checks_attempts?: number;
    status_sequence?: number | { $exists: false };
    event_sequence?: number;
    evidence_removed_at?: { $exists: false };
    loaded?: true | { $exists: false };
    'found_ads.sequence'?: number | null;
  };
  set: Partial<ScanRecord>;
  follows: OutboxEntry[];
};

/**
 * The change of `scan` by `event`, or null if the event does not apply in this state, such as the result of a node that
 * lost its lease (spec 3). Pure: the store writes the change as one compare-and-set. Refunds are decided here; the
 * caller of `changeScan` adds events.
 */
export function advance(scan: ScanRecord, event: ScanEvent, now: Date): ScanChange | null {
  if ('fence' in event) return runsUnder(scan, event.fence) ? advanceLeased(scan, event, now) : null;
  switch (event.type) {
    case 'cancel':
      if (scan.status !== 'pending' || hasAds(scan)) return null;
      // An attempt may have run, and loaded the target, since the scan was read: then there is nothing to refund.
      return change(
        { status: 'pending', loaded: scan.loaded ?? { $exists: false }, ...adsOf(scan) },
        { status: 'cancelled', completed_at: now },
        scan.loaded ? [] : [refund(scan, now)],
      );
    case 'lease':
      return takeLease(scan, event.lease, now);
    case 'gone':
      return endGoneAd(scan, now);
    case 'recheck':
      return startRecheck(scan, event.id, now);
    case 'claim_checks':
      return claimChecks(scan, event.until, now);
    case 'renew_checks':
      if (scan.status !== 'checking') return null;
      return change(claimOf(scan), { checks_claimed_until: event.until });
    case 'uncount_checks':
      if (scan.status !== 'checking' || !scan.checks_attempts) return null;
      return change(claimOf(scan), { checks_attempts: scan.checks_attempts - 1 });
    case 'finish':
      if (scan.status !== 'checking') return null;
      return change(
        claimOf(scan),
        {
          status: event.complete ? 'completed' : 'partial',
          error: event.error,
          tags: event.tags,
          ...rulesOutOfBudget(scan, event.rulesOutOfBudget),
          ...(scan.tags_before_recheck && { tags_before_recheck: [] }),
          ...event.compared,
          classification: event.classification,
          ...withExtractedLabels(scan, event.extractedLabels),
          network: event.network,
          network_host: event.networkHost,
          checks_claimed_until: null,
          completed_at: scan.completed_at ?? now,
        },
        event.alerts ? [event.alerts] : [],
      );
  }
}

/** An event of the node that has the lease with this fence. */
type LeaseEvent = Extract<ScanEvent, { fence: number }>;

function advanceLeased(scan: ScanRecord & { lease: ScanLease }, event: LeaseEvent, now: Date): ScanChange | null {
  const when = { status: 'running' as const, fence: event.fence };
  switch (event.type) {
    case 'alone':
      return change(when, { lease: { ...scan.lease, alone: true }, started_at: now });
    case 'leave_session':
      return scan.repeat ? change(when, { repeat: { ...scan.repeat, session_id: null } }) : null;
    case 'release': {
      const due_at = new Date(now.getTime() + event.waitMs);
      return change(when, { ...AGAIN, due_at, releases: (scan.releases ?? 0) + 1 });
    }
    case 'capture':
      return change(when, { status: 'crawled', lease: null, crawled_at: now, ...captureFields(scan, event) });
    case 'failure':
      return endFailedAttempt(scan, when, event, now);
    case 'found_ads':
      return change({ ...when, ...adsOf(scan) }, { found_ads: event.ads });
    case 'found_again':
      return changeAdBlock(scan, when, event.adBlock);
  }
}

/**
 * The field of the rules without a result: also written where a recheck had enough time for those of the analysis
 * before.
 */
function rulesOutOfBudget(scan: ScanRecord, now: SkippedRules = { total: 0, rules: [] }): Partial<ScanRecord> {
  return now.total > 0 || scan.rules_out_of_budget ? { rules_out_of_budget: now } : {};
}

/**
 * Starts a recheck, which analyses the stored evidence again: sets the tags aside and keeps the time at which the scan
 * first ended. The event sequence is compared, because every end of an analysis emits an event.
 */
function startRecheck(scan: ScanRecord, id: string, now: Date): ScanChange | null {
  if (!isFinished(scan.status) || scan.evidence_removed_at || scan.recheck?.id === id) return null;
  const ordinal = (scan.recheck?.ordinal ?? 0) + 1;
  return change(
    { status: scan.status, event_sequence: scan.event_sequence, evidence_removed_at: { $exists: false } },
    {
      status: 'rechecking',
      error: '',
      tags: [],
      tags_before_recheck: scan.tags,
      checks_attempts: 0,
      recheck: { id, ordinal },
    },
    [{ id: `recheck:${scan._id}:${ordinal}`, kind: 'recheck', at: now }],
  );
}

/**
 * Whether it is the scan of a discovered ad, or a sweep that has found ads: these are charged, and end with their sweep
 * or after it. Pure.
 */
export const hasAds = ({ ad_block, found_ads }: Pick<ScanRecord, 'ad_block' | 'found_ads'>): boolean =>
  ad_block !== undefined || found_ads !== undefined;

/** Matches a sweep only while it has the same ads. */
const adsOf = ({ discovery, found_ads }: ScanRecord): Partial<ScanChange['when']> =>
  discovery ? { 'found_ads.sequence': found_ads?.sequence ?? null } : {};

/** An ad may have another position on its page, or another network, when the page is swept again. */
function changeAdBlock({ ad_block }: ScanRecord, when: ScanChange['when'], found: AdBlock): ScanChange | null {
  if (isDeepStrictEqual(ad_block, found)) return null;
  return change(when, { ad_block: found, slot: found.slot_index + 1, ...networkOfBlock(found) });
}

/** Ends the scan of an ad that is not on its page any more, under whatever lease it runs. */
function endGoneAd(scan: ScanRecord, now: Date): ScanChange | null {
  const { status, lease } = scan;
  if (!scan.ad_block || !isOpen(status)) return null;
  const end = {
    status: 'failed' as const,
    error: publicTextOf('ad_discovery: AD_GONE'),
    lease: null,
    completed_at: now,
  };
  return change({ status, ...(lease && { fence: lease.fence }) }, end, [refund(scan, now)]);
}

/**
 * A later lease of a job takes over a scan that is still running under an earlier one; the earlier attempt counts as
 * lost.
 */
export function takeLease(
  scan: Pick<ScanRecord, 'status' | 'lease' | 'lost_requeues'>,
  lease: ScanLease,
  now: Date,
): ScanChange | null {
  const leased = { status: 'running' as const, lease, started_at: now };
  if (scan.status === 'pending') return change({ status: 'pending' }, leased);
  if (scan.status !== 'running' || !scan.lease || scan.lease.fence >= lease.fence) return null;
  return change({ status: 'running', fence: scan.lease.fence }, { ...leased, lost_requeues: scan.lost_requeues + 1 });
}

/** A scan that waits for its next lease. */
const AGAIN = { status: 'pending', lease: null, started_at: null } as const;

type Failure = Extract<ScanEvent, { type: 'failure' }>;

/**
 * After a transient failure the scan returns to `pending` while retries remain; the loss of its node does not use up a
 * retry.
 */
function endFailedAttempt(scan: ScanRecord, when: ScanChange['when'], failure: Failure, now: Date): ScanChange {
  const loaded = scan.loaded || failure.loaded;
  const pendingAgain = { ...AGAIN, ...(loaded && { loaded }) };
  const outcome = failure.code === 'node: LOST' ? afterLoss(scan) : failure.code;
  if (outcome === 'again') return change(when, { ...pendingAgain, lost_requeues: scan.lost_requeues + 1, due_at: now });
  if (failure.code !== 'node: LOST' && isTransient(failure.code) && scan.retry_attempt < scan.retry_max_attempts) {
    const due_at = new Date(now.getTime() + failure.backoffMs);
    return change(when, { ...pendingAgain, retry_attempt: scan.retry_attempt + 1, due_at });
  }
  const end = {
    status: 'failed' as const,
    error: publicTextOf(outcome),
    lease: null,
    completed_at: now,
    ...captureFields(scan, failure),
  };
  return change(when, end, isOurFault(outcome) ? [refund(scan, now)] : []);
}

function captureFields(
  scan: ScanRecord,
  event: { capture: CaptureSummary | null; exit: Exit | null },
): Partial<ScanRecord> {
  const exit = event.exit && { ...knownFields(event.exit), attempts: scan.retry_attempt + scan.lost_requeues + 1 };
  return { capture: event.capture, exit };
}

/** Copied field by field: a node may send further ones, of any size. */
function knownFields(exit: Exit): Exit {
  const { provider, exit_id, country_code, proxy_type, region, city, isp, session } = exit;
  const { verified = null, ip, observed_country_code, asn } = exit;
  const known = { provider, exit_id, country_code, proxy_type, region, city, isp, session };
  return { ...known, verified, ip, observed_country_code, asn };
}

/** Whether a scan runs under the lease with this fence. */
export const runsUnder = <S extends Pick<ScanRecord, 'status' | 'lease'>>(
  scan: S,
  fence: number,
): scan is S & { lease: ScanLease } => scan.status === 'running' && scan.lease?.fence === fence;

/** A claim is identified by the number of its attempt, because its time changes with each renewal. */
const claimOf = ({ checks_attempts = 0 }: ScanRecord) => ({ status: 'checking' as const, checks_attempts });

/** The change by the event `claim_checks`; null: the analysis of the scan is not to be claimed. */
export function claimChecks(scan: ScanToClaim, until: Date, now: Date): ScanChange | null {
  if (!mayClaimChecks(scan, now)) return null;
  return change(
    { status: scan.status, checks_claimed_until: scan.checks_claimed_until },
    { status: 'checking', checks_claimed_until: until, checks_attempts: (scan.checks_attempts ?? 0) + 1 },
  );
}

const mayClaimChecks = (scan: ScanToClaim, now: Date): boolean =>
  scan.status === 'crawled' ||
  scan.status === 'rechecking' ||
  (scan.status === 'checking' && (scan.checks_claimed_until?.getTime() ?? 0) < now.getTime());

function change(when: ScanChange['when'], set: Partial<ScanRecord>, follows: OutboxEntry[] = []): ScanChange {
  return { when, set, follows };
}

/** The refund of the scan's charge; a charge of 0 is refunded as 0. */
function refund(scan: ScanRecord, now: Date): OutboxEntry {
  const { _id, price_micros, created_at, charged_at = created_at } = scan;
  const check = { amount_micros: price_micros, target_kind: usageKindOf(scan), charged_at };
  return { id: `refund:${_id}`, kind: 'refund', at: now, ...check };
}
