import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { behaviorPages } from '../behavior-pages.ts';
import type { CorpusCase, OpenCorpus } from '../corpus.ts';
import { describeFault, runCases } from '../score.ts';

describe('the corpus of behaviours', () => {
  let corpus: OpenCorpus;
  before(async () => {
    corpus = (await behaviorPages.open()) as OpenCorpus;
  });
  after(() => corpus.close());

  // `npm run corpus` runs all of them, ten times each.
  it('one page of each behaviour gets its expected tags, and one harmless look-alike gets none', async () => {
    const hasTags = ({ expected }: CorpusCase) => expected.length > 0;
    const chosen = [...Map.groupBy(corpus.cases, ({ subject }) => subject).values()].flatMap((cases) => [
      ...cases.filter(hasTags).slice(0, 1),
      ...cases.filter((one) => !hasTags(one)).slice(0, 1),
    ]);
    const outcomes = await runCases(chosen, { times: 1, atOnce: 4 });
    assert.deepEqual(outcomes.map(describeFault).filter(Boolean), []);
  });

  it('every behaviour has a page that shows it and a harmless look-alike', () => {
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
