import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { newScan } from '../../../src/scanning/scans/request/new-scan.ts';
import { itemsOf, KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';
import { CATALOGUE } from '../../support/sample-catalogue.ts';
import { CREATED, finished, record, tag } from '../../support/stored-scan.ts';

describe('listing scans', () => {
  let api: RunningApi;
  const at = (iso: string) => ({ created_at: new Date(iso) });
  const stored: Record<string, ScanRecord> = {};
  before(async () => {
    api = await runningApi();
    Object.assign(stored, {
      oldest: record({ ...at('2026-03-01T00:30:00Z'), country_code: 'PT', labels: { team: 'blue' } }),
      tagged: finished({ ...at('2026-03-02T10:00:00Z'), tags: [tag('back_button')] }),
      both: finished({ ...at('2026-03-03T10:00:00Z'), tags: [tag('back_button'), tag('autosound')] }),
      failed: record({ ...at('2026-03-04T23:30:00Z'), status: 'failed', error: 'navigation: DNS' }),
      other: record({
        ...at('2026-03-05T10:00:00Z'),
        target: { kind: 'url', value: 'https://Other.example/a+b?c=(1)' },
      }),
    });
    for (const scan of Object.values(stored)) await api.scans.insertUnlessExists(scan);
    const options = { organizationId: ORGANIZATIONS.theirs, priceMicros: 0 };
    const theirs = newScan(PAGE, { id: newId(), country: 'US' }, CATALOGUE, options, CREATED);
    await api.scans.insertUnlessExists(theirs);
  });
  after(() => api.stop());

  const list = async (query = '') => {
    const answer = await api.get(`/api/v1/scans${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  /** The names of the scans that a query lists, in their order. */
  const names = async (query: string): Promise<string> => {
    const nameOf = new Map(Object.entries(stored).map(([name, { _id }]) => [_id, name]));
    const { items } = await list(query);
    return items.map(({ id }: { id: string }) => nameOf.get(id) ?? 'unknown').join(' ');
  };
  const refused = async (query: string): Promise<string[]> => {
    const answer = await api.get(`/api/v1/scans${query}`);
    assert.equal(answer.status, 422, query);
    return itemsOf(answer);
  };

  test('scans are listed newest first, in a page with their total number, without a hidden date limit', async () => {
    assert.equal(await names(''), 'other failed both tagged oldest');
    const page = await list('?limit=2&page=2');
    assert.deepEqual([page.total, page.page, page.limit, page.pages, page.items.length], [5, 2, 2, 3, 2]);
    assert.deepEqual((await list('?page=9')).items, []);
    assert.deepEqual((await list('')).limit, 50);
  });

  test('a row has every declared field', async () => {
    const declared = (await api.get('/api/v1/openapi.json')).body.components.schemas.ScanBrief.required;
    const [row] = (await list('')).items;
    assert.deepEqual(Object.keys(row).sort(), [...declared].sort());
    assert.deepEqual([row.proxy_type, row.is_ad_tag, row.emulator_category], ['residential', false, 'windows_desktop']);
    assert.deepEqual(row.labels, {});
  });

  test('a limit above 200 is refused, not clamped', async () => {
    assert.deepEqual(await refused('?limit=201'), ['query.limit less_than_equal']);
    assert.deepEqual(await refused('?limit=0&page=0'), [
      'query.page greater_than_equal',
      'query.limit greater_than_equal',
    ]);
    assert.deepEqual(await refused('?page=x&limit=1.5'), ['query.page int_type', 'query.limit int_type']);
    assert.deepEqual(await refused('?page=1&page=2'), ['query.page int_type']);
  });

  test('§4.2.16 tag matches any of the slugs, tag_match=all requires every one', async () => {
    assert.equal(await names('?tag=back_button,autosound'), 'both tagged');
    assert.equal(await names('?tag=back_button,autosound&tag_match=all'), 'both');
    assert.equal(await names('?tag=autosound'), 'both');
    assert.equal(await names('?tag=no_such_tag'), '');
    assert.equal(await names('?tag=autosound,no_such_tag&tag_match=all'), '');
    assert.deepEqual([await names('?tag=,'), await names('?tag=,&tag_match=all')], ['', ''], 'no slug, no scan');
    assert.deepEqual(await refused('?tag=x&tag_match=some'), ['query.tag_match enum']);
  });

  test('status and country_code accept several values, the country in any letter case', async () => {
    assert.equal(await names('?status=completed,failed'), 'failed both tagged');
    assert.equal(await names('?country_code=pt'), 'oldest');
    assert.equal(await names('?country_code=pt,us&status=pending'), 'other oldest');
    assert.deepEqual(await refused('?status=completed,done'), ['query.status enum']);
    assert.deepEqual(await refused('?status='), ['query.status string_too_short']);
  });

  test('url matches a literal part of the page URL', async () => {
    assert.equal(await names('?url=other.EXAMPLE'), 'other');
    assert.equal(await names(`?url=${encodeURIComponent('a+b?c=(1)')}`), 'other');
    assert.equal(await names('?url=.*'), '');
    assert.equal(await names(`?url=${encodeURIComponent('(')}`), 'other');
    assert.equal(await names('?url=%00'), '');
  });

  test('scan_id accepts several ids', async () => {
    assert.equal(await names(`?scan_id=${stored.oldest?._id},${stored.other?._id},nope`), 'other oldest');
  });

  test('dates are whole days, both ends inclusive, in the timezone', async () => {
    assert.equal(await names('?date_from=2026-03-02&date_to=2026-03-03'), 'both tagged');
    assert.equal(await names('?date_from=2026-03-04'), 'other failed');
    assert.equal(await names('?date_to=2026-03-01'), 'oldest');
    // 00:30 UTC on the 1st is the 28th of February in New York; 23:30 UTC on the 4th is the 5th in Tokyo.
    assert.equal(await names('?date_to=2026-02-28&timezone=America/New_York'), 'oldest');
    assert.equal(await names('?date_from=2026-03-05&timezone=Asia/Tokyo'), 'other failed');
    assert.equal(await names('?date_from=2026-03-05&date_to=2026-03-05'), 'other');
  });

  test('a range that ends before it begins and an invalid date or timezone give 422', async () => {
    assert.deepEqual(await refused('?date_from=2026-03-03&date_to=2026-03-02'), [
      'query.date_from invalid_combination',
    ]);
    assert.deepEqual(await refused('?date_from=2026-02-30&timezone=Mars/Olympus'), [
      'query.date_from date_invalid',
      'query.timezone unknown_timezone',
    ]);
    assert.deepEqual(await refused('?timezone=%2B02:00'), ['query.timezone unknown_timezone']);
    assert.deepEqual(await refused('?sort=created_at'), ['query.sort unexpected_field']);
  });

  test('labels, brand and category filter too', async () => {
    assert.equal(await names('?label_team=blue'), 'oldest');
    assert.equal(await names('?label_team=red&tag=autosound'), 'both');
    assert.equal(await names('?label_constructor=x'), '');
    assert.deepEqual(await refused('?label_TEAM=x'), ['query.label_TEAM unexpected_field']);
    assert.equal(await names('?brand=acme%20(ltd.)'), 'both tagged');
    assert.equal(await names('?brand=acme'), '');
    assert.equal(await names('?ai_category=shopping'), 'both tagged');
    assert.equal(await names('?ai_category=Shopping/Shoes&tag=autosound'), 'both');
    assert.equal(await names('?ai_category=Shopping/Hats'), '');
    assert.equal(await names('?iab_v3_category=Shopping'), '');
  });

  test('campaigns, runs, groups and sweeps that do not exist match nothing', async () => {
    for (const name of ['campaign_id', 'run_id', 'group_id', 'parent_scan_id'])
      assert.equal(await names(`?${name}=x`), '');
  });

  test('each organization lists only its own scans', async () => {
    assert.equal((await api.get('/api/v1/scans', { key: KEYS.theirs })).body.total, 1);
  });
});
