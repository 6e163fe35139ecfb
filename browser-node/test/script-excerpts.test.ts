import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inlineScriptExcerpts, scriptExcerpts } from '../src/capture/collectors/script-excerpts.ts';

const SPACE = ' '.repeat(100_000);
const MARKED = "fetch(atob('aHR0cHM6Ly94'))";

describe('the excerpts of a script', () => {
  it('are its parts around markers, and nothing for most scripts', () => {
    assert.equal(scriptExcerpts(`${SPACE}harmless()${SPACE}`), '');
    const excerpts = scriptExcerpts(`first()${SPACE}${MARKED}${SPACE}last()`);
    assert.ok(excerpts.includes(MARKED) && excerpts.length < 25_000);
    assert.ok(!/first|last/.test(excerpts));
    assert.equal(scriptExcerpts(`a()\n${MARKED}\nb()`), `a()\n${MARKED}\nb()`);
  });

  it('have the last place of a marker that is repeated, and a bounded length', () => {
    const excerpts = scriptExcerpts(`${`writeText;${SPACE}`.repeat(15)}writeText('the last')`);
    assert.match(excerpts, /the last/);
    assert.ok(scriptExcerpts(`${MARKED} eth_call execCommand ${SPACE}`.repeat(10)).length <= 65_536);
  });
});

describe('the excerpts of a document', () => {
  it('are its script elements with markers', () => {
    const html = `<p>${MARKED}</p><script>harmless()</script><SCRIPT type='module' async>\n${MARKED}</Script ><script>1</script>`;
    assert.equal(inlineScriptExcerpts(html), `<script type="module" async>\n${MARKED}</script>`);
    assert.equal(inlineScriptExcerpts(`<p>${MARKED}</p><script>harmless()</script>`), '');
  });

  it('are read of hostile documents, too', () => {
    assert.equal(inlineScriptExcerpts(`${'<script '.repeat(200_000)}writeText`), '');
    assert.equal(inlineScriptExcerpts(`${'<script>'.repeat(200_000)}writeText`), '');
    assert.equal(inlineScriptExcerpts(`writeText${'<script></script>'.repeat(100_000)}`), '');
  });
});
