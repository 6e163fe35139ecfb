import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMongodbServer } from '../../../control-plane/test/support/mongodb-server.ts';
import { freePort } from '../../../shared/test/support/free-port.ts';
import { Deployment, docker, dockerOutcome, hasImage, missingEngine, STARTS_WITHIN_MS, until } from './engine.ts';
import { printStarts, printUsages, usages } from './figures.ts';
import { Client, faultsOf, keepAsking, SCAN } from './scans.ts';

/** The roles apart (roles.yaml): a part of `npm run test:containers`. */

const ROLES = ['api', 'node-api', 'worker', 'relay', 'scheduler', 'dispatcher', 'scaler'];
/** A scan costs a second of a core, and seven containers that start at once some twenty: two cores do both. */
const EVERY_MS = 2_000;
const STALLED_MS = 120_000;

const missing = await missingEngine();
const withRegistry =
  missing === null &&
  (await hasImage('mongo:8.0')) &&
  (await hasImage('redis:7.4-bookworm')) &&
  (await hasImage('haproxy:3.2'));
const mongodb = missing === null && !withRegistry ? await startMongodbServer() : null;
const reason = missing ?? (typeof mongodb === 'string' ? mongodb : null);

describe('the roles apart', { skip: reason === null ? false : `left out: ${reason}`, timeout: 20 * 60_000 }, () => {
  let farm: Deployment;
  let client: Client;
  let gate: Gate | null = null;

  before(async () => {
    const standIns = ['without-registry', 'roles-without-registry'] as const;
    if (mongodb && typeof mongodb !== 'string') {
      const url = new URL(mongodb.url);
      gate = await openToContainers(url);
      url.host = `host.docker.internal:${gate.port}`;
      process.env.ADSWEEP_TEST_MONGODB_URL = url.href;
    }
    farm = new Deployment('roles', await freePort(), ['roles', ...(withRegistry ? [] : standIns)]);
    await farm.compose('build', '--quiet');
    await farm.compose('up', '-d', '--quiet-pull');
    const [, key] = await until('the ready line', STARTS_WITHIN_MS, async () =>
      /adsweep ready \S+ key (\S+)/.exec(await farm.compose('logs', '--no-log-prefix', 'api')),
    );
    client = new Client(farm.url, key!);
    await Promise.all((await all()).map(untilHealthy));
    await printStarts(farm, ROLES);
    printUsages('idle', await usages(farm));
  });

  after(async () => {
    try {
      await farm?.remove();
    } finally {
      await gate?.close();
      if (mongodb && typeof mongodb !== 'string') await mongodb.stop();
    }
  });

  it('keeps browser nodes from everything but the node API, the proxy-router and its gateway', async () => {
    const node = await farm.container('browser-node');
    const outcome = async (place: string) => [place, await farm.connects(node, place)] as const;
    const reached = ['node-api.adsweep.internal:8081', 'proxy-router:8082', 'proxy-router:8083'];
    const hidden = [
      ...(await farm.addressesOf('balancer', 8080)),
      ...(await farm.addressesOf('api', 8080)),
      ...(await farm.addressesOf('node-api', 8081)),
      ...(await farm.addressesOf('redis', 6379)),
    ];
    assert.ok(hidden.length >= 10);
    const found = await Promise.all([...reached, ...hidden].map(outcome));
    assert.deepEqual(
      found.filter(([, said]) => said === 'connected').map(([place]) => place),
      reached,
    );
  });

  it('says that it is not ready before it stops to serve, and serves until then', async () => {
    const [container] = await farm.containers('api');
    const ready = () =>
      dockerOutcome('exec', container!, 'node', 'infra/docker/check-health.mjs', 'http://127.0.0.1:8080/readyz');
    assert.equal((await ready()).code, 0);
    const stopped = docker('stop', '-t', '40', container!);
    await until('it is not ready', 8_000, async () => /503 .*draining/.test((await ready()).output));
    await stopped;
    await docker('start', container!);
    await untilHealthy(container!);
  });

  it('loses no scan and fails no request while one half of the containers is restarted, and then the other', async () => {
    const load = keepAsking(client);
    const ids: string[] = [];
    const submitting = new AbortController();
    const submitted = (async () => {
      while (!submitting.signal.aborted) {
        ids.push((await client.call<{ id: string }>('POST', '/api/v1/scans', SCAN)).id);
        await sleep(EVERY_MS);
      }
    })();
    // Both are waited for, so that nothing goes on asking when one fails.
    const ended = await Promise.allSettled([submitted, restartHalves().finally(() => submitting.abort())]);
    const { answers, faults } = await load.stop();
    assert.deepEqual([...ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])), ...faults], []);
    assert.equal(faultsOf(await client.ended(ids, STALLED_MS)), '');
    console.log(`${answers} requests and ${ids.length} scans during the restarts`);
    assert.ok(answers > 100 && ids.length > 10);
  });

  const restartHalves = async () => {
    for (const half of [0, 1])
      await Promise.all(
        ROLES.map(async (role) => {
          const container = (await farm.containers(role)).toSorted()[half]!;
          await docker('stop', '-t', '40', container);
          assert.equal(await docker('inspect', '-f', '{{.State.ExitCode}}', container), '0', role);
          await docker('start', container);
          await untilHealthy(container);
        }),
      );
  };

  const all = async () => (await Promise.all(ROLES.map((role) => farm.containers(role)))).flat();

  const untilHealthy = (container: string) =>
    until(`${container} is healthy`, STARTS_WITHIN_MS, async () =>
      /^healthy$/.test(await docker('inspect', '-f', '{{.State.Health.Status}}', container)),
    );
});

type Gate = { port: number; close: () => Promise<void> };

/** A port of all addresses of this machine, which containers reach, that leads to a server on its loopback address. */
async function openToContainers({ hostname, port }: URL): Promise<Gate> {
  const open = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect({ host: hostname, port: Number(port) });
    for (const socket of [from, to]) open.add(socket.once('close', () => open.delete(socket)));
    from.pipe(to).pipe(from);
    from.on('error', () => to.destroy());
    to.on('error', () => from.destroy());
  }).listen(0, '0.0.0.0');
  await once(server, 'listening');
  const close = async () => {
    const closed = once(server.close(), 'close');
    for (const socket of open) socket.destroy();
    await closed;
  };
  return { port: (server.address() as AddressInfo).port, close };
}
