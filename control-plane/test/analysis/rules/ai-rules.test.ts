import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { newId } from '@adsweep/shared/ids.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { type Behaviour, type ModelServer, modelServer } from '../../support/model-server.ts';
import { itemsOf, type Json, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';
import { captureOf } from '../../support/running-farm.ts';
import { sampleScan, sampleTag } from '../../support/sample-scan.ts';
import { storeCapture } from '../../support/store-capture.ts';

const RULES = '/api/v1/custom-rules';
const claims = {
  name: 'Claims',
  rule_type: 'llm',
  config: { prompt: 'Does it promise gains?', tags: { gains: 'It promises gains.', fear: 'It frightens.' } },
};
const { rule_type, config } = claims;
const shop = { rule_type: 'blacklist_domain', config: { domains: ['shop.example'] } };
const gains: Behaviour = { answers: { tags: [{ slug: 'gains', reason: 'It says so.' }] } };
const none: Behaviour = { answers: { tags: [] } };

const limits = { ruleMs: 2_000, batchMs: 110_000 };
let [api, server] = [null as unknown as RunningApi, null as unknown as ModelServer];
before(async () => {
  server = await modelServer();
  api = await runningApi({ settings: { model: { ...server.settings, scansWaiting: 1 }, ruleTests: limits } });
});
beforeEach(async () => {
  for (const name of ['rules', 'tag_definitions', 'model_answers']) await api.store.collection(name).deleteMany({});
  limits.batchMs = 110_000;
});
after(async () => {
  await api.stop();
  await server.stop();
});

/** A finished scan of a page at this address. */
async function finished(url = 'https://shop.example/', of = api): Promise<string> {
  const id = newId();
  const capture = await storeCapture(of, id, captureOf([url]));
  await of.scans.insertUnlessExists(sampleScan({ _id: id, organization_id: ORGANIZATIONS.ours, outbox: [], capture }));
  return id;
}

describe('§2.6.14 AI rules', () => {
  it('register the tags that they may assign, with the meanings of the client', async () => {
    const { status, body } = await api.post(RULES, { ...claims, tag_visibility: { fear: 'public' } });
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual([body.tag_slug, body.config], ['', claims.config]);
    assert.deepEqual(body.tag_visibility, { gains: 'internal', fear: 'public' });
    const tag = (await api.get('/api/v1/tag-definitions/gains')).body;
    assert.deepEqual([tag.description, tag.rules_count], ['It promises gains.', 1]);
    const put = { config: { prompt: 'Else?', tags: { other: 'Something else.' } } };
    assert.equal((await api.call('PUT', `${RULES}/${body.id}`, { body: put })).status, 200);
    assert.equal((await api.get('/api/v1/tag-definitions/other')).status, 200);
    assert.equal((await api.call('DELETE', '/api/v1/tag-definitions/other')).status, 409, 'an active rule assigns it');
  });

  it('leave no tag that a change drops, unless a scan has it, or another rule or a policy set names it', async () => {
    const described = (...slugs: string[]) => Object.fromEntries(slugs.map((slug) => [slug, 'A meaning.']));
    const config = { prompt: 'What?', tags: described('dropped', 'on-a-scan', 'of-another', 'in-a-set', 'kept') };
    const { body } = await api.post(RULES, { ...claims, config });
    const tags = [sampleTag('on-a-scan', 'seen')];
    await api.scans.insertUnlessExists(
      sampleScan({ _id: newId(), organization_id: ORGANIZATIONS.ours, outbox: [], tags }),
    );
    const combo = { name: 'Other', tag_slug: 'both', rule_type: 'combo', config: { any_of: ['of-another'] } };
    assert.equal((await api.post(RULES, combo)).status, 201);
    const set = { name: 'Forbidden', entries: [{ tag_slug: 'in-a-set' }] };
    assert.equal((await api.post('/api/v1/policy-sets', set)).status, 201);
    const put = { config: { prompt: 'Else?', tags: described('kept', 'new') } };
    assert.equal((await api.call('PUT', `${RULES}/${body.id}`, { body: put })).status, 200);
    const statusOf = async (slug: string) => (await api.get(`/api/v1/tag-definitions/${slug}`)).status;
    const slugs = ['dropped', 'on-a-scan', 'of-another', 'in-a-set', 'kept', 'new'];
    assert.deepEqual(await Promise.all(slugs.map(statusOf)), [404, 200, 200, 200, 200, 200]);
  });

  it('are refused if prompt, tags or names are invalid', async () => {
    const refusals = async (change: object) => itemsOf(await api.post(RULES, { ...claims, ...change }));
    const withConfig = (changes: object) => refusals({ config: { ...config, ...changes } });
    assert.deepEqual(await withConfig({ prompt: '' }), ['body.config.prompt string_too_short']);
    assert.deepEqual(await withConfig({ tags: {} }), ['body.config.tags too_short']);
    assert.deepEqual(await withConfig({ more: 1 }), ['body.config.more unexpected_field']);
    assert.equal((await withConfig({ tags: { 'Not a slug': 'x' } })).length, 1);
    assert.deepEqual(await withConfig({ tags: { autosound: 'Loud.' } }), [
      'body.config.tags.autosound system_slug_reserved',
    ]);
    assert.deepEqual(await refusals({ tag_slug: 'gains' }), ['body.tag_slug invalid_combination']);
    assert.deepEqual(await refusals({ tag_visibility: { other: 'public' } }), ['body.tag_visibility.other not_found']);
    assert.deepEqual(await refusals({ ...shop, tag_slug: '' }), ['body.tag_slug missing']);
  });

  it('are limited to ten per owner', async () => {
    for (let at = 0; at < 10; at++) assert.equal((await api.post(RULES, claims)).status, 201);
    assert.equal((await api.post(RULES, claims)).body.code, 'checking.too_many_rules');
    assert.equal((await api.post(RULES, { ...shop, name: 'Shop', tag_slug: 'shop' })).status, 201);
  });

  it('are limited to ten per owner when forty are created at once, and refused ones leave no tags', slow, async () => {
    const tags = (at: number) => ({ config: { ...config, tags: { [`raced_${at}`]: 'One of forty.' } } });
    // All of them have counted the rules before the first one is stored.
    const done = api.intercept('rules', 'insertOne', () => setTimeout(500));
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => api.post(RULES, { ...claims, ...tags(at) })),
    );
    done();
    const refused = answers.filter(({ body }) => body.code === 'checking.too_many_rules');
    assert.deepEqual([answers.filter(({ status }) => status === 201).length, refused.length], [10, 30]);
    const { rows } = await api.rules.list(ORGANIZATIONS.ours, 0, 100);
    assert.equal(rows.length, 10);
    const raced = [...(await api.tags.visibleTo(ORGANIZATIONS.ours)).keys()].filter((slug) =>
      slug.startsWith('raced_'),
    );
    assert.equal(raced.length, 10);
    assert.equal((await api.call('DELETE', `${RULES}/${rows[0]!._id}`)).status, 204);
    assert.equal((await api.post(RULES, claims)).status, 201, 'the room of a deleted rule is free at once');
  });
});

