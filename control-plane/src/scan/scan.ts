import type { AdBlock, AdKind } from '@adsweep/shared/capture/ad-block.ts';
import type { Surface } from '@adsweep/shared/capture/network-request.ts';
import type { JobKind } from '@adsweep/shared/lease/job-limits.ts';
import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { Target } from '@adsweep/shared/scan/target.ts';
import type { ProxyType } from '@adsweep/shared/targeting/catalogue.ts';
import type { Exit } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { OutboxFields } from '../platform/outbox/outbox-entry.ts';
import type { Look, LookChange } from './look.ts';

/** The proxy block of the create request, in the catalogue's spelling; '': any (spec 2.2). */
export type ScanProxy = { proxy_type: ProxyType; region: string; city: string; isp: string };

/** The current lease of the scan, the only one that may change it: its fencing token and its node. */
export type ScanLease = {
  fence: number;
  node_id: string;
  /** The process of that node: a restarted node has the same id and another instance. */
  instance?: string;
  /** The enrolment of that node; absent: it has the join token. */
  enrolment?: string;
  leased_at: Date;
  /** Whether the node has reported that nothing else runs on it. */
  alone?: boolean;
};

/** A tag assigned to a scan; `url` '': it applies to the whole scan (spec 2.5). */
export type ScanTag = {
  id: string;
  tag_slug: string;
  detail: string;
  url: string;
  surface: Surface;
  /** Where a rule matched; absent: no rule assigned the tag, or the rule combines other tags. */
  match?: TagMatch;
  /** A combo assigned it. Absent: none did, or an earlier version wrote the record. */
  of_combo?: true;
  created_at: Date;
};

/**
 * The match of the rule that assigned a tag: `place` is the kind of text, `offset` the position in UTF-16 code units,
 * `excerpt` the text around the match, which is between « and »; `elapsed_ms` is the CPU time of this rule alone.
 */
export type TagMatch = {
  rule_id: string;
  /** The name of the rule at that time; absent in records of earlier versions. */
  rule_name?: string;
  rule_type: string;
  place: 'hop' | 'request' | 'title' | 'text' | 'html' | 'content';
  landing: number | null;
  offset: number;
  excerpt: string;
  elapsed_ms: number;
};

/** Rules without a result: how many, and the first of them. */
export type SkippedRules = { total: number; rules: { rule_id: string; rule_name: string; rule_type: string }[] };

/** A path in a category tree, broadest first; the deeper tiers may be null. */
export type Tiers = { tier1: string; tier2: string | null; tier3: string | null; tier4: string | null };

export type Classification = {
  brand: string | null;
  ai_category: Tiers | null;
  /** A category of the IAB Content Taxonomy 3.0, with its id there. */
  iab_v3: (Tiers & { id: string }) | null;
  custom_taxonomies: ScanTaxonomy[];
};

/**
 * A scan's category in a custom taxonomy, as that was at the time; `used_default`: the default node, because no other
 * fitted. Tiers null: none fitted.
 */
export type ScanTaxonomy = {
  taxonomy_id: string;
  taxonomy_name: string;
  taxonomy_slug: string;
  taxonomy_version: number;
  leaf_node_id: string | null;
  tier1: string | null;
  tier2: string | null;
  tier3: string | null;
  tier4: string | null;
  used_default: boolean;
};

/**
 * The part of the accepted capture that lists and links need; the complete capture is in the captures collection under
 * `id`.
 */
export type CaptureSummary = {
  id: string;
  offer_url: string;
  page_title: string;
  has_screenshot: boolean;
  /** Absent: false. */
  has_creative_screenshot?: boolean;
  crawl_ms: number;
  landings: number;
};

