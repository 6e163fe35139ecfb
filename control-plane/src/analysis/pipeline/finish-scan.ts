import { newId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { pause } from '@adsweep/shared/service/time-slice.ts';
import { inSpan } from '@adsweep/shared/tracing/spans.ts';
import type { WorkMetrics } from '../../metrics.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import { inService, isArchived, type ReadTags, type Tags } from '../../reference/tags/tag-definitions.ts';
import { changeScan } from '../../scan/change-scan.ts';
import { measureEnd } from '../../scan/measure-end.ts';
import type { Classification, ScanRecord, ScanTag, SkippedRules } from '../../scan/scan.ts';
import type { PublicUrls } from '../../scan/scan-links.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { withExtractedLabels } from '../../scan/sent-labels.ts';
import { type Compared, type CompareRuns, changeFindings } from '../changes/compare-runs.ts';
import type { LandingSeen } from '../changes/landing-seen.ts';
import type { ModelClassification } from '../classification/classification-question.ts';
import { classify, type OwnNames } from '../classification/classify.ts';
import { combine, type Finding } from '../detectors/detector.ts';
import { NEEDS } from '../evidence/evidence.ts';
import { type EvidenceSources, type PackedScan, packScan } from '../evidence/packed-scan.ts';
import type { ModelEvidence, ModelSubject } from '../model/model-evidence.ts';
import type { ShowModel } from '../model/show-model.ts';
import { alertsEntry, type FindPolicy } from '../policies/alerts-entry.ts';
import { matchCombos, rulesInService, searchFindings, searchOf } from '../rules/evaluation/evaluate-rules.ts';
import type { GroupResult } from '../rules/evaluation/run-rules.ts';
import { isModelRule, type Rule, type RuleRecord, ruleOf } from '../rules/rule.ts';
import type { Analyse } from '../threads/analysis-threads.ts';
import { finishEvents } from './finish-events.ts';
import { type JudgeByModel, NOT_CLASSIFIED } from './judge-by-model.ts';
import { skippedRules, withoutResult } from './skipped-rules.ts';

export type FinishDependencies = EvidenceSources & {
  scans: Pick<ScanStore, 'apply'>;
  readTags: ReadTags;
  /** Rules of an organization and of the platform. */
  readRules: (organizationId: string) => Promise<RuleRecord[]>;
  /** The CPU time that the rules of one scan may use together, in ms. */
  ruleBudgetMs: number;
  /** Base URL of the links in events. */
  urls: PublicUrls;
  /** Inspects evidence and runs rules over it, in a thread. */
  analyse: Analyse;
  /** Classification by an AI model; null: none is configured, and none is expected. */
  model: { show: ShowModel; judge: JudgeByModel } | null;
  /** What the scans of a campaign are held against now; null: nothing. */
  findPolicy: FindPolicy;
  /** Compares a scan with the last run of its campaign. */
  compareRuns: CompareRuns;
  metrics: Pick<WorkMetrics, 'stepSeconds' | 'finishedScans' | 'stageSeconds' | 'findings'>;
  logger: Logger;
};

/** The state of a scan's analysis. It began at `now`, which was `began` on this process' monotonic clock. */
type State = {
  scan: ScanRecord;
  now: Date;
  began: number;
  slot: Slot;
  packed: PackedScan | null;
  /** The rules in service, except those that a model decides. */
  rules: Rule[];
  /** Results of the rules that search texts; null: they could not be run. */
  searched: GroupResult[] | null;
  findings: Finding[];
  /** The links that combos look at. */
  links: string[];
  names: OwnNames;
  landing: LandingSeen | null;
  /** Null: it is not compared. */
  compared: Compared | null;
  subject: ModelSubject;
  /** What the model is shown; null: there is no model. */
  shown: ModelEvidence | null;
  classification: ModelClassification;
  extractedLabels: Record<string, string>;
  /** The definitions when the rules were read, and after they were run. */
  definitionsBefore: Tags;
  definitions: Tags;
  /** When the first ones were read, on this process' monotonic clock; null: they were not. */
  definitionsReadAt: number | null;
  tags: ScanTag[];
  /**
   * Names of the analysers without a result, and what the capture lacks: the scan becomes `partial`, and its error
   * lists them.
   */
  missing: string[];
  /** The rules that the time for rules did not suffice for. */
  outOfBudget: SkippedRules;
};

/**
 * A scan's slot in its worker. `leave` frees it for another scan, when this one only waits from now on; `signal`: the
 * worker stops.
 */
export type Slot = { leave: () => void; signal: AbortSignal };

type Step = (dependencies: FinishDependencies, state: State) => Promise<Partial<State>> | Partial<State>;

/**
 * From a crawl to a finished scan, in this order. Nothing is written before the last step, so after a crash all of them
 * are repeated.
 */
const STEPS: [name: string, step: Step][] = [
  ['load_evidence', loadEvidence],
  ['inspect', inspectEvidence],
  ['show_model', prepareForModel],
  ['ask_model', askModel],
  ['compare_runs', compareWithLastRun],
  ['run_rules', applyRules],
  ['assign_tags', assignTags],
  ['finish', finish],
];

/** Analyses a claimed scan and finishes it; false if another worker has taken it over. */
export async function finishScan(
  dependencies: FinishDependencies,
  scan: ScanRecord,
  now: Date,
  slot = OWN_SLOT,
): Promise<boolean> {
  const attributes = { 'adsweep.scan.id': scan._id, 'adsweep.analysis.attempt': scan.checks_attempts ?? 1 };
  // The steps that may take long.
  const traced = new Set(['inspect', 'run_rules', ...(dependencies.model ? ['ask_model'] : [])]);
  return inSpan('analysis', scan.traceparent, { attributes }, async (span) => {
    let state: State = { ...nothingOf(scan), now, slot, began: performance.now() };
    for (const [step, run] of STEPS) {
      const stopTimer = dependencies.metrics.stepSeconds.startTimer({ step });
      const runStep = async () => run(dependencies, state);
      const changed = await inSpan(step, traced.has(step) ? span.traceparent : null, {}, runStep);
      state = { ...state, ...changed };
      stopTimer();
      await pause();
    }
    span.add({ 'adsweep.scan.status': state.scan.status });
    return state.scan.status !== 'checking';
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
  const about = { now, definitions, slot: OWN_SLOT, began: performance.now(), missing: [INTERRUPTED] };
  const state = { ...nothingOf(scan), ...about };
  const { scan: finished } = await finish(dependencies, state);
  return finished !== undefined;
}

/** For scans that share no slots with others. */
const OWN_SLOT: Slot = { leave: () => undefined, signal: new AbortController().signal };
/** The error of an abandoned scan. */
const INTERRUPTED = 'INTERRUPTED';
/** Before the analysis, nothing is known but the network of an ad on a page, which the sweep found. */
const nothingOf = (scan: ScanRecord) => ({
  scan,
  outOfBudget: { total: 0, rules: [] },
  packed: null,
  rules: [],
  searched: [],
  findings: [],
  links: [],
  names: classify({ judged: [], captured: [], adBlock: scan.ad_block ?? null }),
  landing: null,
  compared: null,
  subject: { landings: [], documents: [], creative: null, creativeHtml: '' },
  shown: null,
  classification: NOT_CLASSIFIED,
  extractedLabels: {},
  definitionsBefore: new Map(),
  definitions: new Map(),
  definitionsReadAt: null,
  tags: [],
  missing: [],
});

async function loadEvidence(dependencies: FinishDependencies, { scan, missing }: State): Promise<Partial<State>> {
  const { readRules, readTags, logger } = dependencies;
  const packed = await packScan(dependencies, scan, new Set(NEEDS));
  if (!packed) {
    logger.error({ scan_id: scan._id }, 'the capture of a crawled scan is gone');
    return { missing: [...missing, 'evidence'] };
  }
  const { organization_id } = scan;
  const [records, tags] = await Promise.all([readRules(organization_id), readTags(organization_id)]);
  const active = records.filter(({ is_active }) => is_active).map(ruleOf);
  const rules = rulesInService(active, tags).filter((rule) => !isModelRule(rule));
  return { packed, rules, definitionsBefore: tags, definitionsReadAt: performance.now() };
}

/**
 * Detectors, names and rules that search texts, without the domains that the scan skips (spec 4.2.11). Releases the
 * evidence.
 */
async function inspectEvidence(
  { analyse, ruleBudgetMs, logger }: FinishDependencies,
  { scan, packed, rules, names: noNames, missing }: State,
): Promise<Partial<State>> {
  if (!packed) return {};
  const { inspection, search } = await analyse(packed, searchOf(rules, ruleBudgetMs));
  const { failed, lacking, names, ...seen } = inspection;
  for (const { name, cause } of failed)
    logger.error({ scan_id: scan._id, judgement: name, cause }, 'a step of the analysis failed');
  if ('failed' in search)
    logger.error({ scan_id: scan._id, cause: search.failed }, 'the rules of a scan could not be run');
  const ofFailed = failed.map(({ name }) => name);
  const searched = 'failed' in search ? null : search;
  return { ...seen, searched, names: names ?? noNames, packed: null, missing: [...missing, ...ofFailed, ...lacking] };
}

async function prepareForModel(
  { model }: FinishDependencies,
  { scan, subject, missing }: State,
): Promise<Partial<State>> {
  const shown = model && (await model.show(scan, subject));
  return { shown, missing: shown?.lacksScreenshot ? [...missing, 'ai_verdict (without the screenshot)'] : missing };
}

/** A model may take minutes: the scan leaves its slot to another one, and keeps its claim. */
async function askModel({ model }: FinishDependencies, state: State): Promise<Partial<State>> {
  const { scan, shown, slot, findings, missing } = state;
  if (!model || !shown) return {};
  slot.leave();
  const judgement = await model.judge(scan, shown, slot.signal);
  return {
    classification: judgement.classification,
    extractedLabels: judgement.labels,
    findings: [...findings, ...judgement.findings],
    missing: [...missing, ...judgement.missing],
  };
}

/** Adds what differs from the last run of the campaign. A sweep, and what was never seen, are not compared. */
async function compareWithLastRun(
  { compareRuns }: FinishDependencies,
  { scan, landing, findings }: State,
): Promise<Partial<State>> {
  const compared = await compareRuns(scan, landing);
  return compared ? { compared, findings: [...findings, ...changeFindings(compared.changes)] } : {};
}

/**
 * Adds what rules found in texts, then what combos find among everything. Rules without a result are listed as missing.
 */
async function applyRules(dependencies: FinishDependencies, state: State): Promise<Partial<State>> {
  const { rules, searched, links, findings, missing } = state;
  const definitions = await currentDefinitions(dependencies, state);
  if (!searched) return { definitions, findings: combine(findings), missing: [...missing, 'rules'] };
  const { findings: inTexts, skipped, unreadable } = searchFindings(rules, searched);
  const found = combine([...findings, ...inTexts]);
  const combos = await matchCombos(rulesInService(rules, definitions), found, definitions, links);
  return {
    definitions,
    findings: combine([...findings, ...inTexts, ...combos]),
    missing: [
      ...missing,
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
  { readTags }: Pick<FinishDependencies, 'readTags'>,
  { scan, definitionsBefore, definitionsReadAt }: State,
): Promise<Tags> {
  const isNew = definitionsReadAt !== null && performance.now() - definitionsReadAt < DEFINITIONS_KEPT_MS;
  return isNew ? definitionsBefore : readTags(scan.organization_id);
}

/** Findings whose tag is in service become the scan's tags. */
function assignTags(_: FinishDependencies, { findings, definitions, now }: State): Partial<State> {
  const known = findings.filter(({ tag_slug }) => inService(definitions, tag_slug) !== null);
  return { tags: known.map((finding) => ({ id: newId(), ...finding, created_at: now })) };
}

async function finish(dependencies: FinishDependencies, state: State): Promise<Partial<State>> {
  const { scans, metrics, urls } = dependencies;
  const { scan, tags, names, missing, extractedLabels, compared, definitions } = state;
  const complete = missing.length === 0;
  const error = complete ? '' : `checks: ${missing.join(', ')}`;
  const ended = new Date(state.now.getTime() + performance.now() - state.began);
  const { network, network_host, brand } = names;
  const classification = { brand, ...state.classification };
  const { labels = scan.labels } = withExtractedLabels(scan, extractedLabels);
  const alerts = await decideAlerts(dependencies, { ...state, now: ended }, { classification, labels });
  const event = {
    type: 'finish' as const,
    tags: [...tags, ...archivedBefore(state)],
    classification,
    extractedLabels,
    network,
    networkHost: network_host,
    complete,
    error,
    rulesOutOfBudget: state.outOfBudget,
    ...(alerts && { alerts }),
    ...(compared && { compared }),
  };
  const status = complete ? ('completed' as const) : ('partial' as const);
  const analysed = { scan, status, labels, tags, definitions };
  const events = finishEvents(urls, analysed, { classification, network, network_host, error });
  const finished = await changeScan(scans, scan, event, ended, events);
  if (!finished) return {};
  measureEnd(metrics, finished);
  for (const { tag_slug } of tags) metrics.findings.inc({ severity: inService(definitions, tag_slug)!.severity });
  return { scan: finished };
}

/**
 * What a recheck does not judge anew: the earlier assignments of tags that are archived, or were when it began (spec
 * 2.5, rule 5). No response shows them, and no event names them.
 */
function archivedBefore({ scan, tags, definitionsBefore, definitions }: State): ScanTag[] {
  const placeOf = ({ tag_slug, url, surface }: ScanTag) => JSON.stringify([tag_slug, url, surface]);
  const found = new Set(tags.map(placeOf));
  return (scan.tags_before_recheck ?? []).filter(
    (tag) =>
      (isArchived(definitions, tag.tag_slug) || isArchived(definitionsBefore, tag.tag_slug)) &&
      !found.has(placeOf(tag)),
  );
}

/**
 * The alerts of the scan, by the policy set that its campaign is bound to now; null: none. The finish writes them into its outbox. `ended`: what the
 * scan gets with the finish; alerts are routed by its labels, those that the model added too.
 */
async function decideAlerts(
  { findPolicy }: Pick<FinishDependencies, 'findPolicy'>,
  { scan, tags, definitions, now }: State,
  ended: { classification: Classification; labels: ScanRecord['labels'] },
): Promise<OutboxEntry<'alerts'> | null> {
  const { campaign_id, organization_id } = scan;
  const policy = campaign_id === null ? null : await findPolicy(organization_id, campaign_id);
  if (!policy) return null;
  return alertsEntry(policy, { ...scan, tags, ...ended }, definitions, now);
}
