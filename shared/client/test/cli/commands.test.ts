import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readConfig, saveConfig } from '../../src/cli/config.ts';
import { verifyWebhook } from '../../src/client.ts';
import { runCli, SECRET } from '../support/run-cli.ts';
import { answer, closed, hangUp, scriptedServer } from '../support/scripted-server.ts';
import { simulatedApi } from '../support/simulated-api.ts';

const SCAN = ['scan', 'https://shop.example/', '--country', 'US', '--device', 'iphone_16', '--wait'];
const MEDIUM = [{ tag_slug: 'autosound', severity: 'medium' }];

test('the exit code of a scan is its verdict', async (t) => {
  const clean = await simulatedApi(t);
  const found = await simulatedApi(t, { tags: MEDIUM });
  const failed = await simulatedApi(t, { status: 'failed' });
  const partial = await simulatedApi(t, { status: 'partial' });
  const codeOf = async (url: string, ...options: string[]) => (await runCli(url, ...SCAN, ...options)).code;
  assert.equal(await codeOf(clean.url), 0);
  assert.equal(await codeOf(found.url), 3);
  assert.equal(await codeOf(found.url, '--fail-on', 'medium'), 3);
  assert.equal(await codeOf(found.url, '--fail-on', 'high'), 0);
  assert.equal(await codeOf(found.url, '--fail-on', 'never'), 0);
  assert.equal(await codeOf(failed.url), 4);
  assert.equal(await codeOf(failed.url, '--fail-on', 'never'), 4);
  assert.equal(await codeOf(partial.url), 4);
});

test('with --json, stdout is one JSON value of a fixed shape, and stderr is empty', async (t) => {
  const { url } = await simulatedApi(t, { tags: MEDIUM });
  const json = async (...args: string[]) => {
    const { stdout, stderr } = await runCli(url, ...args, '--json');
    assert.equal(stderr, '');
    return JSON.parse(stdout);
  };
  const waited = await json(...SCAN);
  assert.deepEqual(Object.keys(waited), ['verdict', 'scans']);
  assert.equal(waited.verdict, 'findings');
  assert.deepEqual([waited.scans[0].scan.id, waited.scans[0].tags[0].tag_slug], ['scan-1', 'autosound']);
  const created = await json(...SCAN.slice(0, -1));
  assert.deepEqual([created.verdict, created.scans[0].scan.status, created.scans[0].tags], [null, 'pending', []]);
  assert.deepEqual((await json('alerts'))[0].id, 'alert-1');
  assert.equal((await json('api', 'getAccount')).name, 'Acme');
});

test('with --json, an error is one JSON value on stderr, and stdout is empty', async (t) => {
  const { url } = await simulatedApi(t);
  const refused = await runCli(url, 'api', 'getScan', 'other', '--json');
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.deepEqual(JSON.parse(refused.stderr).error, {
    ...{ message: 'getScan 404 not_found Not found.', status: 404, code: 'not_found', items: [] },
  });
  const wrong = await runCli(url, 'scan', '--json');
  assert.equal(wrong.code, 2);
  assert.match(JSON.parse(wrong.stderr).error.message, /is missing$/);
});

test('a page without its scheme is taken for a file, and the error says how a URL begins', async (t) => {
  const { url, requests } = await simulatedApi(t);
  const { code, stderr } = await runCli(url, 'scan', 'shop.example', '--country', 'US', '--device', 'iphone_16');
  assert.equal(code, 2);
  assert.match(stderr, /cannot read shop\.example: ENOENT.*; a URL begins with https:\/\/ or http:\/\//);
  assert.equal(requests.length, 0);
});

test('a list is scanned line by line, and a refused line is reported by its number', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-cli-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'list.txt'), '# pages\nhttps://shop.example/\n\nhttp://localhost/\n');
  const { url } = await scriptedServer(t, [
    (response, request) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const isRefused = body.includes('localhost');
        const item = { loc: ['body', 'url'], msg: 'Must be public.', type: 'x', ctx: {} };
        response.writeHead(isRefused ? 422 : 201, { 'content-type': 'application/json' });
        response.end(JSON.stringify(isRefused ? { detail: [item], code: 'validation_error' } : [{ id: 'scan-1' }]));
      });
    },
  ]);
  const args = ['bulk', join(folder, 'list.txt'), '--country', 'US,DE', '--device', 'iphone_16', '--json'];
  const { code, stdout } = await runCli(url, ...args);
  const { verdict, scans, problems } = JSON.parse(stdout);
  assert.deepEqual([code, verdict, scans.length], [4, null, 1]);
  assert.deepEqual(
    [problems[0].line, problems[0].target, problems[0].code],
    [4, 'http://localhost/', 'validation_error'],
  );
});

