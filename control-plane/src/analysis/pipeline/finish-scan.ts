import { newId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type EmittedEvent, emit } from '../../platform/outbox/outbox-entry.ts';
import { inService, type ReadTags } from '../../reference/tags/tag-definitions.ts';
import { changeScan } from '../../scan/change-scan.ts';
import type { InternalScans } from '../../scan/internal-scans.ts';
import type { ScanRecord, ScanTag } from '../../scan/scan.ts';
import type { ModelClassification } from '../classification/classification-question.ts';
import { classify, type OwnNames } from '../classification/classify.ts';
import { combine } from '../detectors/combine.ts';
import type { Finding } from '../detectors/finding.ts';
import type { PackedScan } from '../evidence/packed-scan.ts';
import { type EvidenceSources, packScan } from '../evidence/packed-scan.ts';
import type { ModelEvidence, ModelSubject } from '../model/model-evidence.ts';
import type { ShowModel } from '../model/show-model.ts';
import type { JudgeByRules } from '../rules/judge-by-rules.ts';
import type { Inspection } from '../threads/inspect.ts';
import { type JudgeByModel, NOT_CLASSIFIED } from './judge-by-model.ts';

export type FinishDependencies = EvidenceSources & {
  scans: Pick<InternalScans, 'apply'>;
  readTags: ReadTags;
  /** Inspects the evidence of a scan, in a thread. */
  inspect: (packed: PackedScan) => Promise<Inspection>;
  judgeByRules: JudgeByRules;
  /** Classification by an AI model; null: none is configured, and none is expected. */
  model: { show: ShowModel; judge: JudgeByModel } | null;
  metrics: Pick<WorkMetrics, 'stepSeconds' | 'finishedScans'>;
  logger: Logger;
};

/** The state of the checks of one scan. They began at `now`, which was `began` on this process' monotonic clock. */
type Checks = {
  scan: ScanRecord;
  now: Date;
  began: number;
  packed: PackedScan | null;
  findings: Finding[];
  /** The links that combination rules look at. */
  links: string[];
  names: OwnNames;
  subject: ModelSubject;
  /** What the model is shown; null: there is no model. */
  shown: ModelEvidence | null;
  classification: ModelClassification;
  extractedLabels: Record<string, string>;
  turn: Turn;
  tags: ScanTag[];
  /** Names of the judgements that are missing: the scan is `partial`, and says which. */
  missing: string[];
};

/** A scan's turn in its worker: `leaveSlot` says that it only waits from now on, `signal` that the worker stops. */
export type Turn = { leaveSlot: () => void; signal: AbortSignal };

type Step = (dependencies: FinishDependencies, checks: Checks) => Promise<Partial<Checks>> | Partial<Checks>;

/** From a crawl to a finished scan, in this order. Nothing is written before the last step, so that after a crash all of them are repeated. */
const STEPS: [name: string, step: Step][] = [
  ['load_evidence', loadEvidence],
  ['inspect', inspectEvidence],
  ['show_model', prepareForModel],
  ['ask_model', askModel],
  ['run_rules', runRules],
  ['assign_tags', assignTags],
  ['finish', finish],
];

/** Runs the checks of a claimed scan and finishes it; false where someone else took it over meanwhile. */
export async function finishScan(
  dependencies: FinishDependencies,
  scan: ScanRecord,
  now: Date,
  turn = ALONE,
): Promise<boolean> {
  let checks: Checks = { ...NOTHING, scan, now, turn, began: performance.now() };
  for (const [step, run] of STEPS) {
    const stopTimer = dependencies.metrics.stepSeconds.startTimer({ step });
    checks = { ...checks, ...(await run(dependencies, checks)) };
    stopTimer();
  }
  return checks.scan.status !== 'checking';
}

/**
 * Finishes a claimed scan as `partial` without its checks, which have ended the process or run out of time each time they were begun;
 * false where someone else took it over meanwhile.
 */
export async function abandonChecks(dependencies: FinishDependencies, scan: ScanRecord, now: Date): Promise<boolean> {
  dependencies.logger.error(
    { scan_id: scan._id, attempts: scan.checks_attempts },
    'the checks of a scan were abandoned',
  );
  const checks = { ...NOTHING, scan, now, turn: ALONE, began: performance.now(), missing: [INTERRUPTED] };
  const { scan: finished } = await finish(dependencies, checks);
  return finished !== undefined;
}

