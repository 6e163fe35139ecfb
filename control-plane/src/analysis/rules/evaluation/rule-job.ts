import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedCreative } from '@adsweep/shared/capture/creative.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { RuleMatch } from '../search/search-run.ts';

/**
 * What rules look at, as it travels to their thread: large parts stay gzipped JSON until they are there. null: there is none (any more),
 * or none is needed.
 */
export type PackedEvidence = {
  landings: CapturedLanding[];
  creative: CapturedCreative | null;
  /** UTF-8. */
  creative_html: Uint8Array | null;
  /** The stored requests, which stand in for all of them after a day (spec 8). */
  requests: NetworkRequest[];
  ignore_first_n_domains: number;
  packed: Record<'requests' | 'documents' | 'bodies', Uint8Array | null>;
  unpackedBytesMax: number;
};

/**
 * Groups of rules to run over one scan, one after the other; each is a JSON array of search rules, by which its compiled form is known
 * again. `shared`: one budget for all of them (a scan), or one for each (rule tests). In ms of CPU.
 */
export type RuleJob = { evidence: PackedEvidence; groups: string[]; budgetMs: number; shared: boolean };

/** What one group found; `finished` names the rules that saw everything, `unreadable` those that cannot be run at all. */
export type GroupResult = { matches: RuleMatch[]; finished: string[]; unreadable: string[]; elapsed_ms: number };

/** How a group ended: it was run (all of it, or until the budget was spent), or its thread was ended in the middle of it. */
export type GroupOutcome = GroupResult & { ended: 'run' | 'killed' };

/** Runs a job in a thread: the outcome of each of its groups, in their order. */
export type RunRules = (job: RuleJob) => Promise<GroupOutcome[]>;
