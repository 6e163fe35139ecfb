import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlOf, linesOf, readControl } from '../evasions/control-page.ts';
import { DISGUISES, disguiseOf } from '../evasions/disguises.ts';
import { ROWS } from '../evasions/rows.ts';
import { meets, totalOf } from '../score.ts';

describe('the table of evasions', () => {
  it('each row names a page and its disguise, and no row is there twice', () => {
    for (const [control, disguise] of ROWS) assert.ok(disguiseOf(disguise).make(readControl(control)).html, control);
    assert.equal(new Set(ROWS.map(String)).size, ROWS.length);
  });

  it('each disguise of pages has a row with a deceptive page', () => {
    for (const name of Object.keys(DISGUISES)) {
      const controls = ROWS.filter(([, disguise]) => disguise === name).map(([control]) => readControl(control));
      assert.ok(
        controls.some(({ expected }) => expected.length > 0),
        name,
      );
    }
  });

  it('a control page is read in parts', () => {
    const page = controlOf(
      '<!doctype html>\n<meta name="expected-tags" content="a b">\n<meta name="host" content="h.example">\n<title>T</title>\n<p>One &amp; two</p><ul><li>three</li></ul>\n<script src=x></script>\n<script>\n  y();\n</script>\n',
    );
    assert.deepEqual([page.expected, page.host, page.title, page.scheme], [['a', 'b'], 'h.example', 'T', 'http']);
    assert.equal(page.body, '<p>One &amp; two</p><ul><li>three</li></ul>');
    assert.equal(page.scripts, '<script src=x></script>\n<script>\n  y();\n</script>');
    assert.deepEqual(linesOf(page), ['One & two', 'three']);
  });
});

describe('the score of a corpus that need not find everything', () => {
  const outcome = (name: string, found: string[], expected = ['tag']) => ({ subject: 's', name, expected, found });

  it('is good with nine of ten expected tags, and not with eight', () => {
    const outcomes = (seen: number) =>
      Array.from({ length: 10 }, (_, at) => outcome(`${at}`, at < seen ? ['tag'] : []));
    assert.equal(meets(totalOf(outcomes(9)), 0.9), true);
    assert.equal(meets(totalOf(outcomes(8)), 0.9), false);
    assert.equal(meets(totalOf(outcomes(9))), false);
  });

  it('is not good with an unexpected tag', () => {
    assert.equal(meets(totalOf([outcome('a', ['tag']), outcome('b', ['tag'], [])]), 0.9), false);
  });
});
