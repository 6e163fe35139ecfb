import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../control-plane/src/platform/store.ts';
import { filterKeysOf } from '../../control-plane/src/scan/filter-keys.ts';
import { runCounts } from '../../control-plane/src/scan/run-counts.ts';
import { LIST_INDEXES } from '../../control-plane/src/scan/scan-list-store.ts';
import type { StoredScan } from '../../control-plane/src/scan/stored-scan.ts';
import { type CampaignRecord, DEFAULTS, newCampaign } from '../../control-plane/src/scanning/campaigns/campaign.ts';
import { type CampaignFilter, campaignStore } from '../../control-plane/src/scanning/campaigns/campaign-store.ts';
import { type GroupRecord, newGroup } from '../../control-plane/src/scanning/groups/group.ts';
import { groupStore } from '../../control-plane/src/scanning/groups/group-store.ts';
import { processorTime } from './processor-time.ts';
import { barChart, machine, median, number, saveResult } from './report.ts';
import { storedScan } from './requests/stored-scans.ts';

/**
 * Do the lists of campaigns and of groups, and the counters of a run, cost the same with 10,000 campaigns and 1,000,000 scans as with 100 and
 * 10,000? Exits with 1 if one costs more than 1.5 times as much.
 *
 *     npm run bench campaign-lists -- [campaigns of the larger]
 */
const [LARGE = 10_000] = process.argv.slice(2).map(Number);
const SMALL = 100;
const SCANS_OF_CAMPAIGN = 100;
const GROUPS = 20;
const RATIO_MAX = 1.5;
const [ROUNDS, ROUND_MS] = [5, 200];
const BATCH = 10_000;
const LIMIT = 50;
const ORGANIZATION = 'organization';
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
/** A campaign is created each hour until then. */
const NOW = Date.parse('2026-06-01T00:00:00Z');

const pad = (number: number): string => String(number).padStart(6, '0');
const createdAt = (number: number, all: number): Date => new Date(NOW - (all - number) * HOUR_MS);
const ALL: CampaignFilter = { is_archived: false, created: null, last_run: null };

/** Half a hundred campaigns are in the first group, whatever number there is. */
const groupOf = (number: number, all: number): string =>
  all - number <= LIMIT ? 'group-0' : `group-${1 + (number % (GROUPS - 1))}`;

/** A tenth of the campaigns never ran, twenty ran today, and the others an hour after their creation. */
function campaignOf(number: number, all: number): CampaignRecord {
  const settings = {
    ...{ ...DEFAULTS, name: `Offer ${pad(number)} spring`, campaign_type: 'url' as const },
    ...{ url: `https://shop-${number}.example/`, country_codes: ['US', 'DE'], group_id: groupOf(number, all) },
  };
  const made = { id: `campaign-${pad(number)}`, organizationId: ORGANIZATION, now: createdAt(number, all) };
  const isToday = number % (all / 20) === 0;
  const ran = isToday ? new Date(NOW) : new Date(createdAt(number, all).getTime() + HOUR_MS);
  return { ...newCampaign(settings, made), last_run_at: number % 10 === 9 ? null : ran };
}

/** What the counters read of a scan: the other fields and indexes would only make the seeding longer. */
function scanOf(number: number): StoredScan {
  const campaign = Math.floor(number / SCANS_OF_CAMPAIGN);
  const { _id, organization_id, created_at, ...scan } = storedScan(number, ORGANIZATION);
  const of = { campaign_id: `campaign-${pad(campaign)}`, run_id: `run-${pad(campaign)}`, band: 2 as const };
  const final_status = (['completed', 'partial', 'failed', 'cancelled'] as const)[number % 4]!;
  return {
    _id,
    organization_id,
    created_at,
    filter_keys: filterKeysOf({ ...scan, ...of, final_status }),
  } as StoredScan;
}

async function load(campaigns: number) {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
  const store = await openStore({ path: join(folder, 'store.db') });
  const stored = { campaigns: campaignStore(store), groups: groupStore(store) };
  const scans = store.collection<StoredScan>('scans');
  const counts = runCounts(store, scans);
  await stored.campaigns.createIndexes();
  await stored.groups.createIndexes();
  await counts.createIndexes();
  await scans.createIndexes(LIST_INDEXES.filter(({ key }) => 'filter_keys' in key));
  await store
    .collection<GroupRecord>('campaign_groups')
    .insertMany(
      Array.from({ length: GROUPS }, (_, at) => newGroup(`group-${at}`, ORGANIZATION, `Group ${at}`, new Date(NOW))),
    );
  const insert = async <T extends object>(collection: string, count: number, make: (at: number) => T) => {
    for (let from = 0; from < count; from += BATCH)
      await store
        .collection(collection)
        .insertMany(Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => make(from + at)));
  };
  await insert('campaigns', campaigns, (at) => campaignOf(at, campaigns));
  await insert('scans', campaigns * SCANS_OF_CAMPAIGN, scanOf);
  const close = async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...stored, size: campaigns, countRun: counts.countRun, close };
}
type Loaded = Awaited<ReturnType<typeof load>>;