describe('§2.6.15 the configurations of all rules', () => {
  const words = Array.from({ length: 1_000 }, (_, at) => `${at} ${'x'.repeat(490)}`);
  const large = { name: 'Words', rule_type: 'stopword_content', config: { contains: words }, tag_slug: 'words' };
  const tooLarge = ({ status, body }: { status: number; body: Json }) => `${status} ${body.code}`;

  it(
    'have at most 4 MiB together, of rules of earlier versions too; changes that make one larger count',
    slow,
    async () => {
      for (let at = 0; at < 8; at++) assert.equal((await api.post(RULES, large)).status, 201);
      await api.store.collection('rules').updateMany({}, { $unset: { config_bytes: '' } });
      assert.equal(tooLarge(await api.post(RULES, large)), '409 checking.rules_too_large');
      const { body: small } = await api.post(RULES, { ...large, config: { contains: ['word'] } });
      const put = (id: string, contains: string[]) =>
        api.call('PUT', `${RULES}/${id}`, { body: { config: { contains } } });
      assert.equal(tooLarge(await put(small.id, words)), '409 checking.rules_too_large');
      const { rows } = await api.rules.list(ORGANIZATIONS.ours, 0, 100);
      assert.equal((await put(rows[1]!._id, words.slice(1))).status, 200, 'what gets smaller is accepted');
      assert.equal((await api.call('DELETE', `${RULES}/${rows[2]!._id}`)).status, 204);
      assert.equal((await put(small.id, words)).status, 200);
    },
  );
});

