import assert from 'node:assert/strict';
import { it } from 'node:test';
import { finishCrawled } from '../../../src/analysis/pipeline/worker.ts';
import { FEW } from '../../../src/platform/pick-in-turns.ts';
import type { Document } from '../../../src/platform/store.ts';
import { openStore } from '../../../src/platform/store.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { explaining } from '../../support/explaining-store.ts';
import { runningFarm } from '../../support/running-farm.ts';

/** Scans of an organization that wait for their analysis, crawled one after the other from this second on. */
const crawled = (organization_id: string, count: number, second: number): Partial<ScanRecord>[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ organization_id, status: 'crawled' as const, due_at: new Date(0) },
    crawled_at: new Date(Date.UTC(2026, 0, 1, 0, 0, second + index)),
  }));

it('the analyses of one organization do not wait for those of another one that were crawled before them', async (t) => {
  const plans: Document[] = [];
  const farm = await runningFarm({ open: async () => explaining(await openStore({ path: ':memory:' }), plans) });
  t.after(() => farm.stop());
  for (const scan of [...crawled('greedy', 200, 0), ...crawled('modest', 3, 300), ...crawled('other', 2, 400)])
    await farm.submit(scan);

  const waiting = async (organization_id: string) =>
    farm.store.collection('scans').countDocuments({ organization_id, status: 'crawled' });
  plans.length = 0;
  const left: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    assert.equal(
      await finishCrawled(farm.farm.dependencies, new Date(), { slots: 3, claimMs: 30_000, analysisMs: 60_000 }),
      3,
    );
    left.push([await waiting('greedy'), await waiting('modest'), await waiting('other')].join(' '));
  }
  assert.deepEqual(left, ['199 2 1', '198 1 0', '196 0 0']);
  const examined = plans.map(({ executionStats }) => executionStats.totalDocsExamined);
  assert.ok(Math.max(...examined) <= FEW + 3, `a search examined ${Math.max(...examined)} scans`);
});
