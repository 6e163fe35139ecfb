import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { runCli } from '../support/run-cli.ts';

const BIN = join(import.meta.dirname, '../../bin/adsweep.js');

test('commands, operations, options and their values are completed', async () => {
  const after = async (...words: string[]) =>
    (await runCli('', 'completion', '--', ...words)).stdout.trim().split('\n');
  assert.deepEqual(await after('sc'), ['scan']);
  assert.deepEqual(await after('runs', 'w'), ['watch']);
  assert.deepEqual(await after('alerts', 'set', 're'), ['resolved']);
  assert.deepEqual(await after('scan', 'https://a.example/', '--fail-on', ''), ['low', 'medium', 'high', 'never']);
  assert.deepEqual(await after('scan', '--dev'), ['--device']);
  assert.deepEqual(await after('api', 'cancelS'), ['cancelScan']);
  assert.deepEqual(await after('api', 'listAlerts', '--pol'), ['--policy_set_id']);
});

const SHELLS = {
  bash: `source <(adsweep completion bash); COMP_WORDS=(adsweep runs wa); COMP_CWORD=2; _adsweep; echo "\${COMPREPLY[@]}"`,
  // compadd works only while zsh completes: here it prints what it would offer.
  zsh: `compdef() { :; }; compadd() { print -- \${@[2,-1]}; }
    source <(adsweep completion zsh); words=(adsweep runs wa); CURRENT=3; _adsweep`,
  fish: 'adsweep completion fish | source; complete -C "adsweep runs wa"',
};

for (const [shell, code] of Object.entries(SHELLS))
  test(`${shell} completes by its script`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'adsweep-completion-'));
    t.after(() => rmSync(folder, { recursive: true }));
    symlinkSync(BIN, join(folder, 'adsweep'));
    const PATH = [folder, join(process.execPath, '..'), process.env.PATH].join(delimiter);
    try {
      const printed = execFileSync(shell, ['-c', code], { env: { PATH, HOME: folder }, encoding: 'utf8' });
      assert.equal(printed.trim(), 'watch');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return t.skip(`there is no ${shell} in PATH`);
      throw error;
    }
  });