describe('§2.6.11 the rules of a tag', () => {
  it('are read without what they search for', async () => {
    const domains = Array.from({ length: 100 }, (_, at) => `shop${at}.example`);
    await api.post(RULES, { name: 'Shops', rule_type: 'blacklist_domain', config: { domains }, tag_slug: 'gains' });
    await api.post(RULES, claims);
    const both = { rule_type: 'combo', config: { all_of: ['gains'], any_of: ['fear'] }, tag_slug: 'both' };
    await api.post(RULES, { name: 'Both', ...both });
    const links = await api.rules.linksVisibleTo(ORGANIZATIONS.ours);
    assert.deepEqual(Object.fromEntries(links.map(({ name, config: read }) => [name, read])), {
      Shops: {},
      Claims: { tags: config.tags },
      Both: both.config,
    });
    const counts = ['gains', 'fear', 'both'].map(
      async (slug) => (await api.get(`/api/v1/tag-definitions/${slug}`)).body,
    );
    assert.deepEqual(
      (await Promise.all(counts)).map(({ rules_count }) => rules_count),
      [3, 2, 1],
    );
  });
});

describe('§4.4.6 tests of AI rules', () => {
  const test = async (scan_id: string) => (await api.post(`${RULES}/test`, { scan_id, rule_type, config })).body;
  const batch = async (rules: object[], scan_ids: string[]) =>
    (await api.post(`${RULES}/test-batch`, { rules, scan_ids })).body;
  const shown = ({ results }: Json) =>
    results.map(({ index, matched, error_code }: Json) => `${index} ${matched} ${error_code}`);

  it('answer the tags that the model would assign, and quote the name of the rule', async () => {
    server.around.behave = () => gains;
    const { elapsed_ms, ...rest } = await test(await finished());
    assert.ok(Number.isInteger(elapsed_ms));
    const tags = [{ tag_slug: 'gains', detail: 'Rule "Test Rule": It says so.' }];
    assert.deepEqual(rest, { matched: true, tags, llm_failed: false });
    assert.match(server.asked.at(-1)!.system, /the rule "Test Rule"/);
    server.around.behave = () => none;
    const { matched, llm_failed } = await test(await finished('https://other.example/'));
    assert.deepEqual([matched, llm_failed], [false, false]);
  });

  it('§4.4.8 are asked as in a scan with context production: by the name of the rule, without archived tags', async () => {
    const { body: saved } = await api.post(RULES, claims);
    await api.post('/api/v1/tag-definitions/fear/archive', {});
    const scan_id = await finished();
    server.around.behave = () => gains;
    const isolated = await api.post(`${RULES}/test`, { scan_id, rule_type, config });
    assert.equal(isolated.body.matched, true);
    assert.match(server.asked.at(-1)!.system, /the rule "Test Rule"[\s\S]*It frightens\./);
    const test = (more: object) => api.post(`${RULES}/test`, { scan_id, rule_type, config, ...more });
    const production = await test({ context: 'production', rule_id: saved.id });
    assert.deepEqual([production.status, production.body.matched], [200, true], production.text);
    const { system } = server.asked.at(-1)!;
    assert.match(system, /the rule "Claims"/);
    assert.doesNotMatch(system, /It frightens/);
    await test({ context: 'production', rule_id: saved.id, name: 'Else' });
    assert.match(server.asked.at(-1)!.system, /the rule "Else"/);
  });

  it('§4.4.8 accept context production only with a stored AI rule of the organization', async () => {
    const scan_id = await finished();
    const { body: other } = await api.post(RULES, { ...shop, name: 'Shop', tag_slug: 'shop' });
    const refusals = async (more: object, rule: object = { rule_type, config }) =>
      itemsOf(await api.post(`${RULES}/test`, { scan_id, ...rule, ...more }));
    const context = 'production';
    assert.deepEqual(await refusals({ context }), ['body.rule_id missing']);
    assert.deepEqual(await refusals({ context, rule_id: newId() }), ['body.rule_id not_found']);
    assert.deepEqual(await refusals({ context, rule_id: other.id }), ['body.rule_id not_found']);
    assert.deepEqual(await refusals({ context, rule_id: other.id }, shop), ['body.context invalid_combination']);
    assert.deepEqual(await refusals({ context: 'else' }), ['body.context enum']);
  });

  it('§4.4.9 do not call the model for an organization that is suspended or whose balance covers no check', async () => {
    const settings = { model: { ...server.settings, scansWaiting: 1 }, ruleTests: limits, startBalanceMicros: 0 };
    const poor = await runningApi({ settings });
    try {
      const scan_id = await finished('https://shop.example/', poor);
      const refusals = async () => {
        const single = await poor.post(`${RULES}/test`, { scan_id, rule_type, config });
        const several = await poor.post(`${RULES}/test-batch`, { rules: [shop, claims], scan_ids: [scan_id] });
        return [single, several].map(({ status, body }) => `${status} ${body.code}`);
      };
      const asked = server.asked.length;
      assert.deepEqual(await refusals(), Array(2).fill('403 billing.insufficient_funds'));
      await poor.accounts.organizations.change(ORGANIZATIONS.ours, { status: 'suspended' });
      assert.deepEqual(await refusals(), Array(2).fill('403 billing.suspended'));
      assert.equal(server.asked.length, asked);
      const free = await poor.post(`${RULES}/test`, { scan_id, ...shop });
      assert.equal(free.status, 200, 'rules that ask no model cost nothing');
    } finally {
      await poor.stop();
    }
  });

  it('report llm_failed if the model does not answer, refuses or is not configured', async () => {
    const scan = await finished();
    for (const behave of [{ status: 401 }, 'refuses'] as Behaviour[]) {
      server.around.behave = () => behave;
      const { matched, llm_failed } = await test(scan);
      assert.deepEqual([matched, llm_failed], [false, true]);
    }
    const without = await runningApi();
    const scan_id = await finished('https://shop.example/', without);
    const { body } = await without.post(`${RULES}/test`, { scan_id, rule_type, config });
    await without.stop();
    assert.equal(body.llm_failed, true);
  });

  it('are cells of a batch: llm_failed and content_prohibited do not affect other cells', async () => {
    const scans = [
      await finished('https://one.example/'),
      await finished('https://refused.example/'),
      await finished(),
    ];
    server.around.behave = ({ user }) => {
      if (String(user).includes('refused.example')) return 'refuses';
      return String(user).includes('shop.example') ? { status: 403 } : gains;
    };
    const answer = await batch([claims, shop], scans);
    assert.deepEqual(shown(answer), [
      ...['0 true null', '0 false content_prohibited', '0 false llm_failed'],
      ...['1 false null', '1 false null', '1 true null'],
    ]);
    assert.deepEqual(answer.summary, { total: 6, matched: 2, failed: 2, deadline_exceeded: 0 });
  });

  it('report deadline_exceeded if the model is too slow, and the other cells have results', slow, async () => {
    server.around.behave = () => 'hangs';
    limits.batchMs = 6_000;
    const answer = await batch([claims, shop], [await finished()]);
    assert.deepEqual(shown(answer), ['0 false deadline_exceeded', '1 true null']);
    assert.deepEqual(answer.summary, { total: 2, matched: 1, failed: 1, deadline_exceeded: 1 });
  });
});
