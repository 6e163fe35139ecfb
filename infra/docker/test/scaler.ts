import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { freePort } from '../../../shared/test/support/free-port.ts';
import { Deployment, docker, dockerOutcome, hasImage, missingEngine, STARTS_WITHIN_MS, until } from './engine.ts';
import { Client, faultsOf } from './scans.ts';

/** The scaler on a real engine, which it reaches over TLS with a certificate of its own. `node infra/docker/test/scaler.ts` runs it. */

const NODE_IMAGE = 'adsweep/browser-node:0.1.0';
const [MIN, MAX] = [1, 3];
const SLOTS = 2;
/** Enough for all nodes: a slot does five of them in a minute. */
const SCANS = 40;
const STALLED_MS = 120_000;
const SCALED_WITHIN_MS = 180_000;
const FARM = `test-${process.pid}`;

const missing = await missingEngine();
const withRegistry = missing === null && (await hasImage('mongo:8.0')) && (await hasImage('redis:7.4-bookworm'));

describe('the scaler', { skip: missing === null ? false : `left out: ${missing}`, timeout: 15 * 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-scaler-'));
  const image = `adsweep-test/scaled-node:${process.pid}`;
  let engine: Server;
  let farm: Deployment;
  let client: Client;

  before(async () => {
    await makeCertificates(folder);
    engine = await engineOverTls(folder);
    process.env.ADSWEEP_TEST_SCALER = folder;
    farm = new Deployment('scaler', await freePort(), [
      'scaler',
      ...(withRegistry ? [] : ['without-registry' as const]),
    ]);
    await farm.compose('build', '--quiet');
    await docker('tag', NODE_IMAGE, image);
    const file = join(folder, 'scaler.json');
    writeFileSync(file, JSON.stringify(scalerFile(farm.name, image, (engine.address() as AddressInfo).port)));
    chmodSync(file, 0o644);
    await farm.compose('up', '-d', '--quiet-pull', '--scale', 'browser-node=0');
    const [, key] = await until('the ready line', STARTS_WITHIN_MS, async () =>
      /adsweep ready \S+ key (\S+)/.exec(await farm.compose('logs', '--no-log-prefix', 'control-plane')),
    );
    client = new Client(farm.url, key!);
  });

  after(async () => {
    await dockerOutcome('stop', '-t', '1', ...(await farm.containers('control-plane')));
    for (const node of await nodes()) await dockerOutcome('rm', '-f', '-v', node.name);
    await farm.remove();
    engine.close();
    await dockerOutcome('rmi', '-f', image);
    rmSync(folder, { recursive: true });
  });

  it('starts nodes as the work needs them, replaces one that is killed, and drains them when none is needed', async () => {
    await until('the least number of nodes', SCALED_WITHIN_MS, async () => (await nodes()).length === MIN);
    const scans = await client.submit(SCANS);
    const most = await until('all nodes', SCALED_WITHIN_MS, async () => {
      const running = await nodes();
      return running.length === MAX && running;
    });
    const [killed] = most;
    await docker('kill', killed!.name);
    await until('another node', SCALED_WITHIN_MS, async () => {
      const running = (await nodes()).map(({ name }) => name);
      return running.length === MAX && !running.includes(killed!.name);
    });
    assert.equal(faultsOf(await client.ended(scans, STALLED_MS)), '');
    await until('the least number of nodes again', SCALED_WITHIN_MS, async () => (await nodes()).length === MIN);
    const { items } = await client.call<{ items: { actions: { action: string }[] }[] }>(
      'GET',
      '/api/v1/fleet/decisions',
    );
    const actions = new Set(items.flatMap((decision) => decision.actions.map(({ action }) => action)));
    for (const expected of ['start', 'drain', 'remove']) assert.ok(actions.has(expected), [...actions].join());
  });

  it('replaces nodes of another image while they scan', async () => {
    const [old] = await nodes();
    const scans = await client.submit(4);
    await otherImage(image);
    await until('a node of the other image', SCALED_WITHIN_MS, async () => {
      const running = await nodes();
      return running.length === MIN && running[0]!.image !== old!.image;
    });
    assert.equal(faultsOf(await client.ended(scans, STALLED_MS)), '');
  });
});