/** A scan: one target, in one country, on one emulator. This document is the only source of truth about its state. */
export type ScanRecord = OutboxFields & {
  _id: string;
  organization_id: string;
  /** Id of its crawl job: its own id, or that of the scan whose job it shares. */
  job_id: string;
  /** The kind of the job, which determines its limits. */
  job_kind: JobKind;
  /** Its index among the members of the job, which run in this order; 0: the scan whose id is the job's. */
  slot: number;
  /** The ad discovery scan that found it; null: a client created it. */
  parent_scan_id: string | null;
  /** Set if it sweeps its page for ads: the formats (null: all), and how many of them are scanned. */
  discovery?: { ad_formats: AdKind[] | null; max_discovered_ads: number };
  /** The ads that it has found, if any. */
  found_ads?: FoundAds;
  /** The ad that it is the scan of; absent: it is no discovered ad. */
  ad_block?: AdBlock;
  report_token: string;
  /** For an ad tag or a VAST tag the stored value is '': its text is stored separately (`ScanStore.withTarget`). */
  target: Target;
  /**
   * The id of that text, which all scans of one request share; absent: the text belongs only to this scan and has its
   * id.
   */
  target_text_id?: string;
  country_code: string;
  emulator_id: string;
  proxy: ScanProxy | null;
  referrer: string | null;
  ignore_first_n_domains: number;
  labels: Record<string, string>;
  /** The keys of the labels that the AI model filled in; absent: none. */
  extracted_labels?: string[];
  campaign_id: string | null;
  run_id: string | null;
  /**
   * Its priority class: 0 interactive, 1 bulk, 2 made by a campaign; absent: 0. A scan that is posted with a campaign
   * has that of its request.
   */
  band?: 0 | 1 | 2;
  /**
   * Its index in a group of repeats (0: the first), the id of that first one (absent in records of earlier versions),
   * and their shared session (null: none, or it runs without the others). Absent: it is not a repeat.
   */
  repeat?: { index: number; total: number; leader_id?: string; session_id: string | null };
  retry_max_attempts: number;
  /** The amount charged when it was created, in micros. */
  price_micros: number;
  /** The reservation from which its check was taken, by its `made_by`; absent: an earlier version wrote the record. */
  reserved_by?: string;
  /** The trace context of the request that created it (W3C Trace Context), or of its own trace; absent: none. */
  traceparent?: string;

  status: ScanStatus;
  /** When it entered this status, never before the last one. Absent: an earlier version wrote the record. */
  status_at?: Date;
  /** The number of earlier statuses. Absent: it is the first one, or an earlier version wrote the record. */
  status_sequence?: number;
  error: string;
  /**
   * What it showed when it was first analysed, if it is in a run, and what differs from the last run. Absent: it is in
   * none.
   */
  look?: Look;
  changes?: LookChange[];
  /** Number of the current attempt, or of the one that produced the result. */
  retry_attempt: number;
  /**
   * How often it was queued again after a lost node. Does not count as a retry; determines the isolation of the next
   * attempt.
   */
  lost_requeues: number;
  /** How often a node released it without a result; absent: never. */
  releases?: number;
  lease: ScanLease | null;
  exit: (Exit & { attempts: number }) | null;
  capture: CaptureSummary | null;
  network: string;
  network_host: string;
  classification: Classification | null;
  tags: ScanTag[];
  /** Rules that found nothing before the time for rules was spent, and had not searched everything. Absent: none. */
  rules_out_of_budget?: SkippedRules;

  created_at: Date;
  /**
   * When its check was counted, with all those of its run; absent: when it was created. A refund returns it to the
   * quota of that month.
   */
  charged_at?: Date;
  /** When it may be leased: `created_at`, or later while a retry waits. */
  due_at: Date;
  started_at: Date | null;
  crawled_at: Date | null;
  /** While `checking`: when the worker's claim expires and another worker may take over. */
  checks_claimed_until: Date | null;
  /**
   * How often its analysis was started since the last recheck; absent: never. While `checking` it identifies the
   * worker's claim.
   */
  checks_attempts?: number;
  /** The state in which it last ended, which a recheck keeps until it ends. Absent: it has not ended, or has no run. */
  final_status?: ScanStatus;
  /** When it first ended; a recheck does not change it. */
  completed_at: Date | null;
  /** Its last recheck (absent: none): the id of the request, and the number of rechecks so far. */
  recheck?: { id: string; ordinal: number };
  /**
   * While it is rechecked, its tags until then: those that are archived are assigned again at the end. Absent: never
   * rechecked.
   */
  tags_before_recheck?: ScanTag[];
  /**
   * An attempt has requested the target, so that the charge is not refunded if the scan is cancelled. Absent: false.
   */
  loaded?: true;
  /**
   * When its capture and images began to be removed, because their retention is shorter than the scan's; absent: not
   * yet.
   */
  evidence_removed_at?: Date;
  /** Its capture and images were all removed. */
  evidence_gone?: true;

  /** The number of its last event. */
  event_sequence: number;
};

