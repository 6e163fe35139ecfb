import { type Static, Type } from 'typebox';
import { ARTIFACT_BYTES_MAX } from '../capture/artifacts.ts';
import { CAPTURE_BYTES_MAX, DISCOVERED_ADS_MAX } from '../limits.ts';
import type { TargetKind } from '../scan/target.ts';

/**
 * The kinds of crawl jobs: one scan of a page, an ad tag or a VAST document, a shared repeat group, or a publisher
 * sweep with its children.
 */
export const JOB_KINDS = ['page', 'ad_tag', 'vast_tag', 'repeat_group', 'sweep'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** The kinds that may have several members, which share a browser context and an exit; any other job has one. */
export const SHARED_JOBS: ReadonlySet<JobKind> = new Set(['repeat_group', 'sweep']);

/** The kind of a job that has one scan of such a target. */
export const KIND_OF_TARGET: Record<TargetKind, JobKind> = { url: 'page', ad_tag: 'ad_tag', vast_tag: 'vast_tag' };

const AtLeastOne = Type.Integer({ minimum: 1 });

/** The limits of one attempt of a job's member, unless a field says otherwise. They are part of the job. */
export const JobLimitsSchema = Type.Object({
  /** Members that the node may add. */
  added_members: Type.Integer({ minimum: 0 }),
  /** Seconds from the request for an exit to the end of the capture. */
  seconds: AtLeastOne,
  /** Tabs that may open before the scripts which open them are stopped. */
  tabs: AtLeastOne,
  /**
   * Tabs that become landings with a screenshot, the page's own included: the first ones and the last; those between
   * are closed.
   */
  landings: AtLeastOne,
  /** Files. */
  artifacts: AtLeastOne,
  /** Bytes of one file. */
  artifact_bytes: AtLeastOne,
  /** Bytes of the capture as JSON. */
  capture_bytes: AtLeastOne,
  /**
   * Seconds for which the gateway lets the attempt use its exit; the attempts of a shared repeat group, or of a sweep,
   * share theirs.
   */
  ticket_seconds: AtLeastOne,
  /**
   * Bytes that the gateway carries for the attempt, both directions together; those of a shared repeat group, or of a
   * sweep, share theirs.
   */
  ticket_bytes: AtLeastOne,
});
export type JobLimits = Static<typeof JobLimitsSchema>;

const ONE_PAGE: JobLimits = {
  added_members: 0,
  seconds: 90,
  tabs: 30,
  landings: 10,
  artifacts: 60,
  artifact_bytes: ARTIFACT_BYTES_MAX,
  capture_bytes: CAPTURE_BYTES_MAX,
  ticket_seconds: 150,
  ticket_bytes: 200_000_000,
};

/**
 * An ad becomes idle, is clicked at up to nine points, twice where it expands first, and its landings become idle and
 * get screenshots: each within its budget, but not together within the time of a page. A video ad's wrappers are
 * followed and it is played before it is clicked.
 */
const ONE_AD: JobLimits = { ...ONE_PAGE, seconds: 120, ticket_seconds: 180 };

/** The limits of each kind of job: nodes observe them, and the control plane refuses what exceeds them. */
export const JOB_LIMITS: Record<JobKind, JobLimits> = {
  page: ONE_PAGE,
  ad_tag: ONE_AD,
  vast_tag: ONE_AD,
  repeat_group: ONE_AD,
  // The page is scrolled to its end before its ads are scanned; each of them has these limits too.
  sweep: { ...ONE_AD, added_members: DISCOVERED_ADS_MAX, seconds: 150, ticket_seconds: 210 },
};
