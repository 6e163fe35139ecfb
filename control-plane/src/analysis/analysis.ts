import type { AccountsDomain } from '../accounts/accounts.ts';
import type { CrawlingDomain } from '../crawling/crawling.ts';
import type { Domain } from '../domain.ts';
import { PerOwnerLimit } from '../platform/per-owner-limit.ts';
import type { Platform } from '../platform/platform.ts';
import type { Loop } from '../platform/start-loop.ts';
import type { ReferenceDomain } from '../reference/reference.ts';
import type { TagDefinition } from '../reference/tags/tag-definitions.ts';
import type { ScanDomain } from '../scan/scan-domain.ts';
import type { PublicUrls } from '../scan/scan-links.ts';
import { PicturePool } from '../scanning/artifacts/picture-pool.ts';
import type { CampaignsDomain } from '../scanning/campaigns.ts';
import { compareRuns } from './changes/compare-runs.ts';
import type { ModelSettings } from './model/chat.ts';
import { openModel } from './model/open-model.ts';
import { screenshots } from './model/show-model.ts';
import { startCountingWaiting } from './pipeline/count-waiting.ts';
import { judgeByModel } from './pipeline/judge-by-model.ts';
import { LIMITS, startWorker, type WorkerDependencies } from './pipeline/worker.ts';
import type { FindPolicy } from './policies/alerts-entry.ts';
import { policyFor } from './policies/policy-set.ts';
import { policySetStore } from './policies/policy-set-store.ts';
import { isGone, mayBind } from './policies/policy-set-verbs.ts';
import { policyRoutes } from './policies/routes.ts';
import { platformRules } from './rules/platform-rules.ts';
import { ruleRoutes } from './rules/routes.ts';
import { comboNeeding, ruleStore, rulesByTag } from './rules/rule-store.ts';
import { batchClaimStore } from './rules/rule-tests/batch-claim-store.ts';
import { ruleTestRoutes } from './rules/rule-tests/routes.ts';
import { type RuleTestParts, SCANS_AT_ONCE } from './rules/rule-tests/test-rules.ts';
import type { ProblemsOf } from './rules/rule-types/rule-type.ts';
import { taxonomyRoutes } from './taxonomies/routes.ts';
import { taxonomyStore } from './taxonomies/taxonomy-store.ts';
import { AnalysisThreads } from './threads/analysis-threads.ts';

export type AnalysisSettings = PublicUrls & {
  /** What the rules of one scan may cost together, in ms of CPU. */
  ruleBudgetMs: number;
  /** The AI model, and how many scans may wait for it at once; null: there is none. */
  model: (ModelSettings & { scansWaiting: number }) | null;
  /** What a rule that is tried may cost, and how long a batch of tests may take. */
  ruleTests?: RuleTestParts['limits'];
};

/** Two scans at a time are inspected and evaluated against rules; all eight can wait for other things at once. */
const SCAN_THREADS = 2;

/** Threads for the rules that clients write and try; those of scans have their own. */
const TEST_THREADS = 1;

/**
 * Pictures that are compared are reduced to 9 x 8 pixels from this size; of a tall page the upper part counts. A JPEG
 * costs less than half of a WebP.
 */
const COMPARED_SIZE = { width: 144, isWhole: false, isJpeg: true };

/** How long a batch of rule tests may take (spec 8). */
const RULE_BATCH_MS = 110_000;

/** What the analysis needs: the scans, their captures, and the tags and labels that it may assign. */
export type AnalysisNeeds = Pick<ScanDomain['stores'], 'scans'> &
  Pick<ReferenceDomain['verbs'], 'readTags' | 'registerTags' | 'changeTag' | 'removeTagUnlessUsed'> &
  Pick<AccountsDomain['verbs'], 'labelsOf' | 'requireSolvent'> &
  Pick<CrawlingDomain['verbs'], 'readPackedCapture' | 'bodies' | 'findPicture'> &
  Pick<
    CampaignsDomain['verbs'],
    'policySetOf' | 'bindCampaigns' | 'unbindCampaigns' | 'boundCampaigns' | 'activeBoundCampaign' | 'knownCampaigns'
  >;

export type AnalysisDomain = ReturnType<typeof analysisDomain>;