/**
 * The ads of a sweep: the identities of those that have scans, or get them; how many there were in all, those that are
 * gone included; and how often this was changed.
 */
export type FoundAds = { identities: string[]; total: number; sequence: number };

/** Identifies a crawl job by the organization and the `job_id` of its members. */
export type JobRef = { organizationId: string; jobId: string };

/** The fields of {@link ScanInQueue}. */
export const QUEUE_FIELDS = [
  '_id',
  'organization_id',
  'job_id',
  'job_kind',
  'slot',
  'band',
  'campaign_id',
  'run_id',
  'status',
  'status_at',
  'status_sequence',
  'due_at',
  'lease',
  'lost_requeues',
] as const satisfies (keyof ScanRecord)[];

/** The fields of a scan that the queue needs; the target is left out, because it may be large. */
export type ScanInQueue = Pick<ScanRecord, (typeof QUEUE_FIELDS)[number]>;

/** The fields of {@link ScanToClaim}. */
export const CLAIM_FIELDS = [
  '_id',
  'organization_id',
  'status',
  'status_at',
  'status_sequence',
  'run_id',
  'crawled_at',
  'checks_claimed_until',
  'checks_attempts',
] as const satisfies (keyof ScanRecord)[];

/** The fields of a scan that a claim of its analysis needs. */
export type ScanToClaim = Pick<ScanRecord, (typeof CLAIM_FIELDS)[number]>;

/** The fields of {@link ListedScan}; of tags, the slugs are enough. */
export const LISTED_FIELDS = [
  '_id',
  'report_token',
  'target',
  'country_code',
  'emulator_id',
  'proxy',
  'labels',
  'campaign_id',
  'job_id',
  'parent_scan_id',
  'discovery',
  'ad_block',
  'repeat',
  'retry_attempt',
  'retry_max_attempts',
  'status',
  'error',
  'capture',
  'network',
  'network_host',
  'classification',
  'tags.tag_slug',
  'created_at',
] as const satisfies (keyof ScanRecord | 'tags.tag_slug')[];

/** The fields of {@link DiscoveredScan}; of tags, the slugs are enough. */
export const DISCOVERED_FIELDS = [
  'report_token',
  'ad_block',
  'status',
  'error',
  'capture',
  'evidence_removed_at',
  'tags.tag_slug',
] as const satisfies (keyof ScanRecord | 'tags.tag_slug')[];

/** The scan of an ad that a sweep found, as the report of the sweep lists it. */
export type DiscoveredScan = Pick<ScanRecord, '_id' | Exclude<(typeof DISCOVERED_FIELDS)[number], 'tags.tag_slug'>> & {
  tags: Pick<ScanTag, 'tag_slug'>[];
};

/** When what a scan had captured was removed; null: it was not, or the scan had captured nothing. */
export const evidenceRemovedAt = ({
  capture,
  evidence_removed_at,
}: Pick<ScanRecord, 'capture' | 'evidence_removed_at'>): Date | null => (capture && evidence_removed_at) ?? null;

/** Identifies a scan by organization and id, which can be a shard key together. */
export type ScanKey = Pick<ScanRecord, '_id' | 'organization_id'>;

/** A scan as a row of a list. */
export type ListedScan = Pick<ScanRecord, Exclude<(typeof LISTED_FIELDS)[number], 'tags.tag_slug'>> & {
  tags: Pick<ScanTag, 'tag_slug'>[];
};
