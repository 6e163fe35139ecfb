import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Document } from '../src/platform/store.ts';
import { listQuestion, type ScanListQuery } from '../src/scanning/scans/api/list-query.ts';
import { filterKeysOf } from '../src/scanning/scans/state/filter-keys.ts';
import type { ScanRecord } from '../src/scanning/scans/state/scan.ts';
import { type ListWindow, type StoredScan, scanStore } from '../src/scanning/scans/state/scan-store.ts';
import { explaining } from './support/explaining-store.ts';
import { itemsOf, type Json, ORGANIZATIONS, type RunningApi, runningApi } from './support/running-api.ts';
import { sampleScan, sampleTag } from './support/sample-scan.ts';

const SCANS = 4_000;
const OURS = ORGANIZATIONS.ours;
const WHOLE_LIST = 'organization_id_1_created_at_-1__id_-1_target.value_1';

/** Scan number `n` of two organizations that share the collection; four of each have the same moment. */
function scanOf(n: number): StoredScan {
  const scan: ScanRecord = sampleScan({
    _id: `00000000-0000-4000-8000-${String((n * 7919) % 100_000).padStart(12, '0')}`,
    organization_id: n % 2 === 0 ? OURS : ORGANIZATIONS.theirs,
    created_at: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 8) * 60_000),
    status: (['completed', 'partial', 'pending', 'failed'] as const)[Math.floor(n / 2) % 4]!,
    country_code: n % 3 === 0 ? 'DE' : 'US',
    target: { kind: 'url', value: `https://shop-${n % 50}.example/` },
    campaign_id: n % 5 === 0 ? 'campaign' : null,
    run_id: n % 10 === 0 ? 'run' : null,
    parent_scan_id: n % 40 === 0 ? 'sweep' : null,
    labels: { team: n % 6 === 0 ? 'red' : 'blue', order: `nr-${n % 100}` },
    tags: n % 4 === 0 ? [sampleTag('autosound', ''), ...(n % 8 === 0 ? [sampleTag('back_button', '')] : [])] : [],
  });
  return { ...scan, filter_keys: filterKeysOf(scan) };
}

