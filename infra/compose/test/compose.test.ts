import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { load } from 'js-yaml';
import { derived, makeMissing, readSecret, replaceSecret } from '../secrets.ts';
import { missingSettings } from './support/service-settings.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const compose = ['compose', 'roles', 'tls'].map((name) => read(`compose/${name}.yaml`)).join('\n');
const operations = read('OPERATIONS.md');

it('OPERATIONS lists the variables of the Compose files with their defaults, and no others', () => {
  const defaults = new Map(
    [...compose.matchAll(/\$\{((?:ADSWEEP|BROWSER)_\w+):[-?]([^}$]*)/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
  const [, table = ''] = /## Settings of the Compose file\n(.*?)\n## /s.exec(operations) ?? [];
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  const listed = rows.flatMap((row) =>
    [...row.split(' | ')[0]!.matchAll(/`((?:ADSWEEP|BROWSER)_\w+)`/g)].map(([, name]) => name),
  );
  assert.deepEqual(listed.toSorted(), [...defaults.keys()].sort());
  // A row of several variables lists their defaults in the same order; some rows describe the default in words.
  for (const row of rows) {
    const [names = '', values = ''] = row.split(' | ');
    const stated = [...values.matchAll(/`([^`]*)`/g)].map(([, value]) => value);
    const ofRow = [...names.matchAll(/`((?:ADSWEEP|BROWSER)_\w+)`/g)].map(([, name = '']) => defaults.get(name));
    if (stated.length > 0 && !row.includes('ADSWEEP_PUBLIC_URL')) assert.deepEqual(stated, ofRow);
  }
});

it('the Compose file passes the address of a remote browser to browser nodes alone', () => {
  const sections = compose.split(/^ {2}(?=[a-z-]+:$)/m);
  const passing = sections.filter((section) => /BROWSER_CDP_URL: \$\{BROWSER_CDP_URL:-\}/.test(section));
  assert.deepEqual(
    passing.map((section) => section.split(':')[0]),
    ['browser-node'],
  );
});

it('the Compose file passes what an operator sets to every service that reads it', () => {
  type Compose = { services: Record<string, { image?: string; environment?: Record<string, unknown> }> };
  const { services } = load(read('compose/compose.yaml')) as Compose;
  const passed = ['control-plane', 'proxy-router', 'browser-node'].map((name) => {
    const set = Object.entries(services[name]?.environment ?? {});
    return [name, set.filter(([key, value]) => String(value).startsWith(`\${${key}:`)).map(([key]) => key)] as const;
  });
  for (const [name, settings] of passed) assert.ok(settings.length >= 5, name);
  assert.deepEqual(missingSettings(Object.fromEntries(passed)), []);
});

it('Compose adds nodes while the control plane is not ready, because they wait for it by themselves', () => {
  for (const file of ['compose', 'roles']) {
    const [, node = ''] = /^ {2}browser-node:\n(.*?)(?=^ {0,2}\S)/ms.exec(read(`compose/${file}.yaml`)) ?? [];
    assert.match(node, /depends_on:/, file);
    assert.doesNotMatch(node, /condition: service_healthy/, file);
  }
});

it('OPERATIONS lists the secrets that are made', () => {
  const [, made = ''] = /const MADE.*?= \{(.*?)\n\};/s.exec(read('compose/secrets.ts')) ?? [];
  const names = [...made.matchAll(/^ {2}'([a-z-]+)':/gm)].map(([, name = '']) => name);
  assert.ok(names.length > 5);
  for (const name of names) assert.ok(operations.includes(`\`${name}\``), name);
});

it('a secret that an operator sets replaces the one that was made, without the line break behind it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-secrets-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const made = makeMissing(folder);
  replaceSecret(folder, 'redis-password', 'chosen by us\n');
  assert.deepEqual(makeMissing(folder), {
    ...made,
    ...derived({ ...made, 'redis-password': 'chosen by us' }),
    'redis-password': 'chosen by us',
  });
  assert.equal(readSecret(folder, 'redis-password'), 'chosen by us');
  assert.equal(readSecret(folder, 'grafana-password'), made['grafana-password']);
  for (const name of ['redis-pasword', 'mongodb-url', '../all/api-key'])
    assert.throws(() => readSecret(folder, name), /is none of the secrets: api-key, /);
  assert.throws(
    () => replaceSecret(folder, 'redis-pasword', 'text'),
    /redis-pasword is none of the secrets: api-key, /,
  );
  assert.throws(() => replaceSecret(folder, 'api-key', '\n'), /no text for api-key/);
});

it('a password that an operator has chosen may have any characters', () => {
  const password = 'a b:c/d?e#f@g"h';
  const all = derived({ 'mongodb-password': password, 'redis-password': password });
  for (const url of [all['mongodb-url']!, all['redis-url']!]) {
    assert.equal(decodeURIComponent(new URL(url).password), password);
    assert.match(new URL(url).host, /^(mongodb:27017|redis:6379)$/);
  }
  assert.match(all['redis.conf']!, /^requirepass "a b:c\/d\?e#f@g\\"h"$/m);
});

it('a failed health check counts five minutes after the start at the earliest: Compose gives up on what is unhealthy', () => {
  const checks = compose
    .split(/^ {4}healthcheck:$/m)
    .filter((check) => /^ {6}interval:/m.test(check.split(/^ {4}\w/m)[0]!));
  const ours = read('docker/Dockerfile')
    .split('\n')
    .filter((line) => line.startsWith('HEALTHCHECK'));
  assert.deepEqual([checks.length, ours.length], [3, 4]);
  for (const check of checks) assert.match(check, /^ {6}timeout: 10s\n {6}start_period: 300s$/m);
  for (const line of ours) assert.match(line, /--timeout=10s --start-period=300s /);
});
