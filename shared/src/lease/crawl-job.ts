import { type Static, Type } from 'typebox';
import { AdBlockSchema, DiscoverySchema } from '../capture/ad-block.ts';
import { TargetSchema } from '../scan/target.ts';
import { TargetingSchema } from '../targeting/catalogue.ts';
import { JOB_KINDS, JobLimitsSchema } from './job-limits.ts';

/**
 * How a job is isolated. `shared`: it shares a browser with other captures; `browser`: it has a browser of its own;
 * `node`: its node does no other work meanwhile. Scans of lost nodes are isolated, because one of them may have ended
 * the node.
 */
const ISOLATIONS = ['shared', 'browser', 'node'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/**
 * One scan of a job: everything that a node needs for its attempt, whose number counts from 0. `discovery`: the scan
 * sweeps its page for ads. `ad_block`: the scan is that of an ad on its page, which is a sweep's. `traceparent`: the
 * context of the scan's trace, for the node's spans.
 */
export const JobMemberSchema = Type.Object({
  scan_id: Type.String(),
  attempt: Type.Integer({ minimum: 0 }),
  target: TargetSchema,
  targeting: TargetingSchema,
  emulator_id: Type.String(),
  referrer: Type.Union([Type.String(), Type.Null()]),
  discovery: Type.Optional(DiscoverySchema),
  ad_block: Type.Optional(AdBlockSchema),
  traceparent: Type.Optional(Type.String()),
});
export type JobMember = Static<typeof JobMemberSchema>;

/**
 * A job that a node leases: scans that it runs one after the other, in this order. `exit_session` is new for each
 * lease.
 */
export const CrawlJobSchema = Type.Object({
  job_id: Type.String(),
  kind: Type.Enum(JOB_KINDS),
  isolation: Type.Enum(ISOLATIONS),
  limits: JobLimitsSchema,
  exit_session: Type.String(),
  members: Type.Array(JobMemberSchema, { minItems: 1 }),
});
export type CrawlJob = Static<typeof CrawlJobSchema>;
