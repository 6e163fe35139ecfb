import type { AccountsDomain } from '../accounts/accounts.ts';
import type { CrawlingDomain } from '../crawling/crawling.ts';
import type { Platform } from '../platform/platform.ts';
import type { Loop } from '../platform/start-loop.ts';
import type { ReferenceDomain } from '../reference/reference.ts';
import type { ScanningDomain } from '../scanning/scanning.ts';
import type { ModelSettings } from './model/chat.ts';
import { openModel } from './model/open-model.ts';
import { judgeByModel } from './pipeline/judge-by-model.ts';
import { LIMITS, startWorker, type WorkerDependencies } from './pipeline/worker.ts';
import { batchClaimStore } from './rules/batch-claim-store.ts';
import { judgeByRules } from './rules/judge-by-rules.ts';
import { platformRules } from './rules/platform-rules.ts';
import { ruleStore } from './rules/rule-store.ts';
import { rulesByTag } from './rules/rules-by-tag.ts';
import { taxonomyStore } from './taxonomies/taxonomy-store.ts';
import { AnalysisThreads } from './threads/analysis-threads.ts';

/**
 * What the rules of one scan may cost together, in ms of CPU, and the model that judges beside them, with how many scans may wait for it at
 * once; null: there is none.
 */
export type AnalysisSettings = {
  ruleBudgetMs: number;
  model?: (ModelSettings & { scansWaiting: number }) | null;
};

/** Two scans at a time are inspected and evaluated against rules; all eight can wait for other things at once. */
const THREADS = 2;

/** The analysis of captures: detection, rules, classification. */
export function analysisDomain(
  platform: Platform,
  { readTags, labelsOf }: Pick<ReferenceDomain, 'readTags'> & Pick<AccountsDomain, 'labelsOf'>,
  { scans }: Pick<ScanningDomain, 'scans'>,
  crawling: Pick<CrawlingDomain, 'dependencies' | 'openPicture'>,
  { ruleBudgetMs, model: settings = null }: AnalysisSettings,
) {
  const { store, wake, metrics, logger } = platform;
  const { readCapture, readPackedCapture, bodies } = crawling.dependencies;
  const model = settings && openModel(platform, crawling, settings);
  const [rules, taxonomies] = [ruleStore(store), taxonomyStore(store)];
  const threads = new AnalysisThreads(THREADS);
  const outboxFilled = () => wake.announce('outbox');
  const evidence = { readCapture, bodies };
  const readRules = rules.visibleTo;
  const judge = judgeByRules({ ...evidence, readRules, readTags, threads, budgetMs: ruleBudgetMs, logger });
  const dependencies: WorkerDependencies = {
    ...{ scans, readTags, readPackedCapture, bodies, judgeByRules: judge, metrics, logger, outboxFilled },
    inspect: (packed) => threads.inspect(packed),
    model: model && {
      show: model.show,
      judge: judgeByModel({ ask: model.ask, readRules, readTags, readTaxonomies: taxonomies.active, labelsOf }),
    },
  };
  const limits = { ...LIMITS, ...(settings && { waiting: settings.scansWaiting }) };
  const closes = async () => {
    await threads.close();
    await model?.close();
  };
  return {
    stores: [rules, taxonomies, ...(model ? [model.answers] : [])],
    rules,
    taxonomies,
    /** The AI model, for callers that ask it about one scan; null: there is none. */
    model,
    batchClaims: batchClaimStore(store),
    rulesByTag: (organizationId: string) => rulesByTag(rules, organizationId),
    dependencies,
    loops: { checks: () => [closing(startWorker(dependencies, wake.signal('checks'), limits), closes)] },

    /** Stores the rules that come with Adsweep where they are not there yet. */
    async addPlatformRules(): Promise<void> {
      for (const rule of platformRules(new Date())) await rules.insert(rule);
    },
  };
}

/** Closes the threads once running checks have ended. */
const closing = (checks: Loop, close: () => Promise<void>): Loop => ({
  stop: async () => {
    await checks.stop();
    await close();
  },
});