test('the scans of a list that cannot be sent to its end are printed, with exit code 1', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-cli-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'list.txt'), 'https://a.example/\nhttps://b.example/\nhttps://c.example/\n');
  const created = answer(201, [{ id: 'scan-1', status: 'pending', country_code: 'US', url: 'https://a.example/' }]);
  const spent = answer(403, { detail: 'The quota is spent.', code: 'billing.quota_exhausted' });
  const args = ['bulk', join(folder, 'list.txt'), '--country', 'US', '--device', 'iphone_16'];
  const machine = await runCli((await scriptedServer(t, [created, spent])).url, ...args, '--json', '--wait');
  const { verdict, scans } = JSON.parse(machine.stdout);
  assert.deepEqual([machine.code, verdict, scans[0].scan.id], [1, null, 'scan-1']);
  assert.equal(JSON.parse(machine.stderr).error.code, 'billing.quota_exhausted');
  const person = await runCli((await scriptedServer(t, [created, spent])).url, ...args);
  assert.equal(person.code, 1);
  assert.match(person.stdout, /scan-1/);
  assert.match(person.stderr, /^1 of 3 lines accepted\nadsweep: .*quota_exhausted/);
});

test('a dry run of a list says what all lines together would cost, and judges nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-cli-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'list.txt'), 'https://a.example/\nhttps://b.example/\n');
  const estimate = (scans: number, routable: boolean | null) => ({
    ...{ dry_run: true, scans, checks: { min: scans, max: scans }, warnings: ['slow'] },
    ...{ cost_micros: { min: scans * 10_000, max: scans * 20_000 }, routable },
  });
  const turns = [answer(200, estimate(2, true)), answer(200, estimate(3, null))];
  const args = ['bulk', join(folder, 'list.txt'), '-c', 'US', '-d', 'iphone_16', '--dry-run', '--wait'];
  const { code, stdout } = await runCli((await scriptedServer(t, turns)).url, ...args, '--json');
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), {
    ...{ verdict: null, scans: [], problems: [] },
    estimate: {
      ...{ dry_run: true, scans: 5, checks: { min: 5, max: 5 }, cost_micros: { min: 50_000, max: 100_000 } },
      ...{ routable: null, warnings: ['slow'] },
    },
  });
  const person = await runCli((await scriptedServer(t, turns)).url, ...args);
  assert.equal(person.stdout, 'scans: 5, price: 0.05 to 0.1\nslow\n');
});

test('alerts that have a status already are no problem when it is set; those that cannot get it are named', async (t) => {
  const bulk = answer(200, { updated: 1, skipped: 2, remaining: 0 });
  const none = (response: Parameters<typeof bulk>[0]) => void response.writeHead(204).end();
  const refused = answer(422, { detail: [], code: 'alerts.transition_not_allowed' });
  const changed = await runCli((await scriptedServer(t, [bulk, none])).url, 'alerts', 'set', 'resolved', 'a', 'b', 'c');
  assert.deepEqual([changed.code, changed.stdout, changed.stderr], [0, '1 changed, 2 skipped\n', '']);
  const { url, requests } = await scriptedServer(t, [bulk, none, refused, none]);
  const some = await runCli(url, 'alerts', 'set', 'resolved', 'a', 'b', 'c', 'b', '--json');
  assert.deepEqual([some.code, JSON.parse(some.stdout).skipped], [1, 2]);
  assert.match(some.stderr, /^b: updateAlertStatus 422 alerts\.transition_not_allowed\s*$/);
  assert.equal(requests.length, 4);
});

test('the command gives each address of a server two seconds, as the services do', async () => {
  const program = fileURLToPath(new URL('../../bin/adsweep.js', import.meta.url));
  const shown =
    'import net from "node:net"; process.on("exit", () => console.log(net.getDefaultAutoSelectFamilyAttemptTimeout()))';
  const child = spawn(process.execPath, ['--import', `data:text/javascript,${shown}`, program, '--version']);
  const [said] = await Promise.all([child.stdout.toArray(), once(child, 'close')]);
  assert.match(Buffer.concat(said).toString(), /^2000$/m);
});

