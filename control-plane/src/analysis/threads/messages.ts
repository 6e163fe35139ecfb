import type { PackedScan } from '../evidence/packed-scan.ts';
import type { RuleInputs, RuleSearch, SearchProgress } from '../rules/evaluation/run-rules.ts';
import type { Inspection } from './inspect.ts';

/**
 * What a thread is asked: to unpack evidence, to inspect it unless rules are only tested, and to run rules over it; or
 * why RE2 refuses each of some patterns.
 */
export type ThreadRequest =
  | { evidence: PackedScan; inspects: boolean; search: RuleSearch | null }
  | { patterns: string[] };

/** What a thread replies. For evidence, in this order: what it shows, the progress of the search, `done`. */
export type ThreadMessage =
  | { inspection: Inspection }
  | { inputs: RuleInputs }
  | SearchProgress
  | { done: true }
  | { problems: (string | null)[] }
  | { failed: string };
