import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addFirstOrganization } from '../../../src/accounts/add-organization.ts';
import { ownTag } from '../../support/checked-scans.ts';
import {
  AUTOSOUND,
  CAMPAIGN,
  CAMPAIGNS,
  done,
  operator,
  policySetCalls,
  SETS,
  theirs,
} from '../../support/policy-set-calls.ts';
import { itemsOf, type Json, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

let api: RunningApi;
before(async () => {
  api = await runningApi();
  await addFirstOrganization(api.accounts, operator.key, new Date());
});
after(() => api.stop());

const { act, approved, boundSet, campaign, create, put } = policySetCalls(() => api);

/** What the scans of a campaign are held against: the name of the set and its tags. */
const policyOf = async (organizationId: string, campaignId: string) => {
  const policy = await api.domains.analysis.dependencies.findPolicy(organizationId, campaignId);
  return policy && [policy.name, ...policy.entries.map((entry) => (entry.rule_type === 'tag' ? entry.tag_slug : ''))];
};

describe('the sharing of policy sets', () => {
  test('§3.10 the operator alone approves or rejects what awaits approval; a rejected set is private, with the reason', async () => {
    const set = await create();
    const state = async () => {
      const { visibility, is_approved, moderation_note } = (await api.get(`${SETS}/${set.id}`)).body;
      return [visibility, is_approved, moderation_note];
    };
    assert.equal(done(await act(set.id, 'approve', undefined, operator), 404).code, 'not_found');
    done(await act(set.id, 'request-approval'));
    done(await act(set.id, 'request-approval'));
    assert.deepEqual(await state(), ['public', false, null]);
    assert.equal((await api.get(`${SETS}/${set.id}`, theirs)).status, 404);
    for (const sent of [{}, theirs]) {
      assert.equal((await act(set.id, 'approve', undefined, sent)).status, 403);
      assert.equal((await act(set.id, 'reject', { reason: 'no' }, sent)).status, 403);
    }
    const operators = await create({}, operator);
    for (const action of ['approve', 'reject']) {
      const answer = await act(operators.id, action, action === 'reject' ? { reason: 'no' } : undefined, operator);
      assert.equal(done(answer, 409).code, 'policies.not_awaiting', 'a private set');
    }
    done(await act(set.id, 'reject', { reason: 'Too broad.' }, operator));
    assert.deepEqual(await state(), ['private', false, 'Too broad.']);
    done(await act(set.id, 'request-approval'));
    done(await act(set.id, 'approve', undefined, operator));
    assert.deepEqual(await state(), ['public', true, null]);
    for (const [action, body] of [
      ['approve', undefined],
      ['reject', { reason: 'no' }],
    ] as const)
      assert.equal(done(await act(set.id, action, body, operator), 409).code, 'policies.not_awaiting');
    const seen = (await api.get(`${SETS}?visibility=public`, theirs)).body.items;
    assert.deepEqual([seen[0].id, seen[0].is_default, seen[0].moderation_note], [set.id, false, null]);
    done(await act(set.id, 'unpublish'));
    done(await act(set.id, 'unpublish'));
    assert.deepEqual(await state(), ['private', false, null]);
    assert.equal((await api.get(`${SETS}/${set.id}`, theirs)).status, 404);
  });

  test('§3.13 a set that its owner changed since the operator read it is not approved under the version that was read', async () => {
    const set = await create();
    done(await act(set.id, 'request-approval'));
    const { version } = done(await api.get(`${SETS}/${set.id}`, operator), 200);
    done(await put(set.id, { name: 'Changed', entries: [{ tag_slug: 'back_button' }] }), 200);
    const refused = await act(set.id, 'approve', { version }, operator);
    assert.equal(done(refused, 409).code, 'policies.changed');
    assert.equal((await api.get(`${SETS}/${set.id}`, theirs)).status, 404);
    const now = done(await api.get(`${SETS}/${set.id}`, operator), 200);
    assert.ok(now.version > version);
    const listed = done(await api.get(`${SETS}?visibility=public`, operator), 200).items;
    assert.equal(listed.find(({ id }: Json) => id === set.id).version, now.version);
    done(await act(set.id, 'approve', { version: now.version }, operator));
    assert.equal(done(await api.get(`${SETS}/${set.id}`, theirs), 200).name, 'Changed');
    assert.equal((await act(set.id, 'approve', { version: 'x' }, operator)).status, 422);
  });

  test('§3.14 the operator alone takes down an approved set: it is private, with the reason, and bound campaigns keep the copy', async () => {
    const set = await approved({ name: 'Shared' });
    const { id: bound } = await campaign({}, theirs);
    done(await act(set.id, 'campaigns/attach', { campaign_ids: [bound] }, theirs));
    for (const sent of [{}, theirs]) assert.equal((await act(set.id, 'take-down', { reason: 'no' }, sent)).status, 403);
    assert.equal((await act(set.id, 'take-down', {}, operator)).status, 422);
    done(await act(set.id, 'take-down', { reason: 'It names a competitor.' }, operator));
    const { visibility, is_approved, moderation_note } = (await api.get(`${SETS}/${set.id}`)).body;
    assert.deepEqual([visibility, is_approved, moderation_note], ['private', false, 'It names a competitor.']);
    assert.deepEqual(await policyOf(ORGANIZATIONS.theirs, bound), ['Shared', 'autosound']);
    const later = await campaign({}, theirs);
    const attach = await act(set.id, 'campaigns/attach', { campaign_ids: [later.id] }, theirs);
    assert.equal(done(attach, 409).code, 'policies.not_published');
    for (const sent of [theirs, operator]) assert.equal((await api.get(`${SETS}/${set.id}`, sent)).status, 404);
    done(await act(set.id, 'request-approval'));
    const again = await act(set.id, 'take-down', { reason: 'no' }, operator);
    assert.equal(done(again, 409).code, 'policies.not_published', 'what awaits approval is rejected');
  });

  test('§3.11 a set with own tags or taxonomies cannot be shared', async () => {
    await api.tags.register([ownTag(ORGANIZATIONS.ours, 'own_finding')], new Date());
    const nodes = [{ client_id: 'a', name: 'Boots' }];
    const taxonomy = done(await api.post('/api/v1/custom-taxonomies', { name: 'Own', nodes }), 201);
    const own = { rule_type: 'custom_taxonomy', custom_taxonomy: { taxonomy_id: taxonomy.id, tier1: 'Boots' } };
    const shareable = [
      ...[AUTOSOUND, { rule_type: 'brand', brand: 'Acme' }],
      { rule_type: 'iab_v3', iab_v3: { tier1: 'Automotive' } },
      { rule_type: 'ai_category', ai_category: { tier1: 'Games' } },
    ];
    const set = await create({ entries: [...shareable, { tag_slug: 'own_finding' }, own] });
    const answer = await act(set.id, 'request-approval');
    assert.equal(done(answer, 422).code, 'policies.private_entries');
    assert.deepEqual(itemsOf(answer), ['body.entries.4 private_entry', 'body.entries.5 private_entry']);
    done(await act((await create({ entries: shareable })).id, 'request-approval'));
    const shared = await approved();
    const change = { name: 'Set', entries: [{ tag_slug: 'own_finding' }] };
    assert.equal(done(await put(shared.id, change), 422).code, 'policies.private_entries');
  });

  test('§3.12 campaigns of others are held against the approved copy, whatever becomes of the set', async () => {
    const set = await approved({ name: 'Shared' });
    const { id: bound } = await campaign({}, theirs);
    const { id: own } = await campaign({ policy_set_id: set.id });
    const attach = (id: string) => act(set.id, 'campaigns/attach', { campaign_ids: [id] }, theirs);
    done(await attach(bound));
    assert.equal((await act(set.id, 'set-default', { is_default: true }, theirs)).status, 404);
    for (const refused of [
      await put(set.id, { name: 'x', entries: [AUTOSOUND] }, theirs),
      await act(set.id, 'unpublish', undefined, theirs),
    ])
      assert.equal(refused.status, 404);
    done(await put(set.id, { name: 'Changed', entries: [{ tag_slug: 'back_button' }] }), 200);
    assert.deepEqual(await policyOf(ORGANIZATIONS.theirs, bound), ['Shared', 'autosound']);
    assert.deepEqual(await policyOf(ORGANIZATIONS.ours, own), ['Changed', 'back_button']);
    const later = await campaign({}, theirs);
    assert.equal(done(await attach(later.id), 409).code, 'policies.not_published');
    assert.equal((await api.post(CAMPAIGNS, { ...CAMPAIGN, policy_set_id: set.id }, theirs)).status, 422);
    assert.equal((await api.call('PATCH', `${CAMPAIGNS}/${bound}`, { body: { name: 'Kept' }, ...theirs })).status, 200);
    done(await act(set.id, 'approve', undefined, operator));
    assert.deepEqual(await policyOf(ORGANIZATIONS.theirs, bound), ['Changed', 'back_button']);
    done(await attach(later.id));
    done(await act(set.id, 'unpublish'));
    assert.equal(done(await attach(later.id), 409).code, 'policies.not_published');
    assert.deepEqual(await policyOf(ORGANIZATIONS.theirs, bound), ['Changed', 'back_button']);
    done(await act(set.id, 'campaigns/detach', { detach_all: true }));
    assert.equal(await boundSet(bound, theirs), set.id, 'the owner unbinds own campaigns alone');
    done(await api.call('DELETE', `${SETS}/${set.id}`));
    assert.deepEqual(await policyOf(ORGANIZATIONS.theirs, bound), ['Changed', 'back_button']);
    assert.equal((await attach(later.id)).status, 404);
    for (const sent of [{}, theirs, operator]) assert.equal((await api.get(`${SETS}/${set.id}`, sent)).status, 404);
    done(await act(set.id, 'campaigns/detach', { campaign_ids: [bound] }, theirs));
    assert.equal(await policyOf(ORGANIZATIONS.theirs, bound), null);
  });
});