test('a scan that cannot be waited for is printed, with exit code 1', async (t) => {
  const created = answer(201, {
    id: 'scan-1',
    status: 'pending',
    public_report_url: 'https://adsweep.example/r/token',
  });
  const refused = answer(401, { detail: 'The key has ended.', code: 'unauthorized' });
  const { url } = await scriptedServer(t, [created, refused]);
  const { code, stdout, stderr } = await runCli(url, ...SCAN);
  assert.equal(code, 1);
  assert.match(stdout, /scan-1\nhttps:\/\/adsweep\.example\/r\/token\n$/);
  assert.match(stderr, /unauthorized/);
});

test('a command that is ended by Ctrl-C while it waits prints the scans that go on', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-cli-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'list.txt'), 'https://shop.example/\n');
  const program = fileURLToPath(new URL('../../bin/adsweep.js', import.meta.url));
  for (const args of [SCAN, ['bulk', join(folder, 'list.txt'), ...SCAN.slice(2)]]) {
    const { url, requests } = await simulatedApi(t, { status: 'running' });
    const env = { PATH: process.env.PATH, ADSWEEP_URL: url, ADSWEEP_API_KEY: 'key' };
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const said = child.stdout.toArray();
    while (!requests.some(({ method, url }) => method === 'GET' && url!.endsWith('/scans/scan-1'))) await sleep(20);
    child.kill('SIGINT');
    const [, signal] = await once(child, 'close');
    assert.equal(signal, 'SIGINT');
    assert.match(Buffer.concat(await said).toString(), /scan-1/, args[0]);
  }
});

test('a run whose scans are analysed again is judged by their new tags', async (t) => {
  const pageOf = (items: unknown[], total = items.length) => ({ items, total, page: 1, limit: 200, pages: 1 });
  const scan = {
    ...{ id: 'scan-1', status: 'completed', country_code: 'US', emulator_display_name: 'A device' },
    ...{ url: 'https://shop.example/', is_vast: false, public_report_url: 'https://adsweep.example/r/token' },
  };
  let isOver = false;
  const { url } = await scriptedServer(t, [
    (response, request) => {
      const { pathname, searchParams } = new URL(request.url!, 'http://api.example');
      const isTagged = isOver && searchParams.has('tag');
      const answers: Record<string, unknown> = {
        '/api/v1/runs/run-1': { total: 1, completed: 1, failed: 0, partial: 0, cancelled: 0 },
        '/api/v1/tag-definitions': MEDIUM.map(({ tag_slug: slug, severity }) => ({ slug, severity })),
        '/api/v1/scans': searchParams.has('status') ? pageOf([], isOver ? 0 : 1) : pageOf(isTagged ? [scan] : []),
      };
      if (searchParams.has('status')) isOver = true;
      answer(200, answers[pathname])(response, request);
    },
  ]);
  assert.equal((await runCli(url, 'runs', 'watch', 'run-1')).code, 3);
});

