import { type Static, Type } from 'typebox';
import { TargetSchema } from '../scan/target.ts';
import { TargetingSchema } from '../targeting/catalogue.ts';

/** All that a node needs to know of one attempt. `attempt` counts from 0; `exit_session` is new for each attempt. */
export const CrawlJobSchema = Type.Object({
  scan_id: Type.String(),
  attempt: Type.Integer({ minimum: 0 }),
  target: TargetSchema,
  targeting: TargetingSchema,
  emulator_id: Type.String(),
  referrer: Type.Union([Type.String(), Type.Null()]),
  exit_session: Type.String(),
});
export type CrawlJob = Static<typeof CrawlJobSchema>;
