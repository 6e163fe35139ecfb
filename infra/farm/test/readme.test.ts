import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { settingsRows, tableBelow } from '../../../shared/test/support/settings-table.ts';
import { FarmConfigSchema } from '../config.ts';

const root = join(import.meta.dirname, '../../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

test('the README’s settings are those that npm start reads', () => {
  assert.deepEqual(tableBelow(readme, 'Settings of `npm start`'), settingsRows(FarmConfigSchema));
});

test('the folders and files in the README’s steps of a scan exist', () => {
  const steps = tableBelow(readme, 'How a scan travels');
  assert.ok(steps.length >= 10);
  for (const [step, folders = '', files = ''] of steps) {
    const named = [...folders.matchAll(/`([^`]+)`/g)].map(([, folder = '']) => folder);
    for (const folder of named) assert.ok(existsSync(join(root, folder)), `${step}: ${folder}`);
    for (const [, file = ''] of files.matchAll(/`([^`]+)`/g)) {
      const places = [file, ...named.map((folder) => join(folder, file)), join(named[0] ?? '', '..', file)];
      assert.ok(
        places.some((place) => existsSync(join(root, place))),
        `${step}: ${file}`,
      );
    }
  }
});

test('the files behind the README’s links and images exist', () => {
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link);
  assert.ok(links.length >= 8);
  for (const link of links) assert.ok(existsSync(join(root, link)), link);
});

const READMES = globSync('{infra,control-plane,browser-node,proxy-router}/{*.md,*/*.md}', {
  cwd: root,
  exclude: (path) => path.endsWith('node_modules'),
});

test('the files that the READMEs, the contract and the decisions name exist', () => {
  assert.ok(READMES.length >= 40);
  for (const readme of READMES) {
    const text = readFileSync(join(root, readme), 'utf8');
    const folder = join(root, dirname(readme));
    for (const [, path = ''] of text.matchAll(/`([\w-]+(?:\/[\w-]+)+\.(?:ts|mjs|lua|json))`/g)) {
      const places = [root, folder, join(folder, 'src')].map((base) => join(base, path));
      assert.ok(places.some(existsSync), `${readme}: ${path}`);
    }
    // A link that begins with a slash leads to a page of a deployment.
    for (const [, link = ''] of text.matchAll(/\]\((?!https?:|\/docs\/)([^)#]+)[^)]*\)/g))
      assert.ok(existsSync(join(folder, link)), `${readme}: ${link}`);
  }
});

test('the paths in CONTRIBUTING exist', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const paths = [...text.matchAll(/`((?:control-plane|browser-node|proxy-router|shared|infra|loadtest)\/[^`\s*<]+)`/g)];
  assert.ok(paths.length >= 20);
  for (const [, path = ''] of paths) assert.ok(existsSync(join(root, path)), path);
});
