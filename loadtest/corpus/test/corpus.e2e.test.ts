import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { behaviorPages } from '../behavior-pages.ts';
import type { CorpusCase, OpenCorpus } from '../corpus.ts';
import { evasions } from '../evasions/evasions.ts';
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
    const outcomes = await runCases(chosen, { times: 1, atOnce: 2 });
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

/** Rows of the table of evasions, as `<disguise>/<control page>`, one for each way to read a page. */
const SAMPLE = [
  'closed_shadow_root/phishing-form/brand-on-foreign-site',
  'closed_shadow_root/fake-system-dialog/system-warning',
  'css_content/paste-to-run/verification',
  'letters_as_flex_items/scareware/tech-support',
  'look_alike_letters/fake-update/browser-with-program',
  'padding_below/scareware/tech-support',
  'hidden_warnings_transparent/scareware/tech-support',
  'frame_in_a_closed_shadow_root/scareware/tech-support',
  'as_written/evasions/skimmer-above-the-size-limit',
  'as_written/evasions/skimmer-removed-by-itself',
  'closed_shadow_root/fake-update/innocent-help-page',
  'one_element_a_letter/scareware/innocent-article',
];

describe('the corpus of evasions', () => {
  let corpus: OpenCorpus;
  before(async () => {
    corpus = (await evasions.open()) as OpenCorpus;
  });
  after(() => corpus.close());

  // `npm run corpus` scores the whole table.
  it('the tags of disguised pages are found, and none on harmless pages in the same disguises', async () => {
    const chosen = corpus.cases.filter(({ subject, name }) => SAMPLE.includes(`${subject}/${name}`));
    assert.equal(chosen.length, SAMPLE.length);
    const outcomes = await runCases(chosen, { times: 1, atOnce: 2 });
    assert.deepEqual(outcomes.map(describeFault).filter(Boolean), []);
  });
});
