import { newId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ReadCapture } from '../captures/read-capture.ts';
import { classify, type Verdict } from '../classification/classify.ts';
import { detect } from '../detection/detect.ts';
import { type Evidence, evidenceOf } from '../detection/evidence.ts';
import type { Finding } from '../detection/finding.ts';
import { type EmittedEvent, emit } from '../events/emit.ts';
import type { FarmMetrics } from '../metrics.ts';
import { changeScan } from '../scans/change-scan.ts';
import type { FarmScans } from '../scans/farm-scans.ts';
import type { ScanRecord, ScanTag } from '../scans/scan.ts';
import { findTagDefinition } from '../tags/tag-definitions.ts';
import { runWithin } from './run-within.ts';

export type FinishDependencies = {
  scans: Pick<FarmScans, 'apply'>;
  readCapture: ReadCapture;
  metrics: Pick<FarmMetrics, 'stepSeconds' | 'finishedScans'>;
  logger: Logger;
};

/**
 * What the checks of one scan know so far; `complete` turns false where a judgement is missing. They began at `now`, which was
 * `began` on this process' own clock.
 */
type Checks = {
  scan: ScanRecord;
  now: Date;
  began: number;
  captured: Evidence;
  judged: Evidence;
  findings: Finding[];
  verdict: Verdict;
  tags: ScanTag[];
  complete: boolean;
  /** What the client is told of a scan whose checks were given up. */
  error: string;
};

/** The longest that one judgement may hold the process. */
const JUDGE_MS = 5_000;

type Step = (dependencies: FinishDependencies, checks: Checks) => Promise<Partial<Checks>> | Partial<Checks>;

/** From a crawl to a finished scan, in this order. Nothing is written before the last step, so that a crash anywhere repeats them all. */
const STEPS: [name: string, step: Step][] = [
  ['load_evidence', loadEvidence],
  ['leave_out_domains', leaveOutDomains],
  ['detect', detectTags],
  ['classify', classifyLandings],
  ['assign_tags', assignTags],
  ['finish', finish],
];

/** Runs the checks of a claimed scan and finishes it; false where someone else took it over meanwhile. */
export async function finishScan(dependencies: FinishDependencies, scan: ScanRecord, now: Date): Promise<boolean> {
  let checks: Checks = { ...NOTHING, scan, now, began: performance.now() };
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
  const error = 'checks: INTERRUPTED';
  dependencies.logger.error({ scan_id: scan._id, attempts: scan.checks_attempts, error }, 'the checks were given up');
  const checks = { ...NOTHING, scan, now, began: performance.now(), complete: false, error };
  const { scan: finished } = await finish(dependencies, checks);
  return finished !== undefined;
}

const NO_EVIDENCE: Evidence = { landings: [], requests: [], observations: [] };
const NO_VERDICT: Verdict = classify([], []);
const NOTHING = {
  captured: NO_EVIDENCE,
  judged: NO_EVIDENCE,
  findings: [],
  verdict: NO_VERDICT,
  tags: [],
  complete: true,
  error: '',
};

async function loadEvidence({ readCapture, logger }: FinishDependencies, { scan }: Checks): Promise<Partial<Checks>> {
  const record = await readCapture(scan);
  if (record) return { captured: record.capture };
  logger.error({ scan_id: scan._id }, 'the capture of a crawled scan is gone');
  return { complete: false };
}

/** Spec 4.2.11: skipped domains stay in the capture and leave the judgement. */
function leaveOutDomains(_: FinishDependencies, { scan, captured }: Checks): Partial<Checks> {
  return { judged: evidenceOf(captured, scan.ignore_first_n_domains) };
}

function detectTags(dependencies: FinishDependencies, checks: Checks): Partial<Checks> {
  return judge(dependencies, checks, () => ({ findings: detect(checks.judged) }));
}

function classifyLandings(dependencies: FinishDependencies, checks: Checks): Partial<Checks> {
  const { judged, captured } = checks;
  return judge(dependencies, checks, () => ({ verdict: classify(judged.landings, captured.landings) }));
}

/** Findings whose tag is in service become the scan's tags. */
function assignTags(_: FinishDependencies, { findings, now }: Checks): Partial<Checks> {
  const known = findings.filter(({ tag_slug }) => findTagDefinition(tag_slug) !== null);
  return { tags: known.map((finding) => ({ id: newId(), ...finding, created_at: now })) };
}

async function finish({ scans, metrics }: FinishDependencies, checks: Checks): Promise<Partial<Checks>> {
  const { scan, tags, verdict, complete, error } = checks;
  const ended = new Date(checks.now.getTime() + performance.now() - checks.began);
  const { network, network_host, ...classification } = verdict;
  const event = { type: 'finish' as const, tags, classification, network, networkHost: network_host, complete, error };
  const finished = await changeScan(scans, scan, event, ended, finishEvents({ ...checks, now: ended }));
  if (!finished) return {};
  metrics.finishedScans.inc({ status: finished.status });
  return { scan: finished };
}

/** Judging is pure: what fails or takes too long once does so always, so that the judgement is missing and the scan `partial`. */
function judge({ logger }: FinishDependencies, { scan }: Checks, work: () => Partial<Checks>): Partial<Checks> {
  try {
    return runWithin(JUDGE_MS, work);
  } catch (cause) {
    logger.error({ scan_id: scan._id, cause }, 'a capture could not be judged');
    return { complete: false };
  }
}

function finishEvents({ scan, now, tags, complete }: Checks): EmittedEvent[] {
  const scan_id = scan._id;
  const tag_slugs = [...new Set(tags.map(({ tag_slug }) => tag_slug))];
  const status = complete ? 'completed' : 'partial';
  const completed = emit('scanning.scan.completed', { scan_id, status }, now);
  if (tag_slugs.length === 0) return [completed];
  return [emit('scanning.tags.detected', { scan_id, tag_slugs }, now), completed];
}
