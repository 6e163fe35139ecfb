import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { answer, scriptedServer } from '../support/scripted-server.ts';
import { simulatedApi } from '../support/simulated-api.ts';

const BIN = join(import.meta.dirname, '../../bin/adsweep.js');
const IN_TERMINAL = join(import.meta.dirname, '../support/in-terminal.py');
const COLUMNS = 60;

/** Runs the command line in a pseudo-terminal and types the answers of the dialog; null: there is no python3. */
async function inTerminal(t: TestContext, url: string, dialog: string[], args: string[], columns = COLUMNS) {
  const home = mkdtempSync(join(tmpdir(), 'adsweep-terminal-'));
  t.after(() => rmSync(home, { recursive: true }));
  const { PATH } = process.env;
  const words = [IN_TERMINAL, String(columns), ...dialog, '--', process.execPath, BIN, ...args];
  const child = spawn('python3', words, { env: { PATH, HOME: home, ADSWEEP_URL: url, TERM: 'xterm-256color' } });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    shown += text;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  return code === null ? null : { code, shown, home };
}

const SKIPPED = 'there is no python3, which makes the pseudo-terminal';

test('in a terminal, a key is asked for unseen, progress is shown and a table fits', async (t) => {
  const tags = [{ tag_slug: 'autosound_of_a_page_that_makes_a_lot_of_noise', severity: 'medium' }];
  const { url, requests } = await simulatedApi(t, { tags });
  const scan = ['scan', 'https://shop.example/', '-c', 'US', '-d', 'iphone_16', '--wait'];
  const run = await inTerminal(t, url, ['API key', 'typed-secret'], scan);
  if (!run) return t.skip(SKIPPED);
  assert.equal(run.code, 3, run.shown);
  assert.doesNotMatch(run.shown, /typed-secret/);
  assert.ok(requests.every(({ headers }) => headers.authorization === 'Bearer typed-secret'));
  assert.match(run.shown, /completed \.\.\./);
  const [, result = ''] = run.shown.split('completed ...\r\u001b[2K');
  const lines = stripVTControlCharacters(result).split('\r\n');
  assert.match(lines[0]!, /^severity/);
  for (const line of lines.filter((one) => !one.startsWith('https://'))) assert.ok(line.length <= COLUMNS, line);
  assert.ok(result.includes('\u001b[33mmedium'));
});

test('login keeps the key that was typed, after the API has taken it', async (t) => {
  const { url } = await simulatedApi(t);
  const run = await inTerminal(t, url, ['URL (', '', 'API key', 'typed-secret'], ['login']);
  if (!run) return t.skip(SKIPPED);
  assert.equal(run.code, 0, run.shown);
  assert.doesNotMatch(run.shown, /typed-secret/);
  const kept = JSON.parse(readFileSync(join(run.home, '.config/adsweep/credentials.json'), 'utf8'));
  assert.deepEqual(kept, { url, key: 'typed-secret' });
});

test('in a terminal of an unknown size, such as that of a container, a table has as much room as in one of 80 columns', async (t) => {
  const { url } = await simulatedApi(t, { tags: [{ tag_slug: 'autosound', severity: 'medium' }] });
  const scan = ['scan', 'https://shop.example/', '-c', 'US', '-d', 'iphone_16', '--wait'];
  const run = await inTerminal(t, url, ['API key', 'typed-secret'], scan, 0);
  if (!run) return t.skip(SKIPPED);
  assert.match(stripVTControlCharacters(run.shown), /severity +tag +finding +where\s+medium +autosound/);
});

test('in a terminal, an error has a line of its own, whatever progress was shown before', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-terminal-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'list.txt'), 'https://shop.example/\n');
  const { url } = await scriptedServer(t, [answer(401, { detail: 'No valid key.', code: 'unauthorized' })]);
  const bulk = ['bulk', join(folder, 'list.txt'), '-c', 'US', '-d', 'iphone_16'];
  const run = await inTerminal(t, url, ['API key', 'typed-secret'], bulk);
  if (!run) return t.skip(SKIPPED);
  assert.ok(run.shown.includes('lines sent\r\u001b[2Kadsweep: createScansInBulk 401'), run.shown);
});
