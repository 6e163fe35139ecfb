import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { citationProblems, coverageReport, readCitations, readCoverage, readRules } from '../spec-coverage.ts';

const contract = [
  '## §4 Operations',
  '',
  '- §4.1 A rule',
  '  on two lines.',
  '- §4.2 Another one. *later*',
  'prose',
].join('\n');

test('rules are read with their numbers, and those marked as later are recognized', () => {
  assert.deepEqual(readRules(contract), [
    { id: '4', text: 'Operations', later: false },
    { id: '4.1', text: 'A rule on two lines.', later: false },
    { id: '4.2', text: 'Another one.', later: true },
  ]);
});

test('a test cites the rules whose numbers its name begins with', () => {
  const source =
    "test('§4.1 §4.2 it holds', run);\n  it(\n    '§4.1 it holds again', run);\ntest('no rule, § or 4.1', run);";
  assert.deepEqual(readCitations('a.test.ts', source), [
    { id: '4.1', file: 'a.test.ts', name: 'it holds' },
    { id: '4.2', file: 'a.test.ts', name: 'it holds' },
    { id: '4.1', file: 'a.test.ts', name: 'it holds again' },
  ]);
});

test('a citation of a missing rule and a duplicate rule number are problems', () => {
  const rules = readRules(`${contract}\n- §4.1 Once more.`);
  const citations = [{ id: '9.9', file: 'a.test.ts', name: 'it holds' }];
  assert.deepEqual(citationProblems(rules, citations), [
    'CONTRACT.md has §4.1 twice',
    'a.test.ts: "it holds" cites §9.9, which CONTRACT.md does not have',
  ]);
});

test('the report shows each rule with its tests and counts the tested ones', () => {
  const report = coverageReport(readRules(contract), [{ id: '4.1', file: 'a.test.ts', name: 'it holds' }]);
  assert.match(report, /✔ §4\.1 A rule on two lines\.\n {6}a\.test\.ts: it holds/);
  assert.match(report, /1 of 1 rules that are served have a test; 1 are not served yet\./);
  assert.match(report, /… §4\.2 Another one\./);
  assert.match(report, /✔ §4 Operations/, 'a section without a gap');
  assert.match(coverageReport(readRules(contract), []), /✘ §4 Operations\n✘ §4\.1/);
});

test('all rules cited by the tests of this repository exist in its contract', () => {
  const { rules, citations } = readCoverage(join(import.meta.dirname, '../../..'));
  assert.deepEqual(citationProblems(rules, citations), []);
  assert.ok(citations.length > 0);
});
