import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { importsOf, packageOf, workspaces } from '../read-imports.ts';

test('every form of import is found', () => {
  const text = [
    "import 'a';",
    "import b from 'b';",
    "import * as c from 'c';",
    "import type { D } from 'd';",
    "import e, { type F } from 'e';",
    'import {',
    '  g,',
    '  h,',
    "} from 'g';",
    "export { i } from 'i';",
    "export type * from 'j';",
    "const k = await import('k');",
    "type L = import('l').L;",
  ].join('\n');
  assert.deepEqual(importsOf(text), ['a', 'b', 'c', 'd', 'e', 'g', 'i', 'j', 'k', 'l']);
});

test('text that resembles an import is not counted', () => {
  assert.deepEqual(importsOf("export const from = 'a';\nexport { b };\nconst c = 'import';\n  // import 'd';\n"), []);
});

test('the package of an import is its name without the path inside', () => {
  assert.equal(packageOf('@koa/router/types'), '@koa/router');
  assert.equal(packageOf('typebox/compile'), 'typebox');
  assert.equal(packageOf('node:fs/promises'), 'node:fs');
});

test('the listed workspaces are those of package.json', () => {
  const { workspaces: declared } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  assert.deepEqual([...workspaces].sort(), declared.sort());
});
