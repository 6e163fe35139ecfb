import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { finishCrawled } from '../../../src/analysis/pipeline/worker.ts';
import { ruleIssues } from '../../../src/analysis/rules/check-rule.ts';
import { type ConfigOf, RULE_TYPE_NAMES, type RuleRecord, type RuleType } from '../../../src/analysis/rules/rule.ts';
import { expressionProblem } from '../../../src/analysis/rules/search/expression.ts';
import type { StoredPart } from '../../../src/crawling/captures/body-store.ts';
import type { ReadContents } from '../../../src/crawling/captures/capture-record.ts';
import { addRule, LOUD, slugsOf } from '../../support/checked-scans.ts';
import { type ModelServer, modelServer, USUAL } from '../../support/model-server.ts';
import { captureOf, gzJson, type RunningFarm, requestOf, runningFarm } from '../../support/running-farm.ts';

/** What a scan captured; everything else is empty. */
type Seen = { chain?: string[]; requests?: Partial<NetworkRequest>[]; text?: string; body?: string; isLoud?: boolean };

/** For each type a rule, evidence that it matches, and evidence that it does not. */
const CASES: { [T in RuleType]: { config: ConfigOf<T>; matches: Seen; misses: Seen } } = {
  stopword_content: {
    config: { contains: ['lottery', 'casino'] },
    matches: { text: 'The best CASINO bonus' },
    misses: { text: 'A lamp', chain: ['https://casino.example/'] },
  },
  stopword_url: {
    config: { contains: ['casino'] },
    matches: { chain: ['https://casino.example/'] },
    misses: { text: 'casino', requests: [{ url: 'https://casino.example/a.js' }] },
  },
  regexp_content: {
    config: { pattern: 'win \\d+ coins' },
    matches: { text: 'You win 500 coins' },
    misses: { text: 'You win coins', body: 'win 500 coins' },
  },
  regexp_url: {
    config: { pattern: '/offer-\\d+$' },
    matches: { chain: ['https://go.example/offer-7', 'https://shop.example/'] },
    misses: { chain: ['https://go.example/offer-x'], requests: [{ url: 'https://go.example/offer-7' }] },
  },
  regexp_request_url: {
    config: { pattern: 'KIT-[a-f]+\\.js', flags: 'i' },
    matches: { requests: [{ url: 'https://cdn.example/kit-abc.js' }] },
    misses: { requests: [{ url: 'https://cdn.example/kit-xyz.js' }], body: 'kit-abc.js' },
  },
  regexp_request_body: {
    config: { pattern: 'eval\\(atob' },
    matches: { body: 'var x = eval(atob("eA=="))' },
    misses: { body: 'var x = 1', text: 'eval(atob' },
  },
  blacklist_domain: {
    config: { domains: ['tracker.example'] },
    matches: { chain: ['https://t.tracker.example/c', 'https://shop.example/'] },
    misses: { chain: ['https://nottracker.example/'], text: 'tracker.example' },
  },
  combo: { config: { all_of: ['autosound'] }, matches: { isLoud: true }, misses: {} },
  llm: {
    config: { prompt: 'Does it promise gains?', tags: { llm: 'It promises gains.' } },
    matches: { text: 'Gains for everybody' },
    misses: { text: 'A lamp' },
  },
};

let [server, farm] = [null as unknown as ModelServer, null as unknown as RunningFarm];
before(async () => {
  server = await modelServer();
  server.around.behave = ({ schema, user }) => {
    if (schema.name !== 'rule') return { answers: USUAL };
    return { answers: { tags: String(user).includes('Gains') ? [{ slug: 'llm', reason: 'It says so.' }] : [] } };
  };
  farm = await runningFarm({ model: { ...server.settings, scansWaiting: 64 } });
});
after(async () => {
  await farm.stop();
  await server.stop();
});

/** The status of a scan that saw this, and its tags, after its organization's only rule of a type was run. */
async function judged(type: RuleType, seen: Seen): Promise<[status: string, tags: string[]]> {
  const scan = await farm.submit();
  const rule = { rule_type: type, config: CASES[type].config } as Pick<RuleRecord, 'rule_type' | 'config'>;
  await addRule(farm, scan, type, rule);
  const { chain = ['https://shop.example/'], requests = [], isLoud = false } = seen;
  const capture = captureOf(chain, {
    requests: requests.map((request, id) => requestOf(id, request)),
    observations: isLoud ? [LOUD] : [],
  });
  await farm.node.complete(await farm.acquireOne(), capture);
  const { dependencies } = farm.farm;
  assert.equal(await finishCrawled({ ...dependencies, bodies: contentsOf(seen, dependencies.bodies) }, new Date()), 1);
  const finished = await farm.read(scan._id);
  return [finished.status, slugsOf(finished).filter((slug) => slug !== 'autosound')];
}

/** The stored contents of what was seen. */
function contentsOf({ text = '', body = '' }: Seen, { packed, unpackedBytesMax }: ReadContents): ReadContents {
  const url = 'https://shop.example/';
  const own: Partial<Record<StoredPart, Buffer>> = {
    documents: gzJson([{ landing: 0, frame: '', url, title: 'A page', text, html: '' }]),
    bodies: gzJson([{ url: `${url}a.js`, resource_type: 'script', content_type: '', bytes: body.length, text: body }]),
  };
  return { unpackedBytesMax, packed: async (ref, parts) => ({ ...(await packed(ref, parts)), ...own }) };
}

describe('§2.6 each type of rule', () => {
  for (const type of RULE_TYPE_NAMES) {
    const { config, matches, misses } = CASES[type];

    it(`${type}: accepts its configuration`, async () => {
      const tags = await farm.tags.visibleTo(null);
      const parts = { tags, problemsOf: async (patterns: string[]) => patterns.map(expressionProblem) };
      assert.deepEqual(await ruleIssues({ rule_type: type, config, target: 'page' }, parts), []);
    });

    it(`${type}: assigns its tag to a scan with matching evidence, and to no other`, async () => {
      assert.deepEqual(await judged(type, matches), ['completed', [type]]);
      assert.deepEqual(await judged(type, misses), ['completed', []]);
    });
  }
});
