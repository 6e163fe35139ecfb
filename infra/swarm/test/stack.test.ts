import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { load } from 'js-yaml';
import { missingSettings, settingsOf } from '../../compose/test/support/service-settings.ts';
import { newSecrets } from '../../kubernetes/new-secrets.ts';

const TOP = join(import.meta.dirname, '../../..');
const FILE = join(TOP, 'infra/swarm/stack.yaml');
const read = (path: string) => readFileSync(join(TOP, path), 'utf8');

type Service = {
  image: string;
  environment?: Record<string, string | number>;
  networks: string[];
  secrets: { source: string }[];
  stop_grace_period?: string;
  healthcheck?: { test: string[]; start_period: string };
  volumes?: (string | { type: string; target: string })[];
};
type Named = Record<string, object | null>;
const stack = load(readFileSync(FILE, 'utf8')) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  secrets: Named;
};
const ours = Object.entries(stack.services).filter(([, { image }]) => image.startsWith('adsweep/'));

it('names settings that the services have, and images of the Dockerfile in this version', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  assert.equal(ours.length, 3);
  for (const [name, { image, environment = {} }] of ours) {
    assert.equal(image, `adsweep/${name}:${version}`);
    assert.match(read('infra/docker/Dockerfile'), new RegExp(`^FROM runtime AS ${name}$`, 'm'));
    const known = settingsOf(name);
    for (const setting of Object.keys(environment))
      assert.ok(known.has(setting) || known.has(setting.replace(/_FILE$/, '')), `${name}: ${setting}`);
  }
});

it('passes what an operator sets to every service that reads it', () => {
  const passed = ours.map(([name, { environment = {} }]) => {
    const set = Object.entries(environment).filter(([key, value]) => String(value).startsWith(`\${${key}:`));
    return [name, set.map(([key]) => key)] as const;
  });
  assert.deepEqual(missingSettings(Object.fromEntries(passed)), []);
});

it('has every secret that a service reads, all of them made or brought', () => {
  const made = [...Object.keys(newSecrets()).map((key) => key.replaceAll('.', '-')), 'exits'];
  assert.deepEqual(Object.keys(stack.secrets).sort(), made.sort());
  for (const [name, { environment = {}, secrets }] of Object.entries(stack.services)) {
    const given = secrets.map(({ source }) => source);
    for (const secret of given) assert.ok(Object.hasOwn(stack.secrets, secret), secret);
    for (const value of Object.values(environment).map(String))
      if (value.startsWith('/run/secrets/'))
        assert.ok(given.includes(value.slice('/run/secrets/'.length)), `${name}: ${value}`);
  }
});

it('keeps nodes on a network that leads nowhere, and lets them drain', () => {
  const node = stack.services['browser-node']!;
  assert.deepEqual(node.networks, ['nodes']);
  assert.equal(stack.networks.nodes?.internal, true);
  assert.ok(Number.parseInt(node.stop_grace_period!, 10) >= Number(node.environment?.ADSWEEP_DRAIN_SECONDS) + 10);
});

it('does not replace a control plane that waits for Redis or changes the records, and lets it complete what it does', () => {
  const { healthcheck, stop_grace_period } = stack.services['control-plane']!;
  assert.match(healthcheck!.test.at(-1)!, /\/healthz$/);
  assert.ok(Number.parseInt(healthcheck!.start_period, 10) >= 600);
  const { services } = load(read('infra/compose/compose.yaml')) as { services: Record<string, Service> };
  assert.equal(stop_grace_period, services['control-plane']!.stop_grace_period);
});

const docker = spawnSync('docker', ['stack', 'config', '--help']);
it('is a stack by the schema of docker', { skip: docker.status !== 0 && 'there is no docker' }, () => {
  const { status, stderr } = spawnSync('docker', ['stack', 'config', '-c', FILE], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

it('gives what has a read-only root file system a folder for temporary files, in the only way that a Swarm knows', () => {
  for (const [name, service] of ours) {
    assert.ok(!('tmpfs' in service), name);
    const mounts = (service.volumes ?? []).filter((volume) => typeof volume === 'object');
    assert.deepEqual(
      mounts.map(({ type, target }) => [type, target]),
      [['tmpfs', '/tmp']],
      name,
    );
  }
});
