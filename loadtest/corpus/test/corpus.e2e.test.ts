import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { behaviorPages } from '../behavior-pages.ts';
import type { OpenCorpus } from '../corpus.ts';
import { describeFault, runCases } from '../score.ts';

describe('the corpus of behaviours', () => {
  let corpus: OpenCorpus;
  before(async () => {
    corpus = (await behaviorPages.open()) as OpenCorpus;
  });
  after(() => corpus.close());

  it('is found whole, and its innocent look-alikes have no tag', async () => {
    const outcomes = await runCases(corpus.cases, { times: 1, atOnce: 4 });
    assert.deepEqual(outcomes.map(describeFault).filter(Boolean), []);
  });

  it('has what shows each behaviour, and what only looks like it', () => {
    for (const [subject, cases] of Map.groupBy(corpus.cases, (one) => one.subject)) {
      assert.ok(
        cases.some(({ expected }) => expected.includes(subject)),
        subject,
      );
      assert.ok(
        cases.some(({ expected }) => expected.length === 0),
        subject,
      );
    }
  });
});
