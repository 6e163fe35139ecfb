import type { CrawlingDomain } from '../crawling/crawling.ts';
import type { Platform } from '../platform/platform.ts';
import type { Loop } from '../platform/start-loop.ts';
import type { ReferenceDomain } from '../reference/reference.ts';
import type { ScanningDomain } from '../scanning/scanning.ts';
import { startWorker, type WorkerDependencies } from './pipeline/worker.ts';
import { batchClaimStore } from './rules/batch-claim-store.ts';
import { RuleThreads } from './rules/evaluation/rule-threads.ts';
import { judgeByRules } from './rules/judge-by-rules.ts';
import { platformRules } from './rules/platform-rules.ts';
import { ruleStore } from './rules/rule-store.ts';
import { rulesByTag } from './rules/rules-by-tag.ts';

/** What the rules of one scan may cost together, in ms of CPU. */
export type AnalysisSettings = { ruleBudgetMs: number };

/** Scans are judged by their rules two at a time; what rules wait for besides is waited for by all eight. */
const RULE_THREADS = 2;

/** Judging what was captured. */
export function analysisDomain(
  { store, wake, metrics, logger }: Platform,
  { readTags }: Pick<ReferenceDomain, 'readTags'>,
  { scans }: Pick<ScanningDomain, 'scans'>,
  { dependencies: { readCapture, bodies } }: Pick<CrawlingDomain, 'dependencies'>,
  { ruleBudgetMs }: AnalysisSettings,
) {
  const rules = ruleStore(store);
  const threads = new RuleThreads(RULE_THREADS);
  const outboxFilled = () => wake.announce('outbox');
  const evidence = { readCapture, bodies };
  const readRules = rules.visibleTo;
  const judge = judgeByRules({ ...evidence, readRules, readTags, threads, budgetMs: ruleBudgetMs, logger });
  const dependencies: WorkerDependencies = {
    ...{ scans, readTags, ...evidence, judgeByRules: judge, metrics, logger, outboxFilled },
  };
  return {
    stores: [rules],
    rules,
    batchClaims: batchClaimStore(store),
    rulesByTag: (organizationId: string) => rulesByTag(rules, organizationId),
    dependencies,
    loops: { checks: () => [withThreads(startWorker(dependencies, wake.signal('checks')), threads)] },

    /** Stores the rules that come with Adsweep where they are not there yet. */
    async addPlatformRules(): Promise<void> {
      for (const rule of platformRules(new Date())) await rules.insert(rule);
    },
  };
}

/** Threads end when the checks under way have ended. */
const withThreads = (checks: Loop, threads: RuleThreads): Loop => ({
  stop: async () => {
    await checks.stop();
    await threads.close();
  },
});
