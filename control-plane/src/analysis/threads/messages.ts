import type { PackedScan } from '../evidence/packed-scan.ts';
import type { GroupResult, RuleJob } from '../rules/evaluation/rule-job.ts';
import type { Inspection } from './inspect.ts';

/** What a thread is asked. */
export type ThreadRequest = { job: RuleJob } | { patterns: string[] } | { inspected: PackedScan };

/** What a thread says, in this order: that it begins a group, how far that is, that all is done. */
export type ThreadMessage =
  | { began: number }
  | { group: number; result: GroupResult }
  | { done: true }
  | { problems: (string | null)[] }
  | { inspection: Inspection }
  | { failed: string };
