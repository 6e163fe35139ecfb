import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = join(import.meta.dirname, '../../decisions');
const records = readdirSync(folder).filter((name) => /^\d{4}-.*\.md$/.test(name));

test('each decision record has a number of its own, its title begins with it, and the index lists it', () => {
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const numbers = records.map((name) => Number(name.slice(0, 4)));
  assert.deepEqual(
    numbers.filter((number, at) => numbers.indexOf(number) !== at),
    [],
  );
  for (const [at, name] of records.entries()) {
    const [, number, title] = /^# (\d+)\. (.+)\n/.exec(readFileSync(join(folder, name), 'utf8')) ?? [];
    assert.equal(Number(number), numbers[at], name);
    assert.ok(index.includes(`${number}. [${title}](${name})`), `${name} is in the index, by its title`);
  }
});
