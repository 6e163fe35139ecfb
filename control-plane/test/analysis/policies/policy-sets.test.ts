import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { iso31661 } from 'iso-3166';
import { addFirstOrganization } from '../../../src/accounts/add-organization.ts';
import type { PolicySetRecord } from '../../../src/analysis/policies/policy-set.ts';
import { policySetStore } from '../../../src/analysis/policies/policy-set-store.ts';
import { openStore } from '../../../src/platform/store.ts';
import { policySetOf } from '../../support/bound-campaign.ts';
import { ownTag } from '../../support/checked-scans.ts';
import { AUTOSOUND, CAMPAIGNS, done, operator, policySetCalls, SETS, theirs } from '../../support/policy-set-calls.ts';
import { itemsOf, type Json, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';
import { sampleScan, sampleTag } from '../../support/sample-scan.ts';

let api: RunningApi;
before(async () => {
  api = await runningApi();
  await addFirstOrganization(api.accounts, operator.key, new Date());
});
after(() => api.stop());

const { act, approved, boundSet, campaign, create, put } = policySetCalls(() => api);

const entriesRefused = async (...entries: object[]): Promise<string[]> => {
  const answer = await api.post(SETS, { name: 'Set', entries });
  assert.equal(answer.status, 422, answer.text);
  return itemsOf(answer);
};
describe('policy sets', () => {
  test('§2.8.20 a set has entries of five kinds, each with the field of its kind, and countries as alpha-2', async () => {
    const taxonomy = done(
      await api.post('/api/v1/custom-taxonomies', { name: 'Shops', nodes: [{ client_id: 'a', name: 'Shoes' }] }),
      201,
    );
    const entries = [
      { ...AUTOSOUND, country_codes: ['us', 'DEU', 'US', 'AQ', 'xk'] },
      { rule_type: 'iab_v3', iab_v3: { tier1: 'Automotive', tier2: 'Auto Body Styles' } },
      { rule_type: 'brand', brand: ' Acme ' },
      { rule_type: 'ai_category', ai_category: { tier1: ' Games ' } },
      { rule_type: 'custom_taxonomy', custom_taxonomy: { taxonomy_id: taxonomy.id, tier1: 'Shoes ' } },
    ];
    const set = await create({ entries });
    const none = { tag_slug: null, iab_v3: null, brand: null, ai_category: null, custom_taxonomy: null };
    const path = { tier2: null, tier3: null, tier4: null };
    assert.deepEqual(
      set.entries.map(({ id: _, ...entry }: Json) => entry),
      [
        { rule_type: 'tag', ...none, tag_slug: 'autosound', country_codes: ['AQ', 'DE', 'US', 'XK'] },
        {
          ...{ rule_type: 'iab_v3', ...none, country_codes: [] },
          iab_v3: { ...path, tier1: 'Automotive', tier2: 'Auto Body Styles' },
        },
        { rule_type: 'brand', ...none, brand: 'Acme', country_codes: [] },
        { rule_type: 'ai_category', ...none, ai_category: { tier1: 'Games', ...path }, country_codes: [] },
        {
          ...{ rule_type: 'custom_taxonomy', ...none, country_codes: [] },
          custom_taxonomy: { taxonomy_id: taxonomy.id, tier1: 'Shoes', ...path },
        },
      ],
    );
    const { visibility, is_approved, is_default, moderation_note, campaigns_total } = set;
    assert.deepEqual(
      [visibility, is_approved, is_default, moderation_note, campaigns_total],
      ['private', false, false, null, 0],
    );
    assert.deepEqual((await api.get(`${SETS}/${set.id}`)).body, set);
    const row = (await api.get(`${SETS}?limit=1`)).body.items[0];
    assert.deepEqual([row.id, row.entries], [set.id, undefined]);
  });

  test('§2.8.21 an entry with the field of another kind, a gap in its path, an unknown country, or sent twice is refused', async () => {
    const refused = await entriesRefused(
      { rule_type: 'brand', brand: 'Acme', tag_slug: 'autosound' },
      { rule_type: 'brand' },
      { rule_type: 'ai_category', ai_category: { tier1: 'A', tier3: 'B' } },
      { rule_type: 'iab_v3', iab_v3: { tier1: 'Automotive', tier2: 'Cats' } },
      { ...AUTOSOUND, country_codes: ['US', 'ZZ', 'XYZ'] },
      { rule_type: 'brand', brand: 'Nike' },
      { rule_type: 'brand', brand: 'NIKE' },
      { rule_type: 'custom_taxonomy', custom_taxonomy: { taxonomy_id: 'none', tier1: 'x' } },
    );
    assert.deepEqual(refused, [
      'body.entries.0.tag_slug invalid_combination',
      'body.entries.1.brand missing',
      'body.entries.2.ai_category invalid_combination',
      'body.entries.3.iab_v3 not_found',
      'body.entries.4.country_codes.1 not_found',
      'body.entries.4.country_codes.2 not_found',
      'body.entries.6 duplicate',
      'body.entries.7.custom_taxonomy.taxonomy_id not_found',
    ]);
    const paths = [
      { rule_type: 'ai_category', ai_category: { tier1: 'A', tier3: 'B' } },
      { rule_type: 'iab_v3', iab_v3: { tier1: 'Cats' } },
    ];
    const given = (await api.post(SETS, { name: 'Set', entries: paths })).body.detail.map(({ ctx }: Json) => ctx.given);
    assert.deepEqual(given, [{ tier1: 'A', tier3: 'B' }, { tier1: 'Cats' }], '§2.4.2 as they were sent');
    assert.equal((await api.post(SETS, { name: 'Set', entries: [] })).status, 422);
    assert.equal((await api.post(SETS, { name: 'Set', entries: [AUTOSOUND], colour: 1 })).status, 422);
  });

  test('§2.8.20 the largest set is stored: 500 entries of 50 countries each, with every field written, and 2,000 campaigns', async () => {
    const country_codes = iso31661.slice(0, 50).map(({ alpha2 }) => alpha2 as string);
    const none = { tag_slug: null, iab_v3: null, brand: null, custom_taxonomy: null };
    const ai_category = { tier1: 'A', tier2: 'B', tier3: 'C' };
    const entries = Array.from({ length: 500 }, (_, at) => ({
      ...{ rule_type: 'ai_category', ...none, country_codes },
      ai_category: { ...ai_category, tier4: `${at}` },
    }));
    const set = await create({ entries });
    assert.deepEqual(set.entries.at(-1).country_codes, country_codes.toSorted());
    const named = { name: 'Set', entries, campaign_ids: Array.from({ length: 2_000 }, () => 'none') };
    for (const answer of [await api.post(SETS, named), await put(set.id, named)])
      assert.equal(itemsOf(answer)[0], 'body.campaign_ids.0 not_found');
    done(await put(set.id, { name: 'Changed', entries }), 200);
  });

  test('§7.2.6 unknown tags and those of other organizations are refused; archived ones are left out, even all of them', async () => {
    await api.tags.register([ownTag(ORGANIZATIONS.theirs, 'their_tag')], new Date());
    await api.tags.register([ownTag(ORGANIZATIONS.ours, 'old_tag')], new Date());
    const answer = await api.post(SETS, { name: 'Set', entries: [{ tag_slug: 'their_tag' }, { tag_slug: 'nothing' }] });
    assert.deepEqual(
      answer.body.detail.map(({ msg, loc }: Json) => `${loc.join('.')} ${msg}`),
      ['body.entries.0.tag_slug Unknown tag(s): their_tag', 'body.entries.1.tag_slug Unknown tag(s): nothing'],
    );
    done(await api.post('/api/v1/tag-definitions/old_tag/archive'));
    assert.deepEqual((await create({ entries: [{ tag_slug: 'old_tag' }] })).entries, []);
  });

  test('§2.8.80 the texts and entries of all sets are bounded together, also when 40 are changed at once', async () => {
    const store = await openStore({ path: ':memory:' });
    const most = { records: 500, bytes: 50_000 };
    const processes = [policySetStore(store, most), policySetStore(store, most)];
    const sets = processes[0]!;
    const set = (name: string) => ({ ...policySetOf(ORGANIZATIONS.ours, []), _id: newId(), name });
    const small = Array.from({ length: 40 }, () => set('small'));
    for (const one of small) await sets.insert(one);
    const outcomes = await Promise.allSettled(
      small.map((one, at) => processes[at % 2]!.change(one, { description: 'x'.repeat(10_000) })),
    );
    const refusals = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    assert.deepEqual(refusals, Array(36).fill('policies.too_many'));
    const [large] = await store.collection<PolicySetRecord>('policy_sets').find({ description: /x/ }).toArray();
    await sets.remove(large!);
    await sets.insert(set('y'.repeat(15_000)));
    await assert.rejects(sets.insert(set('z'.repeat(15_000))), { code: 'policies.too_many' });
    await store.close();
  });

  test('§2.8.22 a tag that an entry names cannot be deleted', async () => {
    await api.tags.register([ownTag(ORGANIZATIONS.ours, 'kept_tag')], new Date());
    const set = await create({ entries: [{ tag_slug: 'kept_tag' }] });
    const remove = () => api.call('DELETE', '/api/v1/tag-definitions/kept_tag');
    assert.equal(done(await remove(), 409).code, 'checking.tag_in_use');
    done(await api.call('DELETE', `${SETS}/${set.id}`));
    done(await remove());
  });

  test('§2.8.23 attaching moves campaigns to a set, detaching unbinds those of this set, PUT replaces them', async () => {
    const [first, second] = [await create(), await create()];
    const [one, two] = [await campaign({ policy_set_id: first.id }), await campaign()];
    done(await act(second.id, 'campaigns/attach', { campaign_ids: [one.id, two.id] }));
    assert.deepEqual([await boundSet(one.id), await boundSet(two.id)], [second.id, second.id]);
    done(await act(first.id, 'campaigns/detach', { campaign_ids: [one.id] }));
    assert.equal(await boundSet(one.id), second.id);
    const bound = (await api.get(`${SETS}/${second.id}/campaigns?q=SPRING`)).body;
    assert.deepEqual([bound.total, bound.items[0].name], [2, 'Spring offer']);
    assert.equal((await api.get(`${SETS}/${second.id}/campaigns?q=%00`)).body.total, 0);
    const body = { name: 'Set', entries: [AUTOSOUND] };
    assert.equal(done(await put(second.id, { ...body, campaign_ids: [two.id] }), 200).campaigns_total, 1);
    assert.equal(done(await put(second.id, body), 200).campaigns_total, 1);
    assert.equal(await boundSet(one.id), null);
    done(await act(second.id, 'campaigns/detach', { detach_all: true }));
    assert.equal(await boundSet(two.id), null);
    const unknown = await act(second.id, 'campaigns/attach', { campaign_ids: [one.id, 'none'] });
    assert.deepEqual(itemsOf(unknown), ['body.campaign_ids.1 not_found']);
    const foreign = await campaign({}, theirs);
    assert.equal((await act(second.id, 'campaigns/attach', { campaign_ids: [foreign.id] })).status, 422);
    assert.equal(
      (await api.call('PATCH', `${CAMPAIGNS}/${one.id}`, { body: { policy_set_id: first.id } })).status,
      200,
    );
    assert.equal((await api.call('PATCH', `${CAMPAIGNS}/${one.id}`, { body: { name: 'Renamed' } })).status, 200);
    assert.equal(await boundSet(one.id), first.id);
    await api.call('PATCH', `${CAMPAIGNS}/${one.id}`, { body: { policy_set_id: null } });
    assert.equal(await boundSet(one.id), null);
  });

  test('§2.8.24 an organization has one default set, bound to campaigns that are created without naming one', async () => {
    const [first, second] = [await create(), await create()];
    const earlier = await campaign();
    done(await act(first.id, 'set-default', { is_default: true }));
    done(await act(second.id, 'set-default', { is_default: true }));
    const defaults = (await api.get(`${SETS}?limit=200`)).body.items.filter(({ is_default }: Json) => is_default);
    assert.deepEqual(
      defaults.map(({ id }: Json) => id),
      [second.id],
    );
    assert.equal(await boundSet(earlier.id), null, 'a campaign that was there is not bound');
    const bound = await campaign();
    assert.equal(bound.policy_set_id, second.id);
    assert.equal((await campaign({ policy_set_id: null })).policy_set_id, null);
    assert.equal((await campaign({}, theirs)).policy_set_id, null);
    done(await act(first.id, 'set-default', { is_default: false }));
    assert.equal((await campaign({ name: 'x' })).policy_set_id, second.id);
    done(await act(second.id, 'set-default', { is_default: false }));
    assert.equal((await campaign()).policy_set_id, null);
    assert.equal(await boundSet(bound.id), second.id, 'what was bound stays bound');
  });

  test('§2.8.24 a shared set that is the default of its owner is no default for others', async () => {
    const set = await approved();
    done(await act(set.id, 'set-default', { is_default: true }));
    const seen = async (sent = {}): Promise<boolean[]> => {
      const listed = (await api.get(`${SETS}?limit=200`, sent)).body.items.find(({ id }: Json) => id === set.id);
      return [listed.is_default, (await api.get(`${SETS}/${set.id}`, sent)).body.is_default];
    };
    assert.deepEqual(
      [await seen(), await seen(theirs)],
      [
        [true, true],
        [false, false],
      ],
    );
    assert.equal((await campaign({}, theirs)).policy_set_id, null);
    done(await act(set.id, 'set-default', { is_default: false }));
  });

  test('§2.8.25 no campaign stays bound to a set, and none is the default, that is deleted in the same moment', async () => {
    /** Deletes the set just before a write of a binding to it, after all its checks. */
    const deletedBefore = (collection: string, method: string, { id }: Json) => {
      const end = api.intercept(collection, method, async () => {
        end();
        done(await api.call('DELETE', `${SETS}/${id}`));
      });
    };
    const attached = await campaign();
    const attachedTo = await create();
    deletedBefore('campaigns', 'updateMany', attachedTo);
    assert.equal((await act(attachedTo.id, 'campaigns/attach', { campaign_ids: [attached.id] })).status, 404);
    assert.equal(await boundSet(attached.id), null);

    const createdIn = await create();
    deletedBefore('campaigns', 'insertOne', createdIn);
    const created = await campaign({ policy_set_id: createdIn.id });
    assert.deepEqual([created.policy_set_id, await boundSet(created.id)], [null, null]);

    const changedTo = await create();
    deletedBefore('campaigns', 'findOneAndUpdate', changedTo);
    const changed = done(
      await api.call('PATCH', `${CAMPAIGNS}/${attached.id}`, { body: { policy_set_id: changedTo.id } }),
      200,
    );
    assert.deepEqual([changed.policy_set_id, await boundSet(attached.id)], [null, null]);

    const preferred = await create();
    deletedBefore('policy_set_defaults', 'updateOne', preferred);
    assert.equal((await act(preferred.id, 'set-default', { is_default: true })).status, 404);
    assert.equal(await api.domains.analysis.stores.policySets.defaultOf(ORGANIZATIONS.ours), null);
  });

  test('§2.8.25 a set cannot be deleted while an own campaign that is not archived is bound to it', async () => {
    const set = await create();
    const { id } = await campaign({ policy_set_id: set.id });
    const remove = () => api.call('DELETE', `${SETS}/${set.id}`);
    assert.equal(done(await remove(), 409).code, 'policies.in_use');
    done(await api.post(`${CAMPAIGNS}/${id}/archive`), 200);
    done(await remove());
    assert.equal((await api.get(`${SETS}/${set.id}`)).status, 404);
    assert.equal(await boundSet(id), null);
  });

  test('§2.8.26 a preview counts what a set would have found in finished scans, and stores nothing', async () => {
    const at = (days: number) => new Date(Date.now() - days * 86_400_000);
    const classification = { brand: 'Acme', ai_category: null, iab_v3: null, custom_taxonomies: [] };
    const common = { organization_id: ORGANIZATIONS.ours, tags: [sampleTag('autosound', '')], classification };
    const scans = [
      sampleScan({ ...common, _id: newId(), created_at: at(1), country_code: 'US' }),
      sampleScan({ ...common, _id: newId(), created_at: at(2), country_code: 'DE' }),
      sampleScan({ ...common, _id: newId(), created_at: at(9), country_code: 'US' }),
      sampleScan({ ...common, _id: newId(), created_at: at(1), status: 'failed' }),
      sampleScan({ ...common, _id: newId(), created_at: at(1), organization_id: ORGANIZATIONS.theirs }),
    ];
    for (const scan of scans) await api.scans.insertUnlessExists({ ...scan, outbox: [] });
    const set = await create({
      entries: [
        { ...AUTOSOUND, country_codes: ['US'] },
        { rule_type: 'brand', brand: 'ACME' },
      ],
    });
    const [tag, brand] = set.entries.map(({ id }: Json) => id);
    assert.deepEqual(done(await act(set.id, 'preview', { days: 7 }), 200), {
      ...{ scans: 2, alerts: 3, sample_scan_ids: [scans[0]!._id, scans[1]!._id] },
      by_entry: [
        { entry_id: tag, alerts: 1 },
        { entry_id: brand, alerts: 2 },
      ],
    });
    assert.equal(done(await act(set.id, 'preview', { days: 30 }), 200).scans, 3);
    const { id } = await campaign();
    assert.equal(done(await act(set.id, 'preview', { days: 30, campaign_ids: [id] }), 200).scans, 0);
    assert.equal((await act(set.id, 'preview', { days: 31 })).status, 422);
    assert.equal((await act(set.id, 'preview', { days: 1 }, theirs)).status, 404);
    assert.equal(await api.store.collection('alerts').countDocuments({}), 0);
  });

  test('§2.8.27 hidden tags of the platform are named by the operator alone, and shown to others as hidden', async () => {
    const hidden = { ...ownTag('', 'secret_list'), organization_id: null, visibility: 'hidden' as const };
    await api.tags.register([hidden], new Date());
    assert.deepEqual(await entriesRefused({ tag_slug: 'secret_list' }), ['body.entries.0.tag_slug not_found']);
    const set = await create({ entries: [{ tag_slug: 'secret_list' }] }, operator);
    done(await act(set.id, 'request-approval', undefined, operator));
    done(await act(set.id, 'approve', undefined, operator));
    const seen = await api.get(`${SETS}/${set.id}`, theirs);
    assert.equal(done(seen, 200).entries[0].tag_slug, 'hidden');
    assert.ok(!seen.text.includes('secret'));
    assert.equal((await api.get(`${SETS}/${set.id}`, operator)).body.entries[0].tag_slug, 'secret_list');
  });

  test('§5.2 §5.3 sets are read with policies.read, written with policies.manage, and private ones are 404 to others', async () => {
    const set = await create();
    const [reader, writer] = [
      { key: await api.keyThatMay('policies.read') },
      { key: await api.keyThatMay('policies.manage') },
    ];
    const body = { name: 'Set', entries: [AUTOSOUND] };
    const writes: [method: string, below: string, body?: object][] = [
      ['PUT', '', body],
      ['POST', '/campaigns/attach', { campaign_ids: ['x'] }],
      ['POST', '/campaigns/detach', { detach_all: true }],
      ['POST', '/set-default', { is_default: true }],
      ['POST', '/request-approval'],
      ['POST', '/unpublish'],
      ['DELETE', ''],
    ];
    for (const [method, below, sent] of writes) {
      const call = (who: object) =>
        api.call(method, `${SETS}/${set.id}${below}`, { ...(sent && { body: sent }), ...who });
      assert.equal((await call(reader)).status, 403, `${method} ${below}`);
      assert.equal((await call(theirs)).status, 404, `${method} ${below}`);
    }
    for (const below of ['', '/campaigns']) {
      assert.equal((await api.get(`${SETS}/${set.id}${below}`, reader)).status, 200);
      assert.equal((await api.get(`${SETS}/${set.id}${below}`, writer)).status, 403);
      assert.equal((await api.get(`${SETS}/${set.id}${below}`, theirs)).status, 404);
    }
    const listed = (await api.get(`${SETS}?limit=200`, theirs)).body.items;
    assert.ok(!listed.some(({ id }: Json) => id === set.id));
    for (const action of ['approve', 'reject', 'take-down'])
      for (const sent of [reader, writer, theirs, {}])
        assert.equal((await act(set.id, action, { reason: 'x' }, sent)).status, 403);
  });
});