const list = ({ campaigns }: Loaded, filter: Partial<CampaignFilter> = {}, skip = 0) =>
  campaigns.list(ORGANIZATION, { ...ALL, ...filter }, { skip, limit: LIMIT });
const lastDays = (days: number) => ({ $gte: new Date(NOW - days * DAY_MS) });

type Ask = (loaded: Loaded) => Promise<unknown>;

/** What finds the same number of campaigns in both. */
const STEADY: Record<string, Ask> = {
  'campaigns, first page': (loaded) => list(loaded),
  'campaigns of a group': (loaded) => list(loaded, { group_id: 'group-0' }),
  'campaigns created in the last two days': (loaded) => list(loaded, { created: lastDays(2) }),
  'campaigns that ran last, in two days': (loaded) => list(loaded, { last_run: lastDays(2) }),
  'archived campaigns': (loaded) => list(loaded, { is_archived: true }),
  [`${GROUPS} groups with their campaigns`]: async ({ groups, campaigns }) => {
    for (const { _id } of await groups.list(ORGANIZATION, { is_archived: false, created: null }))
      await campaigns.summaryOfGroup(ORGANIZATION, _id);
  },
  'counters of a run': ({ countRun, size }) => countRun(ORGANIZATION, `run-${pad(size / 2)}`),
};
/** What finds all campaigns, whose exact total counts index entries, or passes over half of them. */
const WIDE: Record<string, Ask> = {
  'part of a name that one has': (loaded) => list(loaded, { name: pad(loaded.size - 7) }),
  'part of a name that all have': (loaded) => list(loaded, { name: 'SPRING' }),
  'a page in the middle': (loaded) => list(loaded, {}, loaded.size / 2),
  'campaigns created since ever': (loaded) => list(loaded, { created: { $gte: new Date(0) } }),
  'campaigns that ran since ever': (loaded) => list(loaded, { last_run: { $gte: new Date(0) } }),
};

const began = performance.now();
const loaded = [await load(SMALL), await load(LARGE)];
console.log(`seeded in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
const figures: { name: string; times: number[]; ratio: number; range: [number, number] }[] = [];
for (const [name, ask] of Object.entries({ ...STEADY, ...WIDE })) {
  const rounds: number[][] = [];
  // Both sizes in turn, so that other load on the machine affects both; the first round warms both up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const times: number[] = [];
    for (const one of loaded) times.push(await processorTime(() => ask(one), ROUND_MS));
    if (round > 0) rounds.push(times);
  }
  const ratios = rounds.map(([small, large]) => large! / small!);
  const times = loaded.map((_, at) => median(rounds.map((round) => round[at]!)));
  figures.push({ name, times, ratio: median(ratios), range: [Math.min(...ratios), Math.max(...ratios)] });
}
for (const { close } of loaded) await close();

const size = (campaigns: number): string =>
  `${number(campaigns)} campaigns, ${number(campaigns * SCANS_OF_CAMPAIGN)} scans`;
const row = ({ name, times, ratio, range }: (typeof figures)[number]): string =>
  `| ${name} | ${times.map(number).join(' | ')} | ${ratio.toFixed(2)} | ${range.map((one) => one.toFixed(2)).join(' to ')} |`;
const head = [`| microseconds | ${size(SMALL)} | ${size(LARGE)} | ratio | range |`, '|---|--:|--:|--:|--:|'];
const steady = figures.filter(({ name }) => name in STEADY);
const grows = steady.filter(({ ratio }) => ratio > RATIO_MAX);
saveResult('campaign-lists', [
  '# Lists of campaigns and of groups, and the counters of a run',
  `One organization, ${GROUPS} groups, a run of ${SCANS_OF_CAMPAIGN} scans of each campaign; embedded store on a file, one caller. Microseconds of processor time for a page of ${LIMIT} with its exact total, for all groups, and for the counters of a run: medians of ${ROUNDS} rounds of ${ROUND_MS} ms, both sizes in turn; the ratio is the median of the rounds' own, at most ${RATIO_MAX}. Scans have the index of the counters alone.`,
  [...head, ...steady.map(row)].join('\n'),
  barChart(
    'Ratio',
    steady.map(({ name, ratio }) => [name, ratio]),
  ),
  grows.length === 0 ? 'None is above 1.5.' : `Above 1.5: ${grows.map(({ name }) => name).join(', ')}.`,
  'What finds all campaigns, or passes over half of them, costs more with more of them, and has no bound here:',
  [...head, ...figures.filter(({ name }) => name in WIDE).map(row)].join('\n'),
  `${machine()}.`,
]);
process.exit(grows.length > 0 ? 1 : 0);