describe('a list of scans', () => {
  let api: RunningApi;
  const plans: Document[] = [];
  const ours = Array.from({ length: SCANS }, (_, n) => scanOf(n))
    .filter(({ organization_id }) => organization_id === OURS)
    .sort((one, other) => Number(other.created_at) - Number(one.created_at) || (one._id < other._id ? 1 : -1));
  before(async () => {
    api = await runningApi();
    await api.store.collection<StoredScan>('scans').insertMany(Array.from({ length: SCANS }, (_, n) => scanOf(n)));
  });
  after(() => api.stop());

  const FILTERS: Record<string, [index: string, matches: (scan: ScanRecord) => boolean]> = {
    '': [WHOLE_LIST, () => true],
    'status=failed': ['organization_id_1_status_1_created_at_-1__id_-1', ({ status }) => status === 'failed'],
    'status=completed,partial': [
      'organization_id_1_status_1_created_at_-1__id_-1',
      ({ status }) => status === 'completed' || status === 'partial',
    ],
    'country_code=de': [
      'organization_id_1_country_code_1_created_at_-1__id_-1',
      ({ country_code }) => country_code === 'DE',
    ],
    'tag=autosound': ['organization_id_1_tags.tag_slug_1_created_at_-1__id_-1', ({ tags }) => tags.length > 0],
    'tag=autosound,back_button': [
      'organization_id_1_tags.tag_slug_1_created_at_-1__id_-1',
      ({ tags }) => tags.length > 0,
    ],
    ...Object.fromEntries(
      (
        [
          ['campaign_id=campaign', (scan) => scan.campaign_id !== null],
          ['run_id=run', (scan) => scan.run_id !== null],
          ['parent_scan_id=sweep', (scan) => scan.parent_scan_id !== null],
          ['label_team=red', (scan) => scan.labels.team === 'red'],
          ['brand=offer%20OF%20the%20day', () => true],
          ['ai_category=shopping/Sweepstakes', () => true],
        ] as [string, (scan: ScanRecord) => boolean][]
      ).map(([query, matches]) => [query, ['organization_id_1_filter_keys_1_created_at_-1__id_-1', matches]]),
    ),
  };

  const answerTo = async (query: string): Promise<Json> => {
    const answer = await api.get(`/api/v1/scans?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const questionOf = (query: string) => {
    const { ...given } = Object.fromEntries(new URLSearchParams(query));
    return listQuestion(given as ScanListQuery);
  };

  for (const [query, [index, matches]] of Object.entries(FILTERS)) {
    const matching = ours.filter(matches);
    it(`§4.2.20 by ${query || 'nothing'}: pages by cursor hold every scan once, newest first, with the exact total`, async () => {
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Json = await answerTo(`${query}&limit=190${cursor && `&cursor=${cursor}`}`);
        assert.equal(page.total, matching.length);
        seen.push(...page.items.map(({ id }: { id: string }) => id));
        cursor = page.next_cursor;
      }
      assert.deepEqual(
        seen,
        matching.map(({ _id }) => _id),
      );
    });

    it(`by ${query || 'nothing'}: the first page and a deep one read no more than a page along their index`, async () => {
      const scans = scanStore(explaining(api.store, plans));
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
        // A scan with two of the tags is met twice.
        assert.ok(executionStats.totalDocsExamined <= 42, `${executionStats.totalDocsExamined} examined`);
      }
    });
  }

  it('filters together walk along the one that matches least', async () => {
    const scans = scanStore(explaining(api.store, plans));
    plans.length = 0;
    const question = questionOf('status=completed&parent_scan_id=sweep&url=shop-0.example');
    const { total } = await scans.list(OURS, question, { after: null, skip: 0, limit: 200 });
    const matching = ours.filter(
      ({ status, parent_scan_id, target }) =>
        status === 'completed' && parent_scan_id === 'sweep' && target.value === 'https://shop-0.example/',
    );
    assert.ok(total > 0);
    assert.equal(total, matching.length);
    const [{ executionStats }] = plans as [Document];
    assert.equal(executionStats.totalDocsExamined, SCANS / 40);
  });

  it('§4.2.20 a search for a part of the URL, any letter case, reads the index and only scans that match', async () => {
    const scans = scanStore(explaining(api.store, plans));
    const question = questionOf('url=SHOP-4.');
    const matching = ours.filter(({ target }) => target.value === 'https://shop-4.example/').map(({ _id }) => _id);
    for (const [skip, limit, examined] of [
      [0, 10, 11],
      [0, 200, matching.length],
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

  it('ids lead to their scans, and to no one else’s', async () => {
    const scans = scanStore(explaining(api.store, plans));
    plans.length = 0;
    const ids = [ours[5]!._id, ours[700]!._id, scanOf(1)._id, 'none'];
    const { rows, total } = await scans.list(OURS, questionOf(`scan_id=${ids}`), { after: null, skip: 0, limit: 50 });
    assert.deepEqual([total, rows.map(({ _id }) => _id)], [2, ids.slice(0, 2)]);
    const [{ executionStats }] = plans as [Document];
    assert.ok(executionStats.totalDocsExamined <= ids.length);
  });

  it('§4.2.20 a text that is no cursor, and a cursor together with a page, are refused', async () => {
    const { next_cursor } = await answerTo('limit=1');
    const refused = async (query: string) => {
      const answer = await api.get(`/api/v1/scans?${query}`);
      assert.equal(answer.status, 422);
      return itemsOf(answer);
    };
    const foreign = Buffer.from('1.x\n').toString('base64url');
    for (const cursor of ['x', '=', `${next_cursor}=`, foreign, 'a'.repeat(200), '%00'])
      assert.deepEqual(await refused(`cursor=${cursor}`), ['query.cursor invalid_cursor'], cursor);
    assert.deepEqual(await refused(`cursor=${next_cursor}&page=2`), ['query.page invalid_combination']);
    assert.equal((await answerTo(`limit=1&cursor=${next_cursor}`)).items.length, 1);
  });

  it('says null for the next cursor on the last page, also where it is full', async () => {
    const query = 'parent_scan_id=sweep';
    const { total } = await answerTo(query);
    assert.equal((await answerTo(`${query}&limit=${total}`)).next_cursor, null);
    assert.notEqual((await answerTo(`${query}&limit=${total - 1}`)).next_cursor, null);
  });
});