/** The scaler's containers that run. */
async function nodes(): Promise<{ name: string; image: string }[]> {
  const lines = await docker('ps', '--no-trunc', '--filter', `label=adsweep.scaler=${FARM}`, '--format', '{{.Names}}');
  const names = lines.split('\n').filter(Boolean);
  return Promise.all(names.map(async (name) => ({ name, image: await docker('inspect', '-f', '{{.Image}}', name) })));
}

/** Gives the tag another image of the same node. */
async function otherImage(tag: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-image-'));
  writeFileSync(join(folder, 'Dockerfile'), `FROM ${NODE_IMAGE}\nLABEL adsweep.test=other\n`);
  await docker('build', '-q', '-t', tag, folder);
  rmSync(folder, { recursive: true });
}

function scalerFile(project: string, image: string, port: number) {
  const tls = { ca: '/scaler/ca.pem', certificate: '/scaler/client.pem', key: '/scaler/client.key' };
  const seccomp = readFileSync(join(import.meta.dirname, '../seccomp-chromium.json'), 'utf8');
  return {
    farm: FARM,
    min: MIN,
    max: MAX,
    cool_down_seconds: 30,
    hosts: [{ name: 'engine', docker: { host: 'engine.test', port, tls }, min: 0, max: MAX }],
    container: {
      Image: image,
      Env: [
        'ADSWEEP_NODE_API_URL=http://node-api.adsweep.internal:8081',
        'ADSWEEP_PROXY_URL=http://proxy-router:8082',
        'ADSWEEP_NODE_TOKEN_FILE=/secrets/node-token',
        'ADSWEEP_METRICS_TOKEN_FILE=/secrets/metrics-token',
        'ADSWEEP_DRAIN_SECONDS=150',
        `ADSWEEP_SLOTS=${SLOTS}`,
        `ADSWEEP_CHROMIUM_SANDBOX=${process.env.ADSWEEP_CHROMIUM_SANDBOX ?? 'on'}`,
      ],
      // As Prometheus finds them.
      NetworkingConfig: { EndpointsConfig: { [`${project}_nodes`]: { Aliases: ['browser-node'] } } },
      HostConfig: {
        NetworkMode: `${project}_nodes`,
        Binds: [`${project}_secrets-browser-node:/secrets:ro`],
        Memory: 2 * 1024 ** 3,
        PidsLimit: 2048,
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        Tmpfs: { '/tmp': 'mode=1777,size=1g' },
        SecurityOpt: ['no-new-privileges:true', `seccomp=${seccomp}`],
      },
    },
  };
}

/** An authority, and the certificates of the engine and of the scaler, all of which user 10001 may read. */
async function makeCertificates(folder: string): Promise<void> {
  const openssl = (...args: string[]) => promisify(execFile)('openssl', args, { cwd: folder });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test authority');
  for (const [name, host] of [
    ['engine', 'engine.test'],
    ['client', 'scaler.test'],
  ] as const) {
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', `subjectAltName=DNS:${host}`];
    const own = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${host}`];
    await openssl('req', '-x509', ...key, ...by, ...own, '-addext', 'basicConstraints=critical,CA:FALSE');
    chmodSync(join(folder, `${name}.key`), 0o644);
  }
  chmodSync(folder, 0o755);
}

/** The engine of this machine over TLS: only for clients with a certificate of the authority. */
async function engineOverTls(folder: string): Promise<Server> {
  const socketPath = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '');
  const read = (name: string) => readFileSync(join(folder, name));
  const options = { ca: read('ca.pem'), cert: read('engine.pem'), key: read('engine.key') };
  const server = createServer({ ...options, requestCert: true, rejectUnauthorized: true }, (from: TLSSocket) => {
    const to = connect(socketPath);
    from.pipe(to).pipe(from);
    from.on('error', () => to.destroy());
    to.on('error', () => from.destroy());
  }).listen(0, '0.0.0.0');
  await once(server, 'listening');
  return server;
}