/** A scan whose checks do not share a slot with others. */
const ALONE: Turn = { leaveSlot: () => undefined, signal: new AbortController().signal };
/** All judgements are missing. */
const INTERRUPTED = 'INTERRUPTED';
const NOTHING = {
  packed: null,
  findings: [],
  links: [],
  names: classify({ judged: [], captured: [] }),
  subject: { landings: [], documents: [], creative: null },
  shown: null,
  classification: NOT_CLASSIFIED,
  extractedLabels: {},
  tags: [],
  missing: [],
};

async function loadEvidence(dependencies: FinishDependencies, { scan, missing }: Checks): Promise<Partial<Checks>> {
  const packed = await packScan(dependencies, scan);
  if (packed) return { packed };
  dependencies.logger.error({ scan_id: scan._id }, 'the capture of a crawled scan is gone');
  return { missing: [...missing, 'evidence'] };
}

/** Detectors and names, without the domains that the scan skips (spec 4.2.11). The evidence itself is not held from here on. */
async function inspectEvidence(
  { inspect, logger }: FinishDependencies,
  { scan, packed, names: unknown, missing }: Checks,
): Promise<Partial<Checks>> {
  if (!packed) return {};
  const { failed, names, ...seen } = await inspect(packed);
  for (const { name, cause } of failed)
    logger.error({ scan_id: scan._id, judgement: name, cause }, 'a step of the analysis failed');
  const ofFailed = failed.map(({ name }) => name);
  return { ...seen, names: names ?? unknown, packed: null, missing: [...missing, ...ofFailed] };
}

/** Rules run in threads, so that no expression blocks the process; skipped ones are named. */
async function runRules({ judgeByRules }: FinishDependencies, checks: Checks): Promise<Partial<Checks>> {
  const { scan, links, findings, missing } = checks;
  const byRules = await judgeByRules(scan, findings, links);
  return { findings: combine([...findings, ...byRules.findings]), missing: [...missing, ...byRules.missing] };
}

async function prepareForModel({ model }: FinishDependencies, { scan, subject }: Checks): Promise<Partial<Checks>> {
  return { shown: model && (await model.show(scan, subject)) };
}

/** A model may take minutes: the scan leaves its slot to another one, and keeps its claim. */
async function askModel({ model }: FinishDependencies, checks: Checks): Promise<Partial<Checks>> {
  const { scan, shown, turn, findings, missing } = checks;
  if (!model || !shown) return {};
  turn.leaveSlot();
  const judgement = await model.judge(scan, shown, turn.signal);
  return {
    classification: judgement.classification,
    extractedLabels: judgement.labels,
    findings: [...findings, ...judgement.findings],
    missing: [...missing, ...judgement.missing],
  };
}

/** Findings whose tag is in service become the scan's tags. */
async function assignTags({ readTags }: FinishDependencies, { scan, findings, now }: Checks): Promise<Partial<Checks>> {
  const definitions = await readTags(scan.organization_id);
  const known = findings.filter(({ tag_slug }) => inService(definitions, tag_slug) !== null);
  return { tags: known.map((finding) => ({ id: newId(), ...finding, created_at: now })) };
}

async function finish({ scans, metrics }: FinishDependencies, checks: Checks): Promise<Partial<Checks>> {
  const { scan, tags, names, missing, extractedLabels } = checks;
  const complete = missing.length === 0;
  const error = complete ? '' : `checks: ${missing.join(', ')}`;
  const ended = new Date(checks.now.getTime() + performance.now() - checks.began);
  const { network, network_host, brand } = names;
  const classification = { brand, ...checks.classification };
  const judged = { tags, classification, extractedLabels, network, networkHost: network_host };
  const event = { type: 'finish' as const, ...judged, complete, error };
  const finished = await changeScan(scans, scan, event, ended, finishEvents({ ...checks, now: ended }));
  if (!finished) return {};
  metrics.finishedScans.inc({ status: finished.status });
  return { scan: finished };
}

function finishEvents({ scan, now, tags, missing }: Checks): EmittedEvent[] {
  const scan_id = scan._id;
  const tag_slugs = [...new Set(tags.map(({ tag_slug }) => tag_slug))];
  const status = missing.length === 0 ? 'completed' : 'partial';
  const completed = emit('scanning.scan.completed', { scan_id, status }, now);
  if (tag_slugs.length === 0) return [completed];
  return [emit('scanning.tags.detected', { scan_id, tag_slugs }, now), completed];
}
