import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { platformRules } from '../../../src/analysis/rules/platform-rules.ts';
import { compileExpression, type Pattern } from '../../../src/analysis/rules/search/expression.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';
import { sampleScan, sampleTag } from '../../support/sample-scan.ts';

const RULES = '/api/v1/custom-rules';
const TAGS = '/api/v1/tag-definitions';
const casino = {
  name: 'Casino words',
  tag_slug: 'casino',
  rule_type: 'stopword_content',
  config: { contains: ['casino', 'bonus'] },
};

describe('custom rules', () => {
  let api: RunningApi;
  let operator: string;
  before(async () => {
    api = await runningApi();
    operator = await api.keyThatMay('custom_rules.manage', 'scans.read', 'organizations.manage');
  });
  beforeEach(async () => {
    for (const name of ['rules', 'tag_definitions', 'scans']) await api.store.collection(name).deleteMany({});
  });
  after(() => api.stop());

  const create = (change: object = {}, key = KEYS.ours) => api.post(RULES, { ...casino, ...change }, { key });
  const refusals = async (change: object) => {
    const answer = await create(change);
    assert.equal(answer.status, 422, answer.text);
    return itemsOf(answer);
  };

  it('§2.6.10 are created with their tag, read, listed, changed and deleted by their organization', async () => {
    const { status, body } = await create({ tag_visibility: { casino: 'public' }, tag_severity: 'high' });
    assert.equal(status, 201);
    const { id, created_at, ...rest } = body;
    assert.deepEqual(rest, {
      ...casino,
      organization_id: ORGANIZATIONS.ours,
      target: 'page',
      is_active: true,
      scope: 'personal',
      tag_visibility: { casino: 'public' },
      cannot_match: null,
    });
    assert.ok(Date.parse(created_at));
    const tag = (await api.get(`${TAGS}/casino`)).body;
    assert.deepEqual([tag.category, tag.severity, tag.visibility, tag.rules_count], ['custom', 'high', 'public', 1]);
    assert.deepEqual(tag.linked_rules, [
      { id, name: 'Casino words', rule_type: 'stopword_content', target: 'page', is_active: true },
    ]);
    assert.deepEqual((await api.get(`${RULES}/${id}`)).body, body);
    assert.deepEqual((await api.get(RULES)).body.items, [body]);
    const put = (change: object) => api.call('PUT', `${RULES}/${id}`, { body: change });
    const changed = await put({ config: { contains: ['lottery'] }, is_active: false, name: null });
    assert.deepEqual(changed.body, { ...body, config: { contains: ['lottery'] }, is_active: false });
    assert.deepEqual(itemsOf(await put({ config: { pattern: 'x' } })), [
      'body.config.contains missing',
      'body.config.pattern unexpected_field',
    ]);
    assert.deepEqual(itemsOf(await put({ rule_type: 'combo' })), ['body.rule_type unexpected_field']);
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      assert.equal(
        (await api.call(method, `${RULES}/${id}`, { key: KEYS.theirs, ...(method === 'PUT' ? { body: {} } : {}) }))
          .status,
        404,
      );
    assert.deepEqual((await api.get(RULES, { key: KEYS.theirs })).body.items, []);
    assert.equal((await api.call('DELETE', `${RULES}/${id}`)).status, 204);
    assert.equal((await api.get(`${RULES}/${id}`)).status, 404);
    assert.equal((await api.get(`${TAGS}/casino`)).status, 200, 'the tag stays');
  });

  it('§2.6.1 unsupported keys, flags, lengths and expressions are refused', async () => {
    const cases: [object, string[]][] = [
      [{ config: { contains: ['a'], flags: 'i' } }, ['body.config.flags unexpected_field']],
      [{ config: { contains: [] } }, ['body.config.contains too_short']],
      [
        { config: { contains: ['x'.repeat(501), ''] } },
        ['body.config.contains.0 string_too_long', 'body.config.contains.1 string_too_short'],
      ],
      [{ rule_type: 'regexp_url', config: { pattern: '' } }, ['body.config.pattern string_too_short']],
      [{ rule_type: 'regexp_url', config: { pattern: 'x'.repeat(4_097) } }, ['body.config.pattern string_too_long']],
      [{ rule_type: 'regexp_content', config: { pattern: 'x', flags: 'g' } }, ['body.config.flags enum']],
      [{ rule_type: 'regexp_content', config: { pattern: '(?=ahead)' } }, ['body.config.pattern regexp']],
      [{ rule_type: 'regexp_content', config: { pattern: '(a)\\1' } }, ['body.config.pattern regexp']],
      [{ rule_type: 'regexp_request_url', config: { pattern: 'x' }, target: 'creative' }, ['body.target enum']],
      [
        { rule_type: 'regexp_request_body', config: { pattern: 'x' }, target: 'creative_and_page' },
        ['body.target enum'],
      ],
      [{ tag_slug: 'Has Spaces' }, ['body.tag_slug string_pattern_mismatch']],
    ];
    for (const [change, expected] of cases)
      assert.deepEqual((await refusals(change)).map(withoutForm), expected.map(withoutForm), JSON.stringify(change));
    const flags = ['', 'i', undefined].map((one) =>
      create({ rule_type: 'regexp_url', config: { pattern: 'x{1,9}', flags: one } }),
    );
    assert.deepEqual(
      (await Promise.all(flags)).map(({ status }) => status),
      [201, 201, 201],
    );
  });

  it('§2.6.7 a list of domains refuses public suffixes and names that are no domains', async () => {
    const config = { domains: ['ok.example.com', 'co.uk', 'https://x.example/', '10.0.0.1', 'bücher.de', 'a b'] };
    assert.deepEqual(await refusals({ rule_type: 'blacklist_domain', config }), [
      'body.config.domains.1 public_suffix',
      'body.config.domains.2 domain',
      'body.config.domains.5 domain',
    ]);
  });

  it('§2.6.13 a combo has no other target than the page, because it looks at tags', async () => {
    const combo = { rule_type: 'combo', config: { all_of: ['autosound'] } };
    assert.deepEqual(await refusals({ ...combo, target: 'creative' }), ['body.target enum']);
    assert.deepEqual(await refusals({ ...combo, target: 'creative_and_page' }), ['body.target enum']);
    assert.equal((await create({ ...combo, target: 'page' })).status, 201);
  });

  it('§2.6.4 combos are refused if their conditions contradict or name unknown tags', async () => {
    const combo = (config: object) => refusals({ rule_type: 'combo', config });
    assert.deepEqual(await combo({}), ['body.config missing']);
    assert.deepEqual(await combo({ match_scope: 'page', all_of: ['autosound'] }), ['body.config.match_scope enum']);
    assert.deepEqual(await combo({ any_of: ['autosound'], any_of_min: 2 }), [
      'body.config.any_of_min invalid_combination',
    ]);
    const both = ['autosound', 'back_button'];
    assert.deepEqual(await combo({ all_of: both, none_of: ['autosound'] }), [
      'body.config.none_of invalid_combination',
    ]);
    assert.deepEqual(await combo({ any_of: both, any_of_min: 2, none_of: ['autosound'] }), [
      'body.config.none_of invalid_combination',
    ]);
    assert.deepEqual(await combo({ none_of: ['autosound'], count_gte: 2 }), [
      'body.config.count_gte invalid_combination',
    ]);
    const unknown = await create({ rule_type: 'combo', config: { all_of: ['autosound', 'nowhere'] } });
    assert.match(unknown.body.detail[0].msg, /^Unknown tag\(s\): nowhere/);
    await create({ tag_slug: 'theirs' }, KEYS.theirs);
    assert.deepEqual(await combo({ none_of: ['theirs'] }), ['body.config.none_of not_found']);
    assert.equal(
      (await create({ rule_type: 'combo', config: { match_scope: 'url', none_of: ['autosound'] } })).status,
      201,
    );
  });

  it('§2.6.10 a rule that an earlier version accepted, and this one would not, is renamed and switched off, and not on again', async () => {
    const { body } = await create({ rule_type: 'combo', config: { all_of: ['autosound'] } });
    const config = { all_of: ['autosound'], none_of: ['autosound'] };
    await api.store.collection<{ _id: string }>('rules').updateOne({ _id: body.id }, { $set: { config } });
    const put = async (change: object) => (await api.call('PUT', `${RULES}/${body.id}`, { body: change })).status;
    assert.deepEqual(
      [await put({ name: 'Off', is_active: false }), await put({ is_active: true }), await put({ config })],
      [200, 422, 422],
    );
  });

  it('§2.6.11 need custom_rules.manage to be written, and the operator’s key for the platform’s', async () => {
    const reader = await api.keyThatMay('scans.read');
    assert.equal((await create({}, reader)).status, 403);
    assert.equal((await api.get(RULES, { key: reader })).status, 200);
    const platform = () => api.post(`${RULES}?scope=system`, { ...casino, tag_slug: 'autosound' }, { key: operator });
    for (const all_of of [['autosound'], ['nowhere']]) {
      const combo = { ...casino, rule_type: 'combo', config: { all_of } };
      assert.equal((await api.post(`${RULES}?scope=system`, combo)).status, 403, 'whether or not it has such a tag');
    }
    const { status, body } = await platform();
    assert.deepEqual([status, body.scope, body.organization_id], [201, 'system', null]);
    assert.deepEqual((await api.get(`${RULES}?scope=system`)).body.items, [body], 'everyone may read them');
    assert.deepEqual((await api.get(RULES)).body.items, []);
    assert.equal((await api.call('PUT', `${RULES}/${body.id}`, { body: { is_active: false } })).status, 403);
    assert.equal((await api.call('DELETE', `${RULES}/${body.id}`)).status, 403);
  });

  it('§2.6.11 a slug of the system is refused', async () => {
    const { status, body } = await create({ tag_slug: 'autosound' });
    assert.deepEqual([status, body.code], [422, 'checking.system_slug_reserved']);
  });

  it('the deletion of a tag that was interrupted can be repeated', async () => {
    const { body: rule } = await create();
    await api.call('DELETE', `${RULES}/${rule.id}`);
    const tags = [sampleTag('casino', '')];
    const scan = sampleScan({ _id: 'tagged', organization_id: ORGANIZATIONS.ours, outbox: [], tags });
    await api.scans.insertUnlessExists(scan);
    const end = api.intercept('scans', 'updateMany', () => Promise.reject(new Error('interrupted')));
    const interrupted = await api.call('DELETE', `${TAGS}/casino`);
    end();
    const repeated = await api.call('DELETE', `${TAGS}/casino`);
    assert.deepEqual([interrupted.status, repeated.status], [500, 204]);
    assert.deepEqual((await api.scans.find(ORGANIZATIONS.ours, 'tagged'))?.tags, []);
  });

  it('§2.6.17 a combo that counts a category which no tag has is refused: created, changed or switched on', async () => {
    const counting = (tag_category: string) => ({ rule_type: 'combo', tag_slug: 'counted', config: { tag_category } });
    assert.deepEqual(await refusals(counting('nowhere')), ['body.config.tag_category not_found']);
    await create({ tag_category: 'fraud' });
    const { body } = await create(counting('fraud'));
    assert.equal(body.cannot_match, null);
    const put = (change: object) => api.call('PUT', `${RULES}/${body.id}`, { body: change });
    assert.deepEqual(itemsOf(await put({ config: { tag_category: 'nowhere' } })), [
      'body.config.tag_category not_found',
    ]);
    // As an earlier version left it.
    await api.store.collection('tag_definitions').deleteMany({ slug: 'casino' });
    const read = (await api.get(`${RULES}/${body.id}`)).body;
    assert.equal(read.cannot_match, 'No tag in service has the category fraud.');
    assert.equal((await put({ name: 'Off', is_active: false })).status, 200);
    assert.deepEqual(itemsOf(await put({ is_active: true })), ['body.config.tag_category not_found']);
  });

  it('§2.6.17 a combo of the platform may count a category that only tags of organizations have', async () => {
    const combo = { name: 'Own', rule_type: 'combo', tag_slug: 'counted', config: { tag_category: 'fraud' } };
    const { status, body } = await api.post(`${RULES}?scope=system`, combo, { key: operator });
    assert.deepEqual([status, body.cannot_match], [201, null]);
  });

  it('§2.6.17 a rule says which of its conditions no scan can meet as the tags are now', async () => {
    await create();
    const { body } = await create({
      rule_type: 'combo',
      tag_slug: 'both',
      config: { all_of: ['casino', 'autosound'] },
    });
    const cannotMatch = async () => (await api.get(`${RULES}/${body.id}`)).body.cannot_match;
    assert.equal((await api.post(`${TAGS}/casino/archive`)).status, 204);
    assert.equal(await cannotMatch(), 'No scan gets the tag casino, which is archived or gone.');
    assert.equal((await api.post(`${TAGS}/casino/restore`)).status, 204);
    assert.equal(await cannotMatch(), null);
  });

  it('§2.6.17 the last tag of a category that an active combo counts is neither deleted nor moved to another category', async () => {
    await create({ tag_category: 'fraud' });
    await create({ tag_slug: 'second', tag_category: 'fraud' });
    const combo = (await create({ rule_type: 'combo', tag_slug: 'counted', config: { tag_category: 'fraud' } })).body;
    for (const { id } of (await api.get(RULES)).body.items.filter(({ rule_type }: Json) => rule_type !== 'combo'))
      await api.call('DELETE', `${RULES}/${id}`);
    assert.equal((await api.call('DELETE', `${TAGS}/second`)).status, 204);
    const move = () => api.call('PATCH', `${TAGS}/casino`, { body: { category: 'other' } });
    for (const refused of [await api.call('DELETE', `${TAGS}/casino`), await move()])
      assert.deepEqual([refused.status, refused.body.code], [409, 'checking.tag_in_use']);
    assert.equal(
      (await api.call('PATCH', `${TAGS}/casino`, { body: { category: 'fraud', severity: 'high' } })).status,
      204,
    );
    await api.call('PUT', `${RULES}/${combo.id}`, { body: { is_active: false } });
    assert.deepEqual([(await move()).status, (await api.call('DELETE', `${TAGS}/casino`)).status], [204, 204]);
  });

  it('§2.6.17 a rule that drops the last tag of a category which an active combo counts leaves the tag', async () => {
    const { body } = await create({ tag_category: 'fraud' });
    await create({ rule_type: 'combo', tag_slug: 'counted', config: { tag_category: 'fraud' } });
    assert.equal((await api.call('PUT', `${RULES}/${body.id}`, { body: { tag_slug: 'lottery' } })).status, 200);
    assert.equal((await api.get(`${TAGS}/casino`)).status, 200);
  });

  it('§2.6.11 a tag that an active rule uses cannot be deleted; otherwise it goes with its assignments', async () => {
    const { id } = (await create()).body;
    const remove = () => api.call('DELETE', `${TAGS}/casino`);
    const refused = await remove();
    assert.deepEqual([refused.status, refused.body.code], [409, 'checking.tag_in_use']);
    await api.call('PUT', `${RULES}/${id}`, { body: { is_active: false } });
    const scan = sampleScan({
      organization_id: ORGANIZATIONS.ours,
      outbox: [],
      tags: [sampleTag('casino', ''), sampleTag('autosound', '')],
    });
    await api.scans.insertUnlessExists(scan);
    assert.equal((await remove()).status, 204);
    const left = await api.scans.find(ORGANIZATIONS.ours, scan._id);
    assert.deepEqual(
      left!.tags.map(({ tag_slug }) => tag_slug),
      ['autosound'],
    );
    assert.equal((await api.call('DELETE', `${TAGS}/autosound`)).status, 403);
  });

  it('§2.6.11 a tag is kept, or registered again, if a rule that assigns it is written while it is deleted', async () => {
    await api.call('DELETE', `${RULES}/${(await create()).body.id}`);
    await api.call('PATCH', `${TAGS}/casino`, { body: { severity: 'high' } });
    const remove = () => api.call('DELETE', `${TAGS}/casino`);
    let created = 0;
    let end = api.intercept('tag_definitions', 'findOneAndDelete', async () => {
      end();
      created = (await create()).status;
    });
    const late = await remove();
    assert.deepEqual([created, late.status, late.body.code], [201, 409, 'checking.tag_in_use']);
    assert.equal((await api.get(`${TAGS}/casino`)).body.severity, 'high');

    for (const { id } of (await api.get(RULES)).body.items) await api.call('DELETE', `${RULES}/${id}`);
    let removed = 0;
    end = api.intercept('rules', 'insertOne', async () => {
      end();
      removed = (await remove()).status;
    });
    assert.deepEqual([(await create()).status, removed], [201, 204]);
    assert.equal((await api.get(`${TAGS}/casino`)).body.rules_count, 1);
  });

  it('§2.6.11 a tag that a changed rule drops is kept if another rule that assigns it is written at that moment', async () => {
    const { id } = (await create()).body;
    let created = 0;
    const end = api.intercept('tag_definitions', 'findOneAndDelete', async () => {
      end();
      created = (await create({ name: 'Another' })).status;
    });
    const body = { tag_slug: 'lottery' };
    assert.deepEqual([(await api.call('PUT', `${RULES}/${id}`, { body })).status, created], [200, 201]);
    assert.equal((await api.get(`${TAGS}/casino`)).body.rules_count, 1);
  });

  it('§2.6.11 own tags can be changed, the system’s cannot', async () => {
    await create();
    const patch = (slug: string, body: object) => api.call('PATCH', `${TAGS}/${slug}`, { body });
    assert.equal(
      (await patch('casino', { category: 'compliance', display_name: 'Gambling', severity: null })).status,
      204,
    );
    const { category, display_name, severity } = (await api.get(`${TAGS}/casino`)).body;
    assert.deepEqual([category, display_name, severity], ['compliance', 'Gambling', 'low']);
    assert.equal((await patch('autosound', { severity: 'high' })).status, 403);
  });

  it('§2.6.12 lists are pasted as lines or CSV', async () => {
    const parse = async (text: string) => (await api.post(`${RULES}/parse-list`, { text })).body;
    const text = '\uFEFFword one\r\n"quoted, with ""marks"""; second\tthird,,word one\n\n';
    const items = ['word one', 'quoted, with "marks"', 'second', 'third'];
    assert.deepEqual(await parse(text), { items, duplicates: 1 });
  });

  it('§2.5.10 the rules for iOS exploit kits match published requests of them, and none that only look similar', () => {
    const expressions = platformRules(new Date()).map(({ config }) => {
      const { pattern, flags } = config as Pattern;
      return compileExpression(pattern, flags);
    });
    const isHit = (url: string) => expressions.some((expression) => expression.test(url));
    const hits = [
      'https://cdn.example/assets/rce_loader.js',
      'https://cdn.example/rce_worker_18.4.js?1774876691190',
      'https://cdn.example/rce_module.js?1774876691230',
      'https://cdn.example/sbx0_main_18.4.js',
      'http://203.0.113.7/list/suc?name=abc',
      'https://host.example/payload.dylib',
      'https://host.example/fV2/stadium/megalodon?m=iPhone9,1',
    ];
    const others = [
      'https://cdn.example/resource_loader.js',
      'https://cdn.example/rce_loader.json',
      'https://cdn.example/frame.html?0.58',
      'https://team.example/stadium/tickets',
      'https://host.example/list/success?name=abc',
    ];
    assert.deepEqual(hits.filter(isHit), hits);
    assert.deepEqual(others.filter(isHit), []);
  });

  it('§2.5.10 the rule for iOS exploit kits belongs to the platform: the operator can edit but not delete it', async () => {
    for (const rule of platformRules(new Date())) await api.rules.insert(rule);
    const [rule] = (await api.get(`${RULES}?scope=system`)).body.items as Json[];
    assert.deepEqual([rule.tag_slug, rule.rule_type], ['ios_exploit_attempt', 'regexp_request_url']);
    const path = `${RULES}/${rule.id}`;
    const put = (key: string) => api.call('PUT', path, { key, body: { config: { pattern: 'new-kit' } } });
    assert.equal((await put(KEYS.ours)).status, 403);
    assert.deepEqual((await put(operator)).body.config, { pattern: 'new-kit' });
    for (const again of platformRules(new Date())) await api.rules.insert(again);
    assert.deepEqual((await api.get(path)).body.config, { pattern: 'new-kit' }, 'a restart leaves it as it is');
    assert.equal((await api.call('DELETE', path, { key: operator })).body.code, 'checking.built_in_rule');
  });
});

/** What a length or form is called is the schema's business. */
const withoutForm = (item: string): string =>
  item.replace(
    / (too_short|string_too_\w+|string_pattern\w*|list_too\w*|\w*length\w*|\w*pattern\w*|min\w*|max\w*)$/,
    ' form',
  );
