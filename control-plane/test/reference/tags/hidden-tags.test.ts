import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { addFirstOrganization, FIRST_ORGANIZATION_ID } from '../../../src/accounts/add-organization.ts';
import { skippedRules, withoutResult } from '../../../src/analysis/pipeline/skipped-rules.ts';
import { matchCombos } from '../../../src/analysis/rules/evaluation/evaluate-rules.ts';
import type { Rule } from '../../../src/analysis/rules/rule.ts';
import { ownTag } from '../../support/checked-scans.ts';
import { itemsOf, type Json, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';
import { sampleScan, sampleTag } from '../../support/sample-scan.ts';

const RULES = '/api/v1/custom-rules';
const TAGS = '/api/v1/tag-definitions';
const operator = { key: 'key-of-the-operator' };
const SLUG = 'secret_list';

describe('hidden tags of the platform', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
    await addFirstOrganization(api.accounts, operator.key, new Date());
    const hidden = { ...ownTag('', SLUG), organization_id: null, visibility: 'hidden' as const };
    await api.tags.register([hidden], new Date());
  });
  after(() => api.stop());

  test('§2.5.19 organizations see a hidden tag of the platform in no list of tags, scan or filter; the operator does', async () => {
    const scan = sampleScan({
      ...{ _id: newId(), organization_id: ORGANIZATIONS.ours, outbox: [] },
      tags: [sampleTag(SLUG, ''), sampleTag('autosound', '')],
    });
    await api.scans.insertUnlessExists(scan);
    assert.equal((await api.get(`${TAGS}/${SLUG}`)).status, 404);
    assert.ok(!(await api.get(TAGS)).text.includes(SLUG));
    assert.equal((await api.get(`${TAGS}/${SLUG}`, operator)).status, 200);
    const tags = (await api.get(`/api/v1/scans/${scan._id}/tags`)).body;
    assert.deepEqual(
      tags.map(({ tag_slug }: Json) => tag_slug),
      ['autosound'],
    );
    assert.equal((await api.get(`/api/v1/scans?tag=${SLUG}`)).body.total, 0);
    assert.equal((await api.get('/api/v1/scans?tag=autosound')).body.total, 1);
  });

  test('§2.5.19 a public report shows no hidden tag, also none of the organization, which sees its own on its scans', async () => {
    const own = { ...ownTag(ORGANIZATIONS.ours, 'our_secret'), visibility: 'hidden' as const };
    await api.tags.register([own], new Date());
    const scan = sampleScan({
      ...{ _id: newId(), organization_id: ORGANIZATIONS.ours, outbox: [], report_token: newId() },
      tags: [SLUG, own.slug, 'autosound'].map((slug) => sampleTag(slug, '')),
    });
    await api.scans.insertUnlessExists(scan);
    const tags = (await api.get(`/api/v1/scans/${scan._id}/tags`)).body;
    assert.deepEqual(new Set(tags.map(({ tag_slug }: Json) => tag_slug)), new Set([own.slug, 'autosound']));
    assert.equal((await api.get(`/api/v1/scans?tag=${own.slug}`)).body.total, 1);
    const report = await api.get(`/r/${scan.report_token}`, { key: null });
    assert.equal(report.status, 200);
    assert.ok(report.text.includes('autosound'), report.text.slice(0, 2_000));
    for (const slug of [SLUG, own.slug]) assert.ok(!report.text.includes(slug), slug);
  });

  test('§2.5.17 organizations cannot name a hidden tag in a combo, and see no rule of the platform that assigns one', async () => {
    const combo = { name: 'Mine', tag_slug: 'mine', rule_type: 'combo', config: { all_of: [SLUG] } };
    const refused = await api.post(RULES, combo);
    assert.equal(refused.status, 422);
    assert.match(refused.body.detail[0].msg, /Unknown tag/);
    assert.equal(itemsOf(refused).length, 1);
    const rule = { name: 'Secret', tag_slug: SLUG, rule_type: 'stopword_content', config: { contains: ['x'] } };
    const { status, body } = await api.post(`${RULES}?scope=system`, rule, operator);
    assert.equal(status, 201);
    const [ours, theirs] = [await api.get(`${RULES}?scope=system`), await api.get(`${RULES}?scope=system`, operator)];
    assert.deepEqual([ours.text.includes(SLUG), theirs.text.includes(SLUG)], [false, true]);
    assert.equal(ours.body.total, theirs.body.total - 1);
    assert.equal((await api.get(`${RULES}/${body.id}`)).status, 404);
    assert.equal((await api.get(`${RULES}/${body.id}`, operator)).status, 200);
  });

  test('§2.5.17 organizations see no rule of the platform that looks at a hidden tag, and no finding of it names that tag', async () => {
    const config = { any_of: [SLUG, 'autosound'] };
    const rule = { name: 'Sums up', tag_slug: 'summed_up', rule_type: 'combo', config };
    const { status, body } = await api.post(`${RULES}?scope=system`, rule, operator);
    assert.equal(status, 201);
    for (const path of [`${RULES}?scope=system`, `${RULES}/${body.id}`, `${TAGS}/autosound`])
      assert.deepEqual(
        [(await api.get(path)).text.includes('Sums up'), (await api.get(path, operator)).text.includes('Sums up')],
        [false, true],
        path,
      );
    const tags = await api.domains.reference.verbs.readTags(ORGANIZATIONS.ours);
    const combo = { ...rule, id: body.id, organization_id: null, target: 'page' } as Rule;
    const found = [{ tag_slug: 'autosound', detail: '', url: '', surface: 'page' as const }];
    assert.deepEqual(
      (await matchCombos([combo], found, tags, [])).map(({ detail }) => detail),
      ['Rule "Sums up"'],
    );
  });

  test('§2.5.17 what a scan lacks counts the rules of the platform that name a hidden tag, and does not name them', async () => {
    const tags = await api.domains.reference.verbs.readTags(ORGANIZATIONS.ours);
    const ruleOf = (name: string, organization_id: string | null, tag_slug: string): Rule => ({
      ...{ id: newId(), organization_id, name, tag_slug, target: 'page', rule_type: 'stopword_content' },
      config: { contains: ['x'] },
    });
    const [secret, own] = [ruleOf('Secret', null, SLUG), ruleOf('Ours', ORGANIZATIONS.ours, 'mine')];
    assert.deepEqual(withoutResult('skipped', [secret, own], tags), ['skipped: "Ours" 1 more']);
    assert.deepEqual(withoutResult('skipped', [secret, secret], tags), ['skipped: 2 of the platform']);
    assert.equal(skippedRules([secret, own], tags).total, 1);
  });

  test('§2.5.19 a hidden tag of the platform can be neither changed, deleted, archived nor restored by organizations: for them there is none', async () => {
    for (const [method, below, body] of [
      ['PATCH', '', { severity: 'low' }],
      ['DELETE', ''],
      ['POST', '/archive'],
      ['POST', '/restore'],
    ] as const) {
      const call = (slug: string) => api.call(method, `${TAGS}/${slug}${below}`, { ...(body && { body }) });
      const [hidden, unknown] = [await call(SLUG), await call('there_is_none')];
      assert.equal(hidden.status, 404, `${method} ${below}`);
      assert.deepEqual(hidden.body, unknown.body);
      assert.equal((await call('autosound')).status, 403);
    }
  });

  test('§2.5.19 rules of the platform that assign a hidden tag are not linked to the tags that they look at', async () => {
    const config = { any_of: ['back_button'] };
    const rule = { name: 'Finds secrets', tag_slug: SLUG, rule_type: 'combo', config };
    assert.equal((await api.post(`${RULES}?scope=system`, rule, operator)).status, 201);
    const [ours, theirs] = [await api.get(`${TAGS}/back_button`), await api.get(`${TAGS}/back_button`, operator)];
    assert.deepEqual([ours.text.includes('secrets'), theirs.text.includes('secrets')], [false, true]);
    assert.equal(ours.body.rules_count, theirs.body.rules_count - 1);
    const listed = (await api.get(TAGS)).body.find(({ slug }: Json) => slug === 'back_button');
    assert.equal(listed.rules_count, ours.body.rules_count);
  });

  test('§2.5.19 the operator sees hidden tags on scans of its own organization, and finds scans by them', async () => {
    const tags = [sampleTag(SLUG, '')];
    const scan = sampleScan({ _id: newId(), organization_id: FIRST_ORGANIZATION_ID, outbox: [], tags });
    await api.scans.insertUnlessExists(scan);
    const seen = (await api.get(`/api/v1/scans/${scan._id}/tags`, operator)).body;
    assert.deepEqual(
      seen.map(({ tag_slug }: Json) => tag_slug),
      [SLUG],
    );
    assert.equal((await api.get(`/api/v1/scans?tag=${SLUG}`, operator)).body.total, 1);
    assert.ok(!(await api.get(`/r/${scan.report_token}`, { key: null })).text.includes(SLUG));
  });

  test('§2.5.18 a hidden tag counts in combos of the platform and not in those of organizations', async () => {
    const tags = await api.domains.reference.verbs.readTags(ORGANIZATIONS.ours);
    const found = [{ tag_slug: SLUG, detail: '', url: '', surface: 'page' as const }];
    const combo = (organization_id: string | null): Rule => ({
      ...{ id: newId(), organization_id, name: 'Combo', tag_slug: 'mine', target: 'page', rule_type: 'combo' },
      config: { tag_category: 'custom', count_gte: 1 },
    });
    assert.equal((await matchCombos([combo(null)], found, tags, [])).length, 1);
    assert.equal((await matchCombos([combo(ORGANIZATIONS.ours)], found, tags, [])).length, 0);
  });
});
