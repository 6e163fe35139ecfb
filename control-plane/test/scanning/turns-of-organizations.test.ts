import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { FEW } from '../../src/platform/pick-in-turns.ts';
import { type Document, openStore, type Store } from '../../src/platform/store.ts';
import { type CampaignRecord, DEFAULTS, newCampaign } from '../../src/scanning/campaigns/campaign.ts';
import { campaignStore } from '../../src/scanning/campaigns/campaign-store.ts';
import type { RunRecord } from '../../src/scanning/runs/run.ts';
import { runStore } from '../../src/scanning/runs/run-store.ts';
import { explaining } from '../support/explaining-store.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
/** Records of one organization, of which this many are due, before those of the next organization. */
const WAITING = [
  { organization: 'a-greedy', due: 1_200, others: 10 },
  { organization: 'b-idle', due: 0, others: 1_500 },
  { organization: 'c-modest', due: 1, others: 5 },
] as const;

/** An id and a moment for each record: those that are due, then those that are due later, then those that never are. */
function* moments(): Generator<{ id: string; organizationId: string; at: Date | null }> {
  for (const [place, { organization, due, others }] of WAITING.entries())
    for (let index = 0; index < due + others; index += 1) {
      const isNever = index >= due && index % 5 === 4;
      const at = isNever ? null : later(index < due ? place * 2_000 + index - 9_000 : 60 + index);
      yield { id: `${organization}-${index}`, organizationId: organization, at };
    }
}

const plans: Document[] = [];
let store: Store;
before(async () => {
  store = explaining(await openStore({ path: ':memory:' }), plans);
});
beforeEach(() => {
  plans.length = 0;
});
after(() => store.close());

/** A turn reads few records, however many wait, are due later or never. */
function assertFewRead(limit: number): void {
  const examined = plans.map(({ executionStats }) => executionStats.totalDocsExamined);
  assert.ok(Math.max(...examined) <= Math.max(FEW, 4 * limit), `a search examined ${Math.max(...examined)} records`);
}

test('the due schedule of one organization is in the first turn, whatever another one has waiting', async () => {
  const campaigns = campaignStore(store);
  await campaigns.createIndexes();
  const settings = { ...DEFAULTS, name: 'Shop', campaign_type: 'url', country_codes: ['US'], group_id: 'g' } as const;
  const records = [...moments()].map(
    ({ id, organizationId, at }): CampaignRecord => ({
      ...newCampaign({ ...settings, country_codes: ['US'] }, { id, organizationId, now: NOW }),
      ...(at && { next_run_at: at }),
    }),
  );
  await store.collection<CampaignRecord>('campaigns').insertMany(records);
  const due = await campaigns.dueSchedules(NOW, 20);
  assert.equal(due.length, 20);
  assert.deepEqual(
    due.filter(({ organization_id }) => organization_id !== 'a-greedy').map(({ _id }) => _id),
    ['c-modest-0'],
  );
  assertFewRead(20);
  const begun = await campaigns.beginFiring(due.find(({ _id }) => _id === 'c-modest-0')!, later(60), later(30));
  assert.deepEqual(
    [begun?.campaign.name, begun?.moment],
    ['Shop', records.find(({ _id }) => _id === 'c-modest-0')!.next_run_at],
  );
});

test('the scans of a run are created in turn with those of another organization, whatever that has waiting', async () => {
  const runs = runStore(store);
  await runs.createIndexes();
  const records = [...moments()].map(
    ({ id, organizationId, at }): RunRecord => ({
      ...{
        _id: id,
        organization_id: organizationId,
        campaign_id: 'c',
        label: '',
        trigger: 'manual',
        cancelled_at: null,
      },
      created_at: NOW,
      ...(at && { creation_due_at: at, creation: { next: 0 } as RunRecord['creation'] & object }),
    }),
  );
  await store.collection<RunRecord>('runs').insertMany(records);
  const claimed = await runs.claimDue(NOW, later(20), 4);
  assert.deepEqual(claimed.map(({ organization_id }) => organization_id).sort(), [
    'a-greedy',
    'a-greedy',
    'a-greedy',
    'c-modest',
  ]);
  assertFewRead(4);
  assert.ok((await runs.claimDue(NOW, later(20), 4)).every(({ organization_id }) => organization_id === 'a-greedy'));
});
