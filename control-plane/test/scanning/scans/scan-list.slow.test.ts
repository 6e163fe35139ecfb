import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Document, openStore, type Store } from '../../../src/platform/store.ts';
import type { ListWindow } from '../../../src/scan/scan-list-store.ts';
import { scanStore } from '../../../src/scan/scan-store.ts';
import { listQuestion, type ScanListQuery } from '../../../src/scanning/scans/api/list-query.ts';
import { explaining } from '../../support/explaining-store.ts';
import {
  describeListOfScans,
  FILTERS,
  OURS,
  SCANS,
  SCANS_OF_OURS,
  scanOf,
  storeScans,
  WHOLE_LIST,
} from '../../support/listed-scans.ts';
import { startMongodbServer } from '../../support/mongodb-server.ts';

describeListOfScans('a list of scans in the embedded store');

const server = await startMongodbServer();
if (typeof server === 'string') it('a list of scans in MongoDB', { skip: server }, () => {});
else {
  after(() => server.stop());
  describeListOfScans('a list of scans in MongoDB', () => openStore({ mongodbUrl: server.url }));
}

describe('§4.2.20 the plan of a list of scans', () => {
  let store: Store;
  const plans: Document[] = [];
  before(async () => {
    store = await openStore({ path: ':memory:' });
    await scanStore(store).createIndexes();
    await storeScans(store);
  });
  after(() => store.close());

  const questionOf = (query: string) => {
    const { ...given } = Object.fromEntries(new URLSearchParams(query));
    return listQuestion(given as ScanListQuery);
  };

  for (const [query, [index, matches]] of Object.entries(FILTERS)) {
    const matching = SCANS_OF_OURS.filter(matches);
    it(`by ${query || 'nothing'}: the first page and a deep one read no more than a page along their index`, async () => {
      const scans = scanStore(explaining(store, plans));
      const deep = matching[Math.floor(matching.length / 2)]!;
      const windows: ListWindow[] = [
        { after: null, skip: 0, limit: 20 },
        { after: { at: deep.created_at, id: deep._id }, skip: 0, limit: 20 },
      ];
      for (const window of windows) {
        plans.length = 0;
        await scans.list(OURS, questionOf(query), window);
        const [{ queryPlanner, executionStats }] = plans as [Document];
        const { stage, inputStage } = queryPlanner.winningPlan;
        const scan = inputStage.stage === 'SORT_MERGE' ? inputStage.inputStage : inputStage;
        assert.deepEqual([stage, scan.indexName], ['FETCH', index]);
        // A scan with two of the tags is read twice.
        assert.ok(executionStats.totalDocsExamined <= 42, `${executionStats.totalDocsExamined} examined`);
      }
    });
  }

  it('combined filters use the index of the one that matches least', async () => {
    const scans = scanStore(explaining(store, plans));
    plans.length = 0;
    const question = questionOf('status=completed&parent_scan_id=sweep&url=shop-0.example');
    const { total } = await scans.list(OURS, question, { after: null, skip: 0, limit: 200 });
    const matching = SCANS_OF_OURS.filter(
      ({ status, parent_scan_id, target }) =>
        status === 'completed' && parent_scan_id === 'sweep' && target.value === 'https://shop-0.example/',
    );
    assert.ok(total > 0);
    assert.equal(total, matching.length);
    const [{ executionStats }] = plans as [Document];
    assert.equal(executionStats.totalDocsExamined, SCANS / 40);
  });

  it('a search for a part of the URL reads the index and only matching scans, and counts no further than necessary', async () => {
    const scans = scanStore(explaining(store, plans));
    const question = questionOf('url=SHOP-4');
    const matching = SCANS_OF_OURS.filter(({ target }) => target.value.startsWith('https://shop-4')).map(
      ({ _id }) => _id,
    );
    for (const [skip, limit, examined] of [
      [0, 10, 11],
      [0, 200, 201],
      [matching.length - 3, 10, matching.length],
      [matching.length + 5, 10, matching.length],
    ] as const) {
      plans.length = 0;
      const { rows, total } = await scans.list(OURS, question, { after: null, skip, limit });
      assert.equal(total, matching.length);
      assert.deepEqual(
        rows.map(({ _id }) => _id),
        matching.slice(skip, skip + limit),
      );
      const [{ queryPlanner, executionStats }] = plans as [Document];
      assert.equal(queryPlanner.winningPlan.inputStage.indexName, WHOLE_LIST);
      assert.equal(executionStats.totalDocsExamined, examined);
    }
  });

  it('a filter by ids lists only scans of the own organization', async () => {
    const scans = scanStore(explaining(store, plans));
    plans.length = 0;
    const ids = [SCANS_OF_OURS[5]!._id, SCANS_OF_OURS[700]!._id, scanOf(1)._id, 'none'];
    const { rows, total } = await scans.list(OURS, questionOf(`scan_id=${ids}`), { after: null, skip: 0, limit: 50 });
    assert.deepEqual([total, rows.map(({ _id }) => _id)], [2, ids.slice(0, 2)]);
    const [{ executionStats }] = plans as [Document];
    assert.ok(executionStats.totalDocsExamined <= ids.length);
  });
});
