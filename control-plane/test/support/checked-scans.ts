import type { Observation } from '@adsweep/shared/capture/observations/index.ts';
import { finishCrawled } from '../../src/analysis/pipeline/worker.ts';
import type { RuleRecord } from '../../src/analysis/rules/rule.ts';
import type { TagDefinition } from '../../src/reference/tags/tag-definitions.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { captureOf, type RunningFarm } from './running-farm.ts';

/** What a recheck needs besides the scans: no limit, and nobody to wake. */
export const RECHECK_FAKES = {
  analysisWaiting: () => {},
  outboxFilled: () => {},
  storedPerDay: { take: async () => () => {} },
};

/** A page that plays sound by itself: the tag `autosound`. */
export const LOUD: Observation = {
  kind: 'autosound',
  landing: 0,
  url: 'https://shop.example/',
  facts: { via: 'play', muted: false, volume: 1, started: false, has_audio: true },
};

/** A scan that was crawled and is not checked yet. */
export async function crawledScan(
  farm: RunningFarm,
  observations: Observation[] = [LOUD],
  change: Partial<ScanRecord> = {},
): Promise<ScanRecord> {
  const scan = await farm.submit(change);
  const lease = await farm.acquireOne();
  await farm.node.complete(lease, captureOf(['https://shop.example/'], { observations }));
  return farm.read(scan._id);
}

/** Checks what was crawled by `now`; answers how many scans that were. */
export const checkCrawled = ({ farm }: RunningFarm, now = new Date()): Promise<number> =>
  finishCrawled(farm.dependencies, now);

/** What follows the last changes of a scan, in its order: kinds of entries, and of events their names. */
export const followUpsOf = ({ outbox }: ScanRecord): string[] =>
  outbox.map((entry) => (entry.kind === 'event' ? entry.event : entry.kind));

export const slugsOf = ({ tags }: ScanRecord): string[] => tags.map(({ tag_slug }) => tag_slug);

/** A rule of the scan's organization with the tag that it assigns. */
export async function addRule(
  farm: RunningFarm,
  { _id, organization_id }: ScanRecord,
  tag_slug: string,
  rest: Pick<RuleRecord, 'rule_type' | 'config'> & Partial<Pick<RuleRecord, 'target'>>,
): Promise<void> {
  await farm.rules.insert({
    ...{ _id: `${tag_slug}-${_id}`, owner: organization_id, organization_id, name: tag_slug, tag_slug },
    ...{ target: 'page', is_active: true, created_at: new Date(), ...rest },
  });
  await farm.tags.register([ownTag(organization_id, tag_slug)], new Date());
}

/** A tag that an organization has made. */
export const ownTag = (organization_id: string, slug: string): TagDefinition => ({
  ...{ slug, organization_id, category: 'custom', severity: 'low', visibility: 'internal' },
  ...{ display_name: slug, description: '', archived_at: null },
});