test('a reader that ends early, such as head, ends the command without an error message', async () => {
  const program = fileURLToPath(new URL('../../bin/adsweep.js', import.meta.url));
  const child = spawn(process.execPath, [program, 'completion', 'bash'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const said = child.stderr.toArray();
  const [code] = await once(child, 'close');
  assert.deepEqual([code, Buffer.concat(await said).toString()], [141, '']);
});

test('the help of an operation lists its query parameters', async (t) => {
  const { url } = await simulatedApi(t);
  const { code, stdout } = await runCli(url, 'api', 'listScans', '--help');
  assert.equal(code, 0);
  assert.match(stdout, /--date_from <value>/);
});

test('new events are forwarded to a receiver, signed, and each once, whatever the clock of this machine says', async (t) => {
  const [before, first, second] = [0, 1, 2].map((id) => ({
    ...{
      id: String(id),
      type: 'scanning.scan.completed',
      timestamp: new Date(Date.UTC(2020, 1, 1) + id).toISOString(),
    },
    ...{ data: { scan_id: `scan-${id}` }, deliveries: [] },
  }));
  const page = (...items: unknown[]) => answer(200, { items, total: 0, page: 1, limit: 200, pages: 1 });
  const [old, more] = [page(before), page(first, before)];
  const api = await scriptedServer(t, [old, old, old, more, page(second, first, before)]);
  const received: string[] = [];
  const receiver = await scriptedServer(t, [
    async (response, request) => {
      const body = Buffer.concat(await request.toArray()).toString();
      const event = await verifyWebhook(SECRET, request.headers, body);
      assert.deepEqual(Object.keys(event), ['type', 'timestamp', 'data']);
      received.push(event.data.scan_id);
      response.writeHead(202).end();
    },
  ]);
  const args = ['webhooks', 'listen', '--forward', receiver.url, '--events', '2'];
  const { code, stdout } = await runCli(api.url, ...args);
  assert.equal(code, 0);
  assert.deepEqual(received, ['scan-1', 'scan-2']);
  assert.match(stdout, /scan-1: 202\n.*scan-2: 202\n$/);
  const from = new URL(api.requests[1]!.url!, api.url).searchParams.get('from_ts');
  assert.equal(from, '2020-01-31T23:59:00.000Z');
});

test('listening ends after its events although the receiver never ends an answer', { timeout: 10_000 }, async (t) => {
  const page = (...items: unknown[]) => answer(200, { items, total: 0, page: 1, limit: 200, pages: 1 });
  const event = { id: '1', type: 'scanning.scan.completed', timestamp: '2020-02-01T00:00:00.000Z', data: {} };
  const api = await scriptedServer(t, [page(), page(event)]);
  const receiver = await scriptedServer(t, [(response) => void response.writeHead(200).write('...')]);
  assert.equal((await runCli(api.url, 'webhooks', 'listen', '--forward', receiver.url, '--events', '1')).code, 0);
  await closed(receiver.requests[0]!.socket);
});

test('where there were no events, the first one is new', async (t) => {
  const page = (...items: unknown[]) => answer(200, { items, total: 0, page: 1, limit: 200, pages: 1 });
  const event = { id: '1', type: 'scanning.scan.completed', timestamp: '2020-02-01T00:00:00.000Z', data: {} };
  const api = await scriptedServer(t, [page(), page(event)]);
  const receiver = await scriptedServer(t, [answer(200, {})]);
  const args = ['webhooks', 'listen', '--forward', receiver.url, '--events', '1'];
  assert.equal((await runCli(api.url, ...args)).code, 0);
  assert.equal(receiver.requests.length, 1);
});

test('a URL of the API without its scheme is a wrong call', async () => {
  const { code, stderr } = await runCli('localhost:8080', 'alerts');
  assert.equal(code, 2);
  assert.match(stderr, /^adsweep: the URL of the API must begin with https:\/\/ or http:\/\/: localhost:8080;/);
});

test('stdin is read to its end, also where it is a pipe that does not block', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-cli-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [reader, writer] = [openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK), openSync(pipe, 'w')];
  const { url, requests } = await simulatedApi(t);
  const env = { PATH: process.env.PATH, ADSWEEP_URL: url, ADSWEEP_API_KEY: 'key' };
  const program = fileURLToPath(new URL('../../bin/adsweep.js', import.meta.url));
  const args = [program, 'scan', '-', ...SCAN.slice(2, -1)];
  const child = spawn(process.execPath, args, { env, stdio: [reader, 'ignore', 'inherit'] });
  closeSync(reader);
  writeSync(writer, '<b>');
  // Longer than it takes to start.
  await Promise.race([once(child, 'exit'), sleep(2_000)]);
  if (child.exitCode === null) writeSync(writer, '</b>');
  closeSync(writer);
  if (child.exitCode === null) await once(child, 'exit');
  assert.deepEqual([child.exitCode, requests.length], [0, 1]);
});

