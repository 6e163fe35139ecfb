import type { WorkMetrics } from '../../metrics.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import { inService, isArchived, type Tags } from '../../reference/tags/tag-definitions.ts';
import { changeScan } from '../../scan/change-scan.ts';
import { measureEnd } from '../../scan/measure-end.ts';
import type { ScanRecord, ScanTag, SkippedRules } from '../../scan/scan.ts';
import type { PublicUrls } from '../../scan/scan-links.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { withExtractedLabels } from '../../scan/sent-labels.ts';
import type { Compared } from '../changes/compare-runs.ts';
import type { OwnNames } from '../classification/classify.ts';
import { alertsEntry, type FindPolicy } from '../policies/alerts-entry.ts';
import { finishEvents } from './finish-events.ts';
import type { ModelJudgement } from './judge-by-model.ts';

export type OutcomeDependencies = {
  scans: Pick<ScanStore, 'apply'>;
  /** Base URL of the links in events. */
  urls: PublicUrls;
  /** What the scans of a campaign are held against now; null: nothing. */
  findPolicy: FindPolicy;
  metrics: Pick<WorkMetrics, 'finishedScans' | 'stageSeconds' | 'findings'>;
};

/** A claimed scan whose analysis began at `now`, which was `began` on this process' monotonic clock. */
export type Analysis = { scan: ScanRecord; now: Date; began: number };

/** What an analysis has found: what its scan finishes with. */
export type Outcome = {
  names: OwnNames;
  judged: ModelJudgement;
  /** Null: it is not compared. */
  compared: Compared | null;
  tags: ScanTag[];
  /** The definitions when the rules were read, and after they were run. */
  definitionsBefore: Tags;
  definitions: Tags;
  /** Names of the analysers without a result, and what the capture lacks. */
  missing: string[];
  /** The rules that the time for rules did not suffice for. */
  outOfBudget: SkippedRules;
};

/**
 * Finishes a scan, in one write with its alerts and events: as `partial` with an error that lists what is missing, else
 * as `completed`. Null: another worker has taken it over.
 */
export async function writeOutcome(
  dependencies: OutcomeDependencies,
  { scan, now, began }: Analysis,
  outcome: Outcome,
): Promise<ScanRecord | null> {
  const { scans, metrics, urls, findPolicy } = dependencies;
  const { judged, tags, missing, compared, definitions } = outcome;
  const { network, network_host, brand } = outcome.names;
  const ended = new Date(now.getTime() + performance.now() - began);
  const complete = missing.length === 0;
  const error = complete ? '' : `checks: ${missing.join(', ')}`;
  const classification = { brand, ...judged.classification };
  const { labels = scan.labels } = withExtractedLabels(scan, judged.labels);
  const alerts = await decideAlerts(findPolicy, { ...scan, tags, classification, labels }, definitions, ended);
  const event = {
    type: 'finish' as const,
    tags: [...tags, ...archivedBefore(scan, outcome)],
    classification,
    extractedLabels: judged.labels,
    network,
    networkHost: network_host,
    complete,
    error,
    rulesOutOfBudget: outcome.outOfBudget,
    ...(alerts && { alerts }),
    ...(compared && { compared }),
  };
  const status = complete ? ('completed' as const) : ('partial' as const);
  const analysed = { scan, status, labels, tags, definitions };
  const events = finishEvents(urls, analysed, { classification, network, network_host, error });
  const finished = await changeScan(scans, scan, event, ended, events);
  if (!finished) return null;
  measureEnd(metrics, finished);
  for (const { tag_slug } of tags) metrics.findings.inc({ severity: inService(definitions, tag_slug)!.severity });
  return finished;
}

/**
 * What a recheck does not judge anew: the earlier assignments of tags that are archived, or were when it began (spec
 * 2.5, rule 5). No response shows them, and no event names them.
 */
function archivedBefore({ tags_before_recheck = [] }: ScanRecord, outcome: Outcome): ScanTag[] {
  const { tags, definitionsBefore, definitions } = outcome;
  const placeOf = ({ tag_slug, url, surface }: ScanTag) => JSON.stringify([tag_slug, url, surface]);
  const found = new Set(tags.map(placeOf));
  return tags_before_recheck.filter(
    (tag) =>
      (isArchived(definitions, tag.tag_slug) || isArchived(definitionsBefore, tag.tag_slug)) &&
      !found.has(placeOf(tag)),
  );
}

/**
 * The alerts of a scan as it finishes, by the policy set that its campaign is bound to now; null: none. The finish
 * writes them into the scan's outbox. They are routed by its labels, those that the model added too.
 */
async function decideAlerts(
  findPolicy: FindPolicy,
  scan: ScanRecord,
  definitions: Tags,
  now: Date,
): Promise<OutboxEntry<'alerts'> | null> {
  const { campaign_id, organization_id } = scan;
  const policy = campaign_id === null ? null : await findPolicy(organization_id, campaign_id);
  return policy && alertsEntry(policy, scan, definitions, now);
}
