import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Registry } from 'prom-client';
import { countWaiting } from '../../../src/analysis/pipeline/count-waiting.ts';
import { workMetrics } from '../../../src/metrics.ts';
import type { Document } from '../../../src/platform/store.ts';
import { openStore } from '../../../src/platform/store.ts';
import { scanStore } from '../../../src/scan/scan-store.ts';
import { explaining } from '../../support/explaining-store.ts';
import { sampleScan } from '../../support/sample-scan.ts';

const second = (at: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, at));

it('gauges tell how many crawled scans wait for their analysis, and for how long the oldest of any organization', async (t) => {
  const plans: Document[] = [];
  const store = explaining(await openStore({ path: ':memory:' }), plans);
  t.after(() => store.close());
  const scans = scanStore(store);
  await scans.createIndexes();
  const metrics = workMetrics(new Registry());
  const logger = { debug() {} } as never;
  const measured = async (now: Date) => {
    await countWaiting({ scans, metrics, logger }, now);
    const [waiting, oldest] = await Promise.all([metrics.analysisWaiting.get(), metrics.analysisOldest.get()]);
    return [waiting.values[0]?.value, oldest.values[0]?.value];
  };
  const add = (organization_id: string, id: string, status: 'crawled' | 'checking' | 'rechecking', crawled_at: Date) =>
    scans.insertUnlessExists(
      sampleScan({ _id: id, organization_id, status, crawled_at, report_token: id, outbox: [], completed_at: null }),
    );
  assert.deepEqual(await measured(second(0)), [0, 0]);
  for (let at = 0; at < 50; at += 1) await add('large', `large-${at}`, 'crawled', second(10 + at));
  await add('small', 'oldest', 'crawled', second(5));
  await add('small', 'under-way', 'checking', second(1));
  await add('small', 'recheck', 'rechecking', second(2));
  plans.length = 0;
  assert.deepEqual(await measured(second(65)), [51, 60]);
  const examined = plans.map(({ executionStats }) => executionStats.totalDocsExamined);
  assert.ok(Math.max(...examined) <= 1, `a search examined ${Math.max(...examined)} scans`);
  assert.deepEqual(await measured(second(0)), [51, 0], 'by a clock that is behind');
});