test('a wrong call sends nothing and gives exit code 2', async (t) => {
  const { url, requests } = await simulatedApi(t);
  const calls = [
    ...[['nonsense'], ['scan'], ['scan', 'https://a.example/'], ['scan', 'https://a.example/', '-c', 'US']],
    ...[
      [...SCAN, '--fail-on', 'x'],
      [...SCAN, '--label', 'x'],
      [...SCAN, '--label', 'team=a', '--label', 'team=b'],
      [...SCAN, '--as', 'x'],
      [...SCAN, 'x'],
      [...SCAN, '--x'],
    ],
    ...[
      ['scan', '/nonexistent', '-c', 'US', '-d', 'x'],
      ['api', 'getScan'],
      ['api', 'x'],
      ['api', 'getScan', 'a', '--b', 'c'],
    ],
    // A list without targets, which would otherwise pass as clean.
    ['bulk', '/dev/null', '-c', 'US', '-d', 'x', '--wait'],
    ...[['alerts', 'set', 'x', 'y'], ['rules', 'test', '/nonexistent', '--scan', 'x'], ['runs'], ['runs', 'watch']],
    ...[
      ['webhooks', 'listen'],
      ['webhooks', 'listen', '--forward', 'x'],
      ['webhooks', 'listen', '--forward', 'localhost:3000/events'],
    ],
  ];
  for (const args of calls) assert.equal((await runCli(url, ...args)).code, 2, args.join(' '));
  assert.equal(requests.length, 0);
});

test('a server that cannot be reached gives exit code 1 and the reason', async (t) => {
  const { url } = await scriptedServer(t, [hangUp]);
  const { code, stderr } = await runCli(url, 'api', 'testWebhook', 'x', '--body', '{"event_type":"x"}');
  assert.equal(code, 1);
  assert.match(stderr, /^adsweep: fetch failed: .+/);
});

test('the key is kept in a file that only its owner can read, and is for the URL beside it alone', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'adsweep-cli-'));
  t.after(() => rmSync(home, { recursive: true }));
  const env = { XDG_CONFIG_HOME: home };
  const { file, url, key } = readConfig(env);
  assert.deepEqual([url, key], ['http://127.0.0.1:8080', null]);
  saveConfig(file, { url: 'https://adsweep.example', key: 'secret' });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(readConfig(env).key, 'secret');
  assert.equal(readConfig({ ...env, ADSWEEP_URL: 'https://other.example' }).key, null);
  assert.equal(readConfig({ ...env, ADSWEEP_API_KEY: 'first' }).key, 'first');
  chmodSync(file, 0o640);
  assert.throws(() => readConfig(env), /others can read .*chmod 600/);
});

test('a file of the key that others could read is replaced, and one that is damaged is named, without a part of the key', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'adsweep-cli-'));
  t.after(() => rmSync(home, { recursive: true }));
  const env = { XDG_CONFIG_HOME: home };
  const { file } = readConfig(env);
  saveConfig(file, { url: 'https://adsweep.example', key: 'secret' });
  chmodSync(file, 0o644);
  saveConfig(file, { url: 'https://adsweep.example', key: 'secret' });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  for (const damaged of ['{"key":"secret', 'secret', 'null', '']) {
    writeFileSync(file, damaged);
    assert.throws(() => readConfig(env), { message: `cannot read ${file}: delete it, and run adsweep login` });
  }
});

test('a file may begin with a byte order mark, as editors on Windows write it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-cli-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'rule.json'), '\ufeff{"name":"one"}');
  const { url } = await scriptedServer(t, [answer(200, { results: [], summary: { total: 0, matched: 0, failed: 0 } })]);
  const { code, stderr } = await runCli(url, 'rules', 'test', join(folder, 'rule.json'), '--scan', 'one');
  assert.deepEqual([code, stderr], [0, '']);
});

test('the examples for CI call the command line as it is', async (t) => {
  const { url, requests } = await simulatedApi(t);
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-cli-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = { '"$tag"': join(folder, 'tag.html'), 'landings.txt': join(folder, 'landings.txt') };
  writeFileSync(files['"$tag"'], '<a href="https://shop.example/">');
  writeFileSync(files['landings.txt'], 'https://shop.example/');
  for (const name of ['github-action.yml', 'gitlab-ci.yml']) {
    const text = readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8');
    const [, line] = text.match(/^[-\s]*adsweep (.+?)(?: \|\|.*| > .*)?$/m)!;
    const args = line!.split(' ').map((word) => files[word as keyof typeof files] ?? word);
    assert.equal((await runCli(url, ...args)).code, 0, line);
  }
  assert.deepEqual(
    requests.filter(({ method }) => method === 'POST').map((request) => request.url),
    ['/api/v1/scans', '/api/v1/scans/bulk'],
  );
});
