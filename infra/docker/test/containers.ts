import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, before, describe, it, type TestContext } from 'node:test';
import { freePort } from '../../../shared/test/support/free-port.ts';
import { Deployment, docker, dockerOutcome, hasImage, missingEngine, STARTS_WITHIN_MS, until } from './engine.ts';
import { peaksDuring, printSizes, printStarts, printUsages, usages } from './figures.ts';
import { Client, faultsOf } from './scans.ts';

/** The images and the Compose file: a part of `npm run test:containers`. */

const BASE = process.env.ADSWEEP_BASE_IMAGE || 'node:24-bookworm-slim';
const SCANS = Number(process.env.ADSWEEP_CONTAINER_SCANS ?? 100);
/** A killed node's scans run again after at most 13 s; a node that starts needs longer on a busy machine. */
const STALLED_MS = 120_000;
/** Scans that run while nodes are added and taken away, and while a container is killed or stopped. */
const SCALED = 40;
const KILLED = 8;
const OURS = ['control-plane', 'proxy-router', 'browser-node', 'ad-world'];
/** The services whose metrics Prometheus reads. */
const SCRAPED = ['control-plane', 'proxy-router', 'browser-node'];
const USER = '10001:10001';

const missing = await missingEngine();
const skip = missing === null ? false : `left out: ${missing}`;
const withRegistry =
  missing === null &&
  (await hasImage('mongo:8.0')) &&
  (await hasImage('redis:7.4-bookworm')) &&
  (await hasImage('prom/prometheus:v3.5.0'));
if (missing === null && !withRegistry)
  console.log(
    'the images of MongoDB, Redis and Prometheus cannot be had: the embedded store and the distribution’s Redis and Prometheus stand in',
  );