/** The analysis of captures: detection, rules, classification. */
export function analysisDomain(
  platform: Platform,
  needs: AnalysisNeeds,
  {
    publicUrl,
    hasConsole,
    ruleBudgetMs,
    model: settings,
    ruleTests = { ruleMs: ruleBudgetMs, batchMs: RULE_BATCH_MS },
  }: AnalysisSettings,
) {
  const { store, wake, metrics, logger } = platform;
  const { scans, readTags, labelsOf, requireSolvent, readPackedCapture, bodies } = needs;
  const model = settings && openModel(platform, needs, settings);
  const [rules, taxonomies, policySets] = [ruleStore(store), taxonomyStore(store), policySetStore(store)];
  const findPolicy: FindPolicy = async (organizationId, campaignId) => {
    const id = await needs.policySetOf(organizationId, campaignId);
    const set = id === null ? null : await policySets.findAny(id);
    return set && policyFor(organizationId, set);
  };
  // Both start a thread when there is work for it.
  const [threads, testThreads] = [new AnalysisThreads(SCAN_THREADS), new AnalysisThreads(TEST_THREADS)];
  const pictures = new PicturePool();
  const outboxFilled = () => wake.announce('scan-outbox');
  const readRules = rules.visibleTo;
  const dependencies: WorkerDependencies = {
    scans,
    readTags,
    readRules,
    readPackedCapture,
    bodies,
    ruleBudgetMs,
    metrics,
    logger,
    outboxFilled,
    findPolicy,
    urls: { publicUrl, hasConsole },
    compareRuns: compareRuns({
      earlierLooks: scans.earlierLooks,
      withTarget: scans.withTarget,
      screenshotFor: screenshots(needs.findPicture, pictures, logger, COMPARED_SIZE),
    }),
    analyse: (evidence, search) => threads.analyse(evidence, search),
    model: model && {
      show: model.show,
      judge: judgeByModel({ ask: model.ask, readRules, readTags, readTaxonomies: taxonomies.active, labelsOf }),
    },
  };
  const limits = { ...LIMITS, ...(settings && { waiting: settings.scansWaiting }) };
  const problemsOf: ProblemsOf = (owner, patterns) => testThreads.problemsOf(owner, patterns);
  const tests: RuleTestParts = {
    evidence: { readPackedCapture, bodies },
    findScan: scans.find,
    readTags,
    threads: testThreads,
    evidenceHeld: new PerOwnerLimit(SCANS_AT_ONCE),
    model,
    claims: batchClaimStore(store),
    limits: ruleTests,
  };
  const close = async (pool: AnalysisThreads) =>
    void (await Promise.all([pool.close(), pictures.close(), model?.close()]));
  return {
    stores: { rules, taxonomies, policySets, ...(model && { answers: model.answers }) },
    routes: {
      api: [
        ...ruleRoutes({
          ...needs,
          rules,
          problemsOf,
          countScans: scans.countWithTag,
          policySetNaming: policySets.namingTag,
        }),
        ...ruleTestRoutes({ rules, ruleTests: tests, problemsOf, requireSolvent }),
        ...taxonomyRoutes({ taxonomies }),
        ...policyRoutes({ ...needs, sets: policySets, taxonomies, judgedSince: scans.judgedSince }),
      ],
    },
    loops: {
      api: () => [{ stop: () => close(testThreads) }],
      relay: () => [startCountingWaiting({ scans, metrics, logger })],
      checks: () => [closing(startWorker(dependencies, wake.signal('checks'), limits), () => close(threads))],
    },
    outboxHandlers: {},
    verbs: {
      policySetNames: policySets.namesFor,
      policySetNaming: policySets.namingTag,
      hasPolicySet: (organizationId: string, id: string) => mayBind({ sets: policySets }, organizationId, id),
      /** Whether a set to which the organization's campaigns were bound is deleted. */
      isPolicySetGone: (organizationId: string, id: string) => isGone({ sets: policySets }, organizationId, id),
      /** The set of new campaigns that name none; null: none. */
      async defaultPolicySet(organizationId: string): Promise<string | null> {
        const id = await policySets.defaultOf(organizationId);
        return id !== null && (await mayBind({ sets: policySets }, organizationId, id)) ? id : null;
      },
      rulesByTag: (organizationId: string, hidden: readonly string[]) => rulesByTag(rules, organizationId, hidden),
      comboNeeding: (organizationId: string, tag: Pick<TagDefinition, 'slug' | 'category'>) =>
        comboNeeding({ rules, readTags }, organizationId, tag),

      /** Stores the rules that come with Adsweep where they are not there yet. */
      async addPlatformRules(): Promise<void> {
        for (const rule of platformRules(new Date())) await rules.insert(rule);
      },
    },
    dependencies: { ...dependencies, ruleTests: tests },
  } satisfies Domain;
}

/** Closes the threads once running analyses have ended. */
const closing = (worker: Loop, close: () => Promise<void>): Loop => ({
  stop: async () => {
    await worker.stop();
    await close();
  },
});
