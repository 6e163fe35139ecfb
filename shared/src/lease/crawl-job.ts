import { type Static, Type } from 'typebox';
import { TargetSchema } from '../scan/target.ts';
import { TargetingSchema } from '../targeting/catalogue.ts';

/**
 * What an attempt may share with other captures: a browser, the node alone, or nothing, in which case the node does no other work
 * meanwhile. Scans of lost nodes are kept apart, because one of them may have ended the node.
 */
export const ISOLATIONS = ['shared', 'browser', 'node'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** All that a node needs to know of one attempt. `attempt` counts from 0; `exit_session` is new for each attempt. */
export const CrawlJobSchema = Type.Object({
  scan_id: Type.String(),
  attempt: Type.Integer({ minimum: 0 }),
  target: TargetSchema,
  targeting: TargetingSchema,
  emulator_id: Type.String(),
  referrer: Type.Union([Type.String(), Type.Null()]),
  exit_session: Type.String(),
  isolation: Type.Enum(ISOLATIONS),
});
export type CrawlJob = Static<typeof CrawlJobSchema>;