describe('a deployment with Docker Compose', { skip, timeout: 20 * 60_000 }, () => {
  let farm: Deployment;
  let client: Client;

  before(async () => {
    farm = new Deployment('one', await freePort(), withRegistry ? [] : ['without-registry']);
    await farm.compose('build', '--quiet');
    await farm.compose('up', '-d', '--quiet-pull');
    const [, key] = await until('the ready line', STARTS_WITHIN_MS, async () =>
      /adsweep ready \S+ key (\S+)/.exec(await farm.compose('logs', '--no-log-prefix', 'control-plane')),
    );
    client = new Client(farm.url, key!);
    await printSizes([BASE, ...OURS.map((name) => `adsweep/${name}:0.1.0`)]);
  });

  after(async () => {
    await farm?.remove();
  });

  it('has the images run without root, capabilities and a writable root file system', async () => {
    for (const service of OURS) {
      const [of] = JSON.parse(await docker('inspect', await farm.container(service))) as [Inspected];
      assert.equal(of.Config.User, USER, service);
      assert.equal(of.HostConfig.ReadonlyRootfs, true, service);
      assert.deepEqual(of.HostConfig.CapDrop, ['ALL'], service);
      assert.ok(of.HostConfig.SecurityOpt.includes('no-new-privileges:true'), service);
      assert.ok(of.Config.Labels['org.opencontainers.image.version'], service);
      assert.ok(of.Config.Healthcheck.Interval >= 5e9, service);
    }
  });

  it('scans a page of the ad world and publishes its report', async () => {
    const [, report] = await until('the demo scan', 120_000, async () =>
      /report: (http\S+)/.exec(await farm.compose('logs', '--no-log-prefix', 'demo-scan')),
    );
    const page = await fetch(report!);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /back_button|Back button/i);
    await printStarts(farm, [...OURS, 'redis']);
  });

  it('prints the API key again when it is asked for', async () => {
    const shown = await farm.compose('run', '--rm', '--no-deps', '-T', 'secrets', 'show');
    await new Client(farm.url, shown.trim().split('\n').at(-1)!).call('GET', '/api/v1/account');
  });

  it('shares scans among its two nodes', async () => {
    printUsages('idle', await usages(farm));
    const begun = Date.now();
    const [scans, peaks] = await peaksDuring(farm, async () => client.ended(await client.submit(SCANS), STALLED_MS));
    console.log(`${SCANS} scans over two nodes: ${Math.round((Date.now() - begun) / 1000)} s`);
    printUsages('busy', peaks);
    assert.equal(faultsOf(scans), '');
    for (const node of await farm.containers('browser-node'))
      assert.ok((await outcomesOf(node)) > 0, `${node} has done nothing`);
  });

  it('has Prometheus read the metrics of every process and evaluate every rule', async () => {
    const port = await freePort();
    process.env.ADSWEEP_PROMETHEUS_PORT = String(port);
    await farm.compose('up', '-d', '--no-recreate', '--quiet-pull', 'prometheus');
    const ask = async <T>(path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, { signal: AbortSignal.timeout(5_000) });
      return ((await answer.json()) as { data: T }).data;
    };
    const processes = (await Promise.all(SCRAPED.map((service) => farm.containers(service)))).flat().length;
    const isRead = async () => {
      const { activeTargets } = await ask<{ activeTargets: Target[] }>('targets');
      return activeTargets.filter(({ health }) => health === 'up').length === processes && activeTargets;
    };
    assert.equal((await until('Prometheus reads every process', STARTS_WITHIN_MS, isRead)).length, processes);
    const rules = await until('Prometheus has evaluated every rule', STARTS_WITHIN_MS, async () => {
      const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules');
      const all = groups.flatMap((group) => group.rules);
      return all.length > 0 && all.every(({ health }) => health !== 'unknown') && all;
    });
    assert.deepEqual(
      rules.filter(({ health }) => health !== 'ok'),
      [],
    );
    const { result } = await ask<{ result: { value: [number, string] }[] }>('query?query=sum(adsweep_nodes)');
    assert.equal(Number(result[0]?.value[1]), (await farm.containers('browser-node')).length);
  });

  it('loses and fails no scan while nodes are added and taken away', async () => {
    const first = await client.submit(SCALED / 2);
    await farm.compose('up', '-d', '--no-recreate', '--scale', 'browser-node=4', 'browser-node');
    const second = await client.submit(SCALED / 2);
    await farm.compose('up', '-d', '--no-recreate', '--scale', 'browser-node=1', 'browser-node');
    assert.equal((await farm.containers('browser-node')).length, 1);
    assert.equal(faultsOf(await client.ended([...first, ...second], STALLED_MS)), '');
  });

  it('keeps browser nodes from everything but the node API, the proxy-router and its gateway', async (t) => {
    const node = await farm.container('browser-node');
    const reached = ['node-api.adsweep.internal:8081', 'proxy-router:8082', 'proxy-router:8083'];
    const hidden = [
      ...(await farm.addressesOf('redis', 6379)),
      ...(withRegistry ? await farm.addressesOf('mongodb', 27017) : []),
      ...(await farm.addressesOf('control-plane', 8080)),
      ...(await farm.addressesOf('ad-world', 9000)),
      ...(await addressesOfHost(t)),
      '169.254.169.254:80',
      '1.1.1.1:443',
      'redis:6379',
      'mongodb:27017',
      'example.com:80',
    ];
    const outcome = (place: string) => farm.connects(node, place);
    for (const place of reached) assert.equal(await outcome(place), 'connected', place);
    const found = await Promise.all(hidden.map(async (place) => [place, await outcome(place)] as const));
    assert.deepEqual(
      found.filter(([, said]) => said === 'connected'),
      [],
    );
    assert.match(await outcome('proxy-router:8083 GET http://quiet.shop.example/ HTTP/1.1'), /^HTTP\/1.1 407 /);
    assert.equal(await docker('exec', node, 'node', '-p', 'process.getuid()'), USER.split(':')[0]);
  });

  for (const service of [
    'browser-node',
    'proxy-router',
    'redis',
    'control-plane',
    ...(withRegistry ? ['mongodb'] : []),
  ])
    it(`loses no scan when ${service} is killed`, async () => {
      const ids = await client.submit(KILLED);
      const [victim] = await farm.containers(service);
      await docker('kill', victim!);
      await docker('start', victim!);
      assert.equal(faultsOf(await client.ended(ids, STALLED_MS)), '');
    });

  it('drains: every container ends by itself when it is told to, and scans go on afterwards', async () => {
    const ids = await client.submit(KILLED);
    for (const service of ['browser-node', 'proxy-router', 'control-plane']) {
      const container = await farm.container(service);
      await farm.compose('stop', service);
      assert.equal(await docker('inspect', '-f', '{{.State.ExitCode}}', container), '0', service);
    }
    await farm.compose('up', '-d', '--no-recreate');
    assert.equal(faultsOf(await client.ended(ids, STALLED_MS)), '');
  });

  it('refuses to start a node whose Chromium has no sandbox', async () => {
    const token = ['-e', 'ADSWEEP_NODE_TOKEN=a-token-of-the-test'];
    const hardened = ['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--read-only', '--tmpfs', '/tmp'];
    const image = 'adsweep/browser-node:0.1.0';
    const { code, output } = await dockerOutcome('run', '--rm', '--network', 'none', ...hardened, ...token, image);
    assert.equal(code, 1);
    assert.match(output, /^Chromium's sandbox does not work .*ADSWEEP_CHROMIUM_SANDBOX=off/m);
  });

  /** How many leases a node has ended, by its metrics. */
  async function outcomesOf(node: string): Promise<number> {
    const text = await docker('exec', node, 'node', '-e', METRICS);
    const lines = text.split('\n').filter((line) => line.startsWith('adsweep_node_leases_total{'));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** The addresses of this machine, those of the engine's networks among them, at a port on which the test listens. */
  async function addressesOfHost(t: TestContext): Promise<string[]> {
    const server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const ids = (await docker('network', 'ls', '-q')).split('\n');
    const networks = JSON.parse(await docker('network', 'inspect', ...ids)) as Network[];
    const gateways = networks.flatMap(({ IPAM }) => (IPAM.Config ?? []).map(({ Gateway }) => Gateway));
    const own = Object.values(networkInterfaces()).flatMap((addresses = []) =>
      addresses.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
    );
    return [...new Set([...gateways, ...own])].flatMap((address) => (address ? [`${address}:${port}`] : []));
  }
});

type Inspected = {
  Config: { User: string; Labels: Record<string, string>; Healthcheck: { Interval: number } };
  HostConfig: { ReadonlyRootfs: boolean; CapDrop: string[]; SecurityOpt: string[] };
};
type Target = { health: string };
type Rule = { name: string; health: string };
type Network = { IPAM: { Config: { Gateway?: string }[] | null } };

const METRICS = `
const token = require('node:fs').readFileSync(process.env.ADSWEEP_METRICS_TOKEN_FILE, 'utf8').trim();
fetch('http://127.0.0.1:8084/metrics', { headers: { authorization: 'Bearer ' + token } })
  .then((answer) => answer.text())
  .then(console.log);
`;
