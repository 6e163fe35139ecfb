import type { JobKind } from '@adsweep/shared/lease/job-limits.ts';
import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { Target } from '@adsweep/shared/scan/target.ts';
import type { ProxyType } from '@adsweep/shared/targeting/catalogue.ts';
import type { Exit } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { OutboxFields } from '../platform/outbox/outbox-entry.ts';

/** The proxy block as the client sent it, values in the catalogue's spelling, '' = any (spec 2.2). */
export type ScanProxy = { proxy_type: ProxyType; region: string; city: string; isp: string };

/** The lease that may write this scan now: its fencing token and its node. */
export type ScanLease = {
  fence: number;
  node_id: string;
  /** Which process of that name. */
  instance?: string;
  leased_at: Date;
  /** Whether the node has reported that nothing else runs on it. */
  alone?: boolean;
};

/** A tag assigned to a scan; `url` '' = it applies to the whole scan (spec 2.5). */
export type ScanTag = {
  id: string;
  tag_slug: string;
  detail: string;
  url: string;
  surface: 'page' | 'creative';
  /** Where a rule found it; absent: no rule did, or it combines other tags. */
  match?: TagMatch;
  created_at: Date;
};

/**
 * Why a rule assigned a tag: `place` says in what it was found, `offset` after how many UTF-16 units, `excerpt` its surroundings with the
 * hit between « and »; `elapsed_ms` is the CPU that the rule took by itself.
 */
export type TagMatch = {
  rule_id: string;
  /** Its name at that time; absent in what earlier versions stored. */
  rule_name?: string;
  rule_type: string;
  place: 'hop' | 'request' | 'title' | 'text' | 'html' | 'content';
  landing: number | null;
  offset: number;
  excerpt: string;
  elapsed_ms: number;
};

/** A path in a category tree, broadest first; the deeper tiers may be null. */
export type Tiers = { tier1: string; tier2: string | null; tier3: string | null; tier4: string | null };

export type Classification = {
  brand: string | null;
  ai_category: Tiers | null;
  /** A category of the IAB Content Taxonomy 3.0 by its id in it. */
  iab_v3: (Tiers & { id: string }) | null;
  custom_taxonomies: ScanTaxonomy[];
};

/** A scan's place in a client's own taxonomy, as it was then; `used_default`: no other node fitted. All null: none did. */
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

/** The summary of the accepted capture that lists and links need; the whole of it is in the captures collection under `id`. */
export type CaptureSummary = {
  id: string;
  offer_url: string;
  page_title: string;
  has_screenshot: boolean;
  /** Absent: it has none. */
  has_creative_screenshot?: boolean;
  crawl_ms: number;
  landings: number;
};

/** One check of one target, in one country, on one emulator: the document that decides everything about it. */
export type ScanRecord = OutboxFields & {
  _id: string;
  organization_id: string;
  /** The crawl job that it is a member of: its own id, unless it shares the job of another scan, which has that id. */
  job_id: string;
  /** The kind of that job, which determines its limits. */
  job_kind: JobKind;
  /** Its place among the members of the job, which run in this order; 0: the one whose id is the job's. */
  slot: number;
  /** The sweep that found it. */
  parent_scan_id: string | null;
  report_token: string;
  /** The value of an ad tag or a VAST tag is '' as it is stored: its text stands apart (`ScanStore.withTarget`). */
  target: Target;
  /** The id of that text, which all scans of one request share; absent: the text is this scan's alone and has its id. */
  target_text_id?: string;
  country_code: string;
  emulator_id: string;
  proxy: ScanProxy | null;
  referrer: string | null;
  ignore_first_n_domains: number;
  labels: Record<string, string>;
  /** The keys of those labels that a model filled in; absent: none. */
  extracted_labels?: string[];
  campaign_id: string | null;
  run_id: string | null;
  /** The queue it waits in: 0 = a person waits for it, 1 = one of many. Absent: 1 for a campaign's scans, 0 for all others. */
  band?: 0 | 1;
  /** Its place in its group of repeats, whose leader has the index 0; `session_id`: names what they share, null = nothing. Absent: it is no repeat. */
  repeat?: { index: number; total: number; session_id: string | null };
  retry_max_attempts: number;
  /** The amount charged when it was created, in micros. */
  price_micros: number;

  status: ScanStatus;
  /** When it entered this status, and how many statuses it had before. Absent: it is the first one, or the record is of an earlier version. */
  status_at?: Date;
  status_sequence?: number;
  error: string;
  /** Number of the attempt under way, or of the one that produced the result. */
  retry_attempt: number;
  /** How often it was queued again after a lost node; these use up no retry, and decide what the next attempt may share with others. */
  lost_requeues: number;
  lease: ScanLease | null;
  exit: (Exit & { attempts: number }) | null;
  capture: CaptureSummary | null;
  network: string;
  network_host: string;
  classification: Classification | null;
  tags: ScanTag[];

  created_at: Date;
  /** When it may be leased: `created_at`, or later while a retry waits. */
  due_at: Date;
  started_at: Date | null;
  crawled_at: Date | null;
  /** While `checking`: when another worker may take the checks over. */
  checks_claimed_until: Date | null;
  /** How often its checks were started since its last recheck; absent: never. While `checking` it distinguishes the claims of two workers. */
  checks_attempts?: number;
  /** When it first ended: a recheck does not change it. */
  completed_at: Date | null;
  /** The last recheck that it was part of (absent: none): the id of the request, and the number of rechecks so far. */
  recheck?: { id: string; ordinal: number };
  /** An attempt that failed had loaded the target: the charge stays when the scan is cancelled. Absent: none has. */
  loaded?: true;
  /** When its capture and pictures were removed, because their retention is shorter than the scan's; absent: they are there. */
  evidence_removed_at?: Date;

  /** The number of its last event. */
  event_sequence: number;
};

/** A crawl job, by its members' organization and their `job_id`. */
export type JobRef = { organizationId: string; jobId: string };

/** The fields of {@link ScanInQueue}. */
export const QUEUE_FIELDS = [
  '_id',
  'organization_id',
  'job_id',
  'slot',
  'band',
  'campaign_id',
  'status',
  'due_at',
  'lease',
  'lost_requeues',
] as const satisfies (keyof ScanRecord)[];

/** The fields of a scan that the queue needs; the target is left out, because it may be large. */
export type ScanInQueue = Pick<ScanRecord, (typeof QUEUE_FIELDS)[number]>;

/** The fields of {@link ListedScan}. */
export const LISTED_FIELDS = [
  '_id',
  'report_token',
  'target',
  'country_code',
  'emulator_id',
  'proxy',
  'labels',
  'campaign_id',
  'parent_scan_id',
  'repeat',
  'retry_attempt',
  'retry_max_attempts',
  'status',
  'capture',
  'network',
  'network_host',
  'classification',
  'created_at',
] as const satisfies (keyof ScanRecord)[];

/** A scan by its organization and its id: together they can be a shard key. */
export type ScanKey = Pick<ScanRecord, '_id' | 'organization_id'>;

/** A scan as a row of a list. */
export type ListedScan = Pick<ScanRecord, (typeof LISTED_FIELDS)[number]>;
