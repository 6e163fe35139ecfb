import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { corpusData } from '../../../../shared/test/support/corpus-data.ts';
import { AnalysisThreads } from '../../../src/analysis/threads/analysis-threads.ts';
import { evidence, onBodies, onChain, onContent, rule, searchIn } from '../../support/rule-search.ts';

const threads = new AnalysisThreads(2);
after(() => threads.close());
const { search, found } = searchIn(threads);

describe('budgets of rules', () => {
  const heavy = onBodies('(a{1,40}){1,20}$');
  const bodies = Array.from({ length: 20 }, (_, at) => {
    const url = `https://a.example/${at}.js`;
    return { url, resource_type: 'script', content_type: '', bytes: 0, text: `${'a'.repeat(120_000)}b` };
  });
  const data = corpusData('regex/redos-regexlib.json');
  const light = rule('light', onChain('tracker'));

  it('§8.4 the platform’s rules run first, and an organization’s rules are skipped when the budget is spent', async () => {
    const slow = Array.from({ length: 50 }, (_, at) => rule(`slow-${at}`, heavy, 'page', null));
    const [platform, own] = await search(evidence({ bodies }), [[light, ...slow], [light]], 100);
    assert.deepEqual(
      platform!.matches.map(({ rule_id }) => rule_id),
      ['light'],
      'what costs least runs first',
    );
    assert.ok(platform!.finished.includes('light') && platform!.finished.length < 51);
    const nothing = { matches: [], finished: [], unreadable: [], elapsed_ms: own!.elapsed_ms };
    assert.deepEqual(own, { ...nothing, ended: 'run' });
  });

  it('a thread that exceeds its budget is ended, and its matches until then are kept', async () => {
    const monster = rule('monster', onContent(`${'[\\p{L}\\p{N}]{500}'.repeat(15)}[.!?]`));
    const seen = evidence({ text: 'xé'.repeat(300_000) });
    const groups = [[light, monster], [light]].map((group) => JSON.stringify(group));
    const outcomes = await threads.tryRules(seen, groups, 1_000).outcomes;
    assert.deepEqual(
      outcomes.map(({ finished, ended }) => [finished, ended]),
      [
        [['light'], 'killed'],
        [['light'], 'run'],
      ],
    );
    assert.deepEqual((await found({}, light)).length, 1, 'the next job has a thread');
  });

  it('§2.6.9 no attack on backtracking expressions spends the budget', {
    skip: data.skip,
  }, async () => {
    type Attack = { pattern: string; re2Ok: boolean; attacks: { parts?: { s: string; n: number }[] }[] };
    const all = (JSON.parse(readFileSync(data.path, 'utf8')) as Attack[]).filter(({ re2Ok }) => re2Ok);
    const attacked = all.flatMap(({ pattern, attacks }) => {
      const text = attacks[0]?.parts?.map(({ s, n }) => s.repeat(Math.min(n, 20_000 / s.length))).join('');
      return text ? [{ pattern, text: text.slice(0, 20_000) }] : [];
    });
    const sample = attacked.filter((_, at) => at % 4 === 0);
    assert.ok(sample.length > 20, 'the set is there');
    for (const { pattern, text } of sample) {
      const [outcome] = await search(evidence({ text }), [[rule('attacked', onContent(pattern))]], 1_000);
      assert.deepEqual([outcome!.ended, outcome!.finished], ['run', ['attacked']], pattern);
    }
  });
});
