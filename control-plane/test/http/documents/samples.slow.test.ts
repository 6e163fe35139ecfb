import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { listen } from '@adsweep/shared/service/listen.ts';
import { nodeApp } from '../../../src/compose/create-app.ts';
import { startLoops } from '../../../src/compose/roles.ts';
import { PERMISSIONS } from '../../../src/http/caller.ts';
import { NODE_TOKEN } from '../../support/open-plane.ts';
import { type RunningApi, runningApi } from '../../support/running-api.ts';
import { workOff } from '../../support/work-off.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const FOLDER = join(ROOT, 'infra/docs');
const names: string[] = Object.values(JSON.parse(readFileSync(join(FOLDER, 'contents.json'), 'utf8')) as object).flat();

type Block = { language: string; file: string | undefined; text: string };

/** The code blocks of a document in their order: language, and the name of the file that it stands for. */
const blocksOf = (name: string): Block[] =>
  [...readFileSync(join(FOLDER, `${name}.md`), 'utf8').matchAll(/^```(\S+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', file, text = '']) => ({ language, file, text }),
  );

/** What a sample may begin with that is typed on one's own machine and not run here. */
const TYPED =
  /^(export ADSWEEP_\w+=|npm start$|npm install (--global )?@adsweep\/client$|git pull$|(ADSWEEP_NODES=8 )?docker compose |cd infra\/compose$)/;

describe('the samples in the documents', () => {
  let api: RunningApi;
  let key: string;
  let folder: string;
  const stops: (() => Promise<unknown>)[] = [];
  before(async () => {
    api = await runningApi();
    key = await api.keyThatMay(...PERMISSIONS);
    const forNodes = await listen('127.0.0.1', 0, 'ADSWEEP_NODE_API_PORT');
    forNodes.serve(nodeApp({ ...api, readyChecks: [], metricsToken: NODE_TOKEN }).callback());
    const loops = await startLoops(api.domains, ['checks', 'relay', 'refill', 'dispatcher', 'scheduler']);
    const node = workOff(`http://127.0.0.1:${forNodes.port}`, NODE_TOKEN);
    stops.push(
      node,
      async () => Promise.all(loops.map((loop) => loop.stop())),
      () => forNodes.close(0),
    );
    folder = mkdtempSync(join(tmpdir(), 'adsweep-samples-'));
    const cli = `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/shared/client/bin/adsweep.js' "$@"\n`;
    writeFileSync(join(folder, 'adsweep'), cli);
    chmodSync(join(folder, 'adsweep'), 0o755);
  });
  after(async () => {
    for (const stop of stops) await stop();
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  /** Runs the shell samples of a document one after the other in one shell, with the files that it shows. */
  const run = async (name: string): Promise<string> => {
    const blocks = blocksOf(name);
    const client = `file://${ROOT}/shared/client/src/client.ts`;
    for (const { file, text, language } of blocks)
      if (file && language === 'js') writeFileSync(join(folder, file), text.replaceAll('@adsweep/client', client));
    const samples = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    const script = ['set -euo pipefail', "trap 'kill $(jobs -p) 2>/dev/null || :' EXIT", ...samples].join('\n');
    const env = {
      ...{ PATH: `${folder}:${join(process.execPath, '..')}:${process.env.PATH}`, HOME: folder },
      ...{ ADSWEEP_URL: `http://127.0.0.1:${api.port}`, ADSWEEP_API_KEY: key, ADSWEEP_METRICS_TOKEN: 'metrics-token' },
    };
    return new Promise((resolve, reject) => {
      execFile('bash', ['-c', script], { cwd: folder, env, timeout: 60_000 }, (error, stdout, stderr) =>
        error ? reject(new Error(`${name}: ${error.message}\n${stdout}\n${stderr}`)) : resolve(stdout),
      );
    });
  };

  const hasTools = ['curl', 'jq'].every((tool) => {
    try {
      return execFileSync('sh', ['-c', `command -v ${tool}`]).length > 0;
    } catch {
      return false;
    }
  });

  /** What each document with shell samples prints, at the least. */
  const PRINTED: Record<string, RegExp> = {
    'quickstart-api': /event: state[\s\S]*"status": "completed"[\s\S]*\ncompleted https:\/\/adsweep\.example\/r\//,
    'quickstart-webhooks':
      /"success": true[\s\S]*scanning\.tags\.detected [\s\S]*scanning\.scan\.completed [\s\S]*"event_type": "scanning\.scan\.completed"[\s\S]*"replayed"[\s\S]*true\n$/,
    'quickstart-fleet':
      /slots busy, 1 node,[\s\S]*"status":\s*"ready"[\s\S]*drain node-1: done[\s\S]*"checks_per_month": 10000/,
    'quickstart-capacity': /adsweep_desired_nodes[\s\S]*"desired_nodes"[\s\S]*"checks": \{\s*"min": 6/,
    'guide-campaigns': /"total": 1,\s*"completed": 1[\s\S]*"Team"[\s\S]*\n0\n$/,
    'guide-ci': /^https:\/\/adsweep\.example\/r\//,
    'guide-proxies': /"country_code": "US"/,
    'guide-upgrades': /"status":\s*"ready"[\s\S]*slots busy/,
  };

  for (const [name, printed] of Object.entries(PRINTED))
    test(`of ${name} do what it says`, { skip: !hasTools && 'needs curl and jq' }, async () => {
      assert.match(await run(name), printed);
    });

  test('are all run, or are of a kind that is checked otherwise', () => {
    for (const name of names)
      for (const { language, file, text } of blocksOf(name)) {
        if (language === 'sh') assert.ok(name in PRINTED, `${name} is not run`);
        else if (language === 'console')
          for (const line of text.trim().split('\n')) assert.match(line, TYPED, `${name}: ${line}`);
        else if (language === 'json') JSON.parse(text);
        else if (language === 'yaml')
          assert.equal(text, readFileSync(join(ROOT, 'shared/client/examples', file!), 'utf8'), `${name}: ${file}`);
        else assert.ok(language === 'js' && file, `${name}: ${language}`);
      }
  });
});
