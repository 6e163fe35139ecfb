import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Store } from '../../src/platform/store.ts';
import { filterKeysOf } from '../../src/scan/filter-keys.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import type { StoredScan } from '../../src/scan/stored-scan.ts';
import { itemsOf, type Json, ORGANIZATIONS, type RunningApi, runningApi } from './running-api.ts';
import { sampleScan, sampleTag } from './sample-scan.ts';

export const SCANS = 2_000;
export const OURS = ORGANIZATIONS.ours;
export const WHOLE_LIST = 'organization_id_1_created_at_-1__id_-1_target.value_1';

/** Scan number `n` of two organizations that share the collection; four of each have the same moment. */
export function scanOf(n: number): StoredScan {
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

const SCANS_OF_BOTH = Array.from({ length: SCANS }, (_, n) => scanOf(n));

/** The scans of our organization, newest first. */
export const SCANS_OF_OURS = SCANS_OF_BOTH.filter(({ organization_id }) => organization_id === OURS).sort(
  (one, other) => Number(other.created_at) - Number(one.created_at) || (one._id < other._id ? 1 : -1),
);

export const storeScans = (store: Store) => store.collection<StoredScan>('scans').insertMany(SCANS_OF_BOTH);

/** Queries of the list: the index that each stands on, and what it matches. */
export const FILTERS: Record<string, [index: string, matches: (scan: ScanRecord) => boolean]> = {
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
  // Of so few scans more than a twentieth: fewer are found by the parts of their URLs.
  'url=SHOP-4': [WHOLE_LIST, ({ target }) => target.value.startsWith('https://shop-4')],
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

/** Asks the list of scans over HTTP for what it has, over the store that `open` gives. */
export function describeListOfScans(name: string, open?: () => Promise<Store>): void {
  describe(name, () => {
    let api: RunningApi;
    before(async () => {
      api = await runningApi(open && { open });
      await storeScans(api.store);
    });
    after(() => api.stop());

    const answerTo = async (query: string): Promise<Json> => {
      const answer = await api.get(`/api/v1/scans?${query}`);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };

    for (const [query, [, matches]] of Object.entries(FILTERS)) {
      const matching = SCANS_OF_OURS.filter(matches);
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
    }

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
      assert.deepEqual(await refused(`cursor=${next_cursor}&status=failed`), ['query.cursor invalid_cursor']);
      assert.equal((await answerTo(`limit=1&cursor=${next_cursor}`)).items.length, 1);
    });

    it('says null for the next cursor on the last page, also where it is full', async () => {
      const query = 'parent_scan_id=sweep';
      const { total } = await answerTo(query);
      assert.equal((await answerTo(`${query}&limit=${total}`)).next_cursor, null);
      assert.notEqual((await answerTo(`${query}&limit=${total - 1}`)).next_cursor, null);
    });
  });
}
