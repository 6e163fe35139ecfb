import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COLLECTORS, type CollectorName, NOTE_WORDS, type NoteKind, note } from '@adsweep/shared/capture/notes.ts';
import { detectors } from '../../../src/analysis/detectors/detect.ts';
import { JUDGED_BY, judgementsWithout, missingEvidence } from '../../../src/analysis/evidence/missing-evidence.ts';

/** Judgements that are not detectors. */
const OTHERS = ['rules', 'screenshot'];
/** Detectors that rest on what no collector records: the creative's own facts, and the exit. */
const WITHOUT_COLLECTOR = ['creative_empty', 'exit_mismatch'];

const kinds = Object.keys(NOTE_WORDS) as NoteKind[];
const names = detectors.map(({ name }) => name);
const notesOf = (kind: NoteKind) =>
  kind.startsWith('collector_')
    ? (Object.keys(COLLECTORS) as CollectorName[]).map((collector) => note(kind, { collector }))
    : [null, 0, 1].map((landing) => note(kind, { landing, count: 2 }));

describe('what a capture lacks', () => {
  it('every judgement that rests on evidence is a detector, the rules or the screenshot', () => {
    for (const one of kinds.flatMap(notesOf))
      for (const name of judgementsWithout(one))
        assert.ok([...names, ...OTHERS].includes(name), `${one.kind}: ${name}`);
  });

  it('every detector rests on what some collector records', () => {
    const judged = new Set(Object.values(JUDGED_BY).flat());
    assert.deepEqual(
      names.filter((name) => !judged.has(name)),
      WITHOUT_COLLECTOR,
    );
  });

  it('a note has words without a comma, which separates the items of an error', () => {
    for (const one of kinds.flatMap(notesOf)) {
      const [item = ''] = missingEvidence([one]);
      assert.doesNotMatch(item || NOTE_WORDS[one.kind](one), /,|\.$|undefined|^[A-Z][a-z]/, one.kind);
    }
  });

  it('a missing screenshot or text of the subject is named in the error; what no judgement rests on is not', () => {
    const error = missingEvidence([
      note('picture', { landing: 0 }),
      note('picture', { landing: 1 }),
      note('text', { landing: 0 }),
      note('collector_timed_out', { collector: 'autosound' }),
      note('dialogs', { count: 7 }),
      note('requests_beyond_limit', { count: 3 }),
    ]);
    assert.deepEqual(error, [
      'the screenshot of landing 0 could not be taken: screenshot',
      'the text of landing 0 could not be read: scareware phishing_form malicious_script fake_update paste_to_run 3 more',
      'sound could not be recorded in time: autosound scareware',
    ]);
  });

  it('an error names a limited number of missing parts', () => {
    const many = Array.from({ length: 30 }, (_, landing) => note('text', { landing }));
    const error = missingEvidence(many);
    assert.deepEqual([error.length, error.at(-1)], [11, '20 further parts of the capture']);
  });
});
