import { newId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { pause } from '@adsweep/shared/service/time-slice.ts';
import { inSpan, type OpenSpan } from '@adsweep/shared/tracing/spans.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { inService, type ReadTags, type Tags } from '../../reference/tags/tag-definitions.ts';
import type { ScanRecord, ScanTag, SkippedRules } from '../../scan/scan.ts';
import { type CompareRuns, changeFindings } from '../changes/compare-runs.ts';
import type { LandingSeen } from '../changes/landing-seen.ts';
import { classify, type OwnNames } from '../classification/classify.ts';
import { combine, type Finding } from '../detectors/detector.ts';
import { NEEDS } from '../evidence/evidence.ts';
import { type EvidenceSources, type PackedScan, packScan } from '../evidence/packed-scan.ts';
import type { ModelEvidence, ModelSubject } from '../model/model-evidence.ts';
import type { ShowModel } from '../model/show-model.ts';
import { matchCombos, rulesInService, searchFindings, searchOf } from '../rules/evaluation/evaluate-rules.ts';
import type { GroupResult } from '../rules/evaluation/run-rules.ts';
import { isModelRule, type Rule, type RuleRecord, ruleOf } from '../rules/rule.ts';
import type { Analyse } from '../threads/analysis-threads.ts';
import { type JudgeByModel, type ModelJudgement, NO_JUDGEMENT } from './judge-by-model.ts';
import { skippedRules, withoutResult } from './skipped-rules.ts';
import { type OutcomeDependencies, writeOutcome } from './write-outcome.ts';

export type FinishDependencies = EvidenceSources &
  OutcomeDependencies & {
    readTags: ReadTags;
    /** Rules of an organization and of the platform. */
    readRules: (organizationId: string) => Promise<RuleRecord[]>;
    /** The CPU time that the rules of one scan may use together, in ms. */
    ruleBudgetMs: number;
    /** Inspects evidence and runs rules over it, in a thread. */
    analyse: Analyse;
    /** Classification by an AI model; null: none is configured, and none is expected. */
    model: { show: ShowModel; judge: JudgeByModel } | null;
    /** Compares a scan with the last run of its campaign. */
    compareRuns: CompareRuns;
    metrics: Pick<WorkMetrics, 'stepSeconds'>;
    logger: Logger;
  };

/**
 * A scan's slot in its worker. `leave` frees it for another scan, when this one only waits from now on; `signal`: the
 * worker stops.
 */
export type Slot = { leave: () => void; signal: AbortSignal };
/** For scans that share no slots with others. */
const OWN_SLOT: Slot = { leave: () => undefined, signal: new AbortController().signal };

/**
 * The result of a step that may lack something: names of the analysers without a result, and what the capture lacks.
 * With any, the scan becomes `partial`, and its error lists them.
 */
type Incomplete = { missing: string[] };

/**
 * From a crawl to a finished scan, step by step; false if another worker has taken the scan over. Nothing is written
 * before the last step, so after a crash all of them are repeated.
 */
export async function finishScan(
  dependencies: FinishDependencies,
  scan: ScanRecord,
  now: Date,
  slot = OWN_SLOT,
): Promise<boolean> {
  const { model, compareRuns } = dependencies;
  const analysis = { scan, now, began: performance.now() };
  const attributes = { 'adsweep.scan.id': scan._id, 'adsweep.analysis.attempt': scan.checks_attempts ?? 1 };
  return inSpan('analysis', scan.traceparent, { attributes }, async (span) => {
    const step = stepsWithin(span, dependencies);
    const inspected = await loadAndInspect(dependencies, scan, step);
    const shown = await step('show_model', () => (model ? model.show(scan, inspected.subject) : null));
    const judged = await step('ask_model', () => askModel(dependencies, scan, shown, slot));
    const compared = await step('compare_runs', () => compareRuns(scan, inspected.landing));
    const found = [...inspected.findings, ...judged.findings, ...changeFindings(compared?.changes ?? [])];
    const matched = await step('run_rules', () => applyRules(dependencies, scan, inspected, found));
    const tags = await step('assign_tags', () => tagsOf(matched, now));
    const finished = await step('finish', () =>
      writeOutcome(dependencies, analysis, {
        names: inspected.names,
        judged,
        compared,
        tags,
        definitionsBefore: inspected.definitions,
        definitions: matched.definitions,
        missing: [...inspected.missing, ...withoutScreenshot(shown), ...judged.missing, ...matched.missing],
        outOfBudget: matched.outOfBudget,
      }),
    );
    span.add({ 'adsweep.scan.status': (finished ?? scan).status });
    return finished !== null;
  });
}

/**
 * Finishes a claimed scan as `partial` without its analysis, which has ended the process or timed out at every attempt;
 * false if another worker has taken it over.
 */
export async function abandonAnalysis(dependencies: FinishDependencies, scan: ScanRecord, now: Date): Promise<boolean> {
  dependencies.logger.error(
    { scan_id: scan._id, attempts: scan.checks_attempts },
    'the analysis of a scan was abandoned',
  );
  const definitions = await dependencies.readTags(scan.organization_id);
  const analysis = { scan, now, began: performance.now() };
  const finished = await writeOutcome(dependencies, analysis, {
    names: namesWithoutEvidence(scan),
    judged: NO_JUDGEMENT,
    compared: null,
    tags: [],
    definitionsBefore: new Map(),
    definitions,
    missing: ['INTERRUPTED'],
    outOfBudget: NONE_SKIPPED,
  });
  return finished !== null;
}

const NONE_SKIPPED: SkippedRules = { total: 0, rules: [] };

type RunStep = <T>(name: string, run: () => T | Promise<T>) => Promise<T>;

/**
 * Runs the steps of an analysis: each is measured, those that may take long are traced, and other work runs in between.
 */
function stepsWithin({ traceparent }: OpenSpan, { metrics, model }: FinishDependencies): RunStep {
  const traced = new Set(['inspect', 'run_rules', ...(model ? ['ask_model'] : [])]);
  return async (name, run) => {
    const stopTimer = metrics.stepSeconds.startTimer({ step: name });
    const result = await inSpan(name, traced.has(name) ? traceparent : null, {}, async () => run());
    stopTimer();
    await pause();
    return result;
  };
}

/**
 * What evidence is inspected with: the rules in service, except those that a model decides, and definitions of tags.
 */
type Loaded = { packed: PackedScan; rules: Rule[]; definitions: Tags; readAt: number };

/** What was found in the evidence, before a model and combos look at it. */
type Inspected = Incomplete & {
  rules: Rule[];
  /** Results of the rules that search texts; null: they could not be run. */
  searched: GroupResult[] | null;
  /**
   * The definitions when the rules were read, and that moment on this process' monotonic clock; null: they were not.
   */
  definitions: Tags;
  readAt: number | null;
  findings: Finding[];
  /** The links that combos look at. */
  links: string[];
  names: OwnNames;
  landing: LandingSeen | null;
  subject: ModelSubject;
};

/**
 * Two steps in one function: the evidence is released when it returns, however long the scan then waits for a model.
 */
async function loadAndInspect(dependencies: FinishDependencies, scan: ScanRecord, step: RunStep): Promise<Inspected> {
  const loaded = await step('load_evidence', () => loadEvidence(dependencies, scan));
  return step('inspect', () => (loaded ? inspectEvidence(dependencies, scan, loaded) : withoutEvidence(scan)));
}

async function loadEvidence(dependencies: FinishDependencies, scan: ScanRecord): Promise<Loaded | null> {
  const { readRules, readTags, logger } = dependencies;
  const packed = await packScan(dependencies, scan, new Set(NEEDS));
  if (!packed) {
    logger.error({ scan_id: scan._id }, 'the capture of a crawled scan is gone');
    return null;
  }
  const { organization_id } = scan;
  const [records, definitions] = await Promise.all([readRules(organization_id), readTags(organization_id)]);
  const active = records.filter(({ is_active }) => is_active).map(ruleOf);
  const rules = rulesInService(active, definitions).filter((rule) => !isModelRule(rule));
  return { packed, rules, definitions, readAt: performance.now() };
}

/** Detectors, names and rules that search texts, without the domains that the scan skips (spec 4.2.11). */
async function inspectEvidence(
  { analyse, ruleBudgetMs, logger }: FinishDependencies,
  scan: ScanRecord,
  { packed, rules, definitions, readAt }: Loaded,
): Promise<Inspected> {
  const { inspection, search } = await analyse(packed, searchOf(rules, ruleBudgetMs));
  const { failed, lacking, names, findings, links, landing, subject } = inspection;
  for (const { name, cause } of failed)
    logger.error({ scan_id: scan._id, judgement: name, cause }, 'a step of the analysis failed');
  if ('failed' in search)
    logger.error({ scan_id: scan._id, cause: search.failed }, 'the rules of a scan could not be run');
  return {
    ...{ rules, definitions, readAt, findings, links, landing, subject },
    searched: 'failed' in search ? null : search,
    names: names ?? namesWithoutEvidence(scan),
    missing: [...failed.map(({ name }) => name), ...lacking],
  };
}

/** What is found in a capture that is gone. */
const withoutEvidence = (scan: ScanRecord): Inspected => ({
  rules: [],
  searched: [],
  definitions: new Map(),
  readAt: null,
  findings: [],
  links: [],
  names: namesWithoutEvidence(scan),
  landing: null,
  subject: { landings: [], documents: [], creative: null, creativeHtml: '' },
  missing: ['evidence'],
});

/** All that is known without evidence is the network of an ad on a page, which the sweep found. */
const namesWithoutEvidence = (scan: ScanRecord): OwnNames =>
  classify({ judged: [], captured: [], adBlock: scan.ad_block ?? null });

/** A model may take minutes: the scan leaves its slot to another one, and keeps its claim. */
async function askModel(
  { model }: FinishDependencies,
  scan: ScanRecord,
  shown: ModelEvidence | null,
  slot: Slot,
): Promise<ModelJudgement> {
  if (!model || !shown) return NO_JUDGEMENT;
  slot.leave();
  return model.judge(scan, shown, slot.signal);
}

const withoutScreenshot = (shown: ModelEvidence | null): string[] =>
  shown?.lacksScreenshot ? ['ai_verdict (without the screenshot)'] : [];

/** The findings of all steps, and the definitions of tags after the rules were run. */
type RuleResults = Incomplete & {
  findings: Finding[];
  definitions: Tags;
  /** The rules that the time for rules did not suffice for. */
  outOfBudget: SkippedRules;
};

/**
 * Adds to `found` what rules found in texts, then what combos find among everything. Rules without a result are listed
 * as missing.
 */
async function applyRules(
  { readTags }: FinishDependencies,
  scan: ScanRecord,
  inspected: Inspected,
  found: Finding[],
): Promise<RuleResults> {
  const { rules, searched, links } = inspected;
  const definitions = await currentDefinitions(readTags, scan, inspected);
  if (!searched) return { definitions, findings: combine(found), missing: ['rules'], outOfBudget: NONE_SKIPPED };
  const { findings: inTexts, skipped, unreadable } = searchFindings(rules, searched);
  const seen = [...found, ...inTexts];
  const combos = await matchCombos(rulesInService(rules, definitions), combine(seen), definitions, links);
  return {
    definitions,
    findings: combine([...seen, ...combos]),
    missing: [
      ...withoutResult('rules skipped, the time budget was spent', skipped, definitions),
      ...withoutResult('rules that could not be read', unreadable, definitions),
    ],
    outOfBudget: skippedRules(skipped, definitions),
  };
}

/** Definitions are read again after this time, such as after the model has judged. */
const DEFINITIONS_KEPT_MS = 1_000;

/** The definitions now, or those that were read moments ago. */
async function currentDefinitions(
  readTags: ReadTags,
  { organization_id }: ScanRecord,
  { definitions, readAt }: Inspected,
): Promise<Tags> {
  const isNew = readAt !== null && performance.now() - readAt < DEFINITIONS_KEPT_MS;
  return isNew ? definitions : readTags(organization_id);
}

/** Findings whose tag is in service become the scan's tags. */
const tagsOf = ({ findings, definitions }: RuleResults, now: Date): ScanTag[] =>
  findings
    .filter(({ tag_slug }) => inService(definitions, tag_slug) !== null)
    .map((finding) => ({ id: newId(), ...finding, created_at: now }));
