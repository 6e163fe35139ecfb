import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { seededRandom } from '../../../shared/test/support/seeded-random.ts';
import { until } from '../../../shared/test/support/until.ts';
import type { Allowance } from '../../src/accounts/billing/allowance.ts';
import { allowanceStore } from '../../src/accounts/billing/allowance-store.ts';
import type { LedgerEntry } from '../../src/accounts/billing/ledger-entry.ts';
import { releaseAbandoned } from '../../src/accounts/billing/release-abandoned.ts';
import { openStore, type Store } from '../../src/platform/store.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import type { RunRecord } from '../../src/scanning/runs/run.ts';
import { startCatalogueServer } from '../support/catalogue-server.ts';
import { type MongodbServer, startMongodbServer } from '../support/mongodb-server.ts';
import { planeSettings } from '../support/plane-settings.ts';
import { type PrivateRedis, startRedis } from '../support/private-redis.ts';
import { Replica } from '../support/replica.ts';
import type { Json } from '../support/running-api.ts';
import { SignalledProcess } from '../support/signalled-process.ts';

/**
 * `npm run test:all` kills a few times while 8 runs start, `npm run chaos` until 5,000 scans of 200 runs have ended.
 */
const SIZES = {
  short: { runs: 8, devices: 2, repeats: 3, nodes: 2, kills: 3, everyMs: 800, endsInSeconds: 120 },
  long: { runs: 200, devices: 5, repeats: 5, nodes: 6, kills: 25, everyMs: 4_000, endsInSeconds: 900 },
};
const SIZE = SIZES[process.env.ADSWEEP_CHAOS === 'long' ? 'long' : 'short'];
const SCANS_OF_RUN = SIZE.devices * SIZE.repeats;
const CAMPAIGNS = 4;
/** One run in so many is cancelled after it was started. */
const CANCELLED_ONE_IN = 5;
const STARTED_AT_ONCE = 4;
const NODE_PROCESS = join(import.meta.dirname, '../support/simulated-node-process.ts');
const NODE_TOKEN = 'node-token-of-this-test';
const API_KEY = 'api-key-of-this-test';
const SEED = Number(process.env.ADSWEEP_TEST_SEED ?? randomInt(2 ** 31));

const server = await startMongodbServer();
if (typeof server === 'string') it('runs under two control planes that are killed', { skip: server });
else describe('runs under two control planes that are killed', () => testRuns(server));

function testRuns(mongodb: MongodbServer): void {
  const random = seededRandom(SEED);
  const stopping = new AbortController();
  let [redis, catalogue, folder, store]: [PrivateRedis, { url: string; stop(): void }, string, Store] = [] as never;
  let replicas: Replica[];
  let nodes: SignalledProcess[];

  before(async () => {
    redis = await startRedis();
    catalogue = await startCatalogueServer(NODE_TOKEN);
    folder = await mkdtemp(join(tmpdir(), 'adsweep-runs-'));
    store = await openStore({ mongodbUrl: mongodb.url });
    const services = { folder, proxyUrl: catalogue.url, redisUrl: `unix://${redis.socket}` };
    const env = {
      ...planeSettings({ ...services, nodeToken: NODE_TOKEN, apiKey: API_KEY }),
      MONGODB_URL: mongodb.url,
      ADSWEEP_LOG_LEVEL: 'error',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled'),
    };
    replicas = [new Replica(env), new Replica(env)];
    await Promise.all(replicas.map((replica) => replica.start()));
    const urls = replicas.map(({ nodeApiPort }) => `http://127.0.0.1:${nodeApiPort}`);
    nodes = Array.from({ length: SIZE.nodes }, (_, at) => simulatedNode(at, urls, env.NODE_COMPILE_CACHE));
    await Promise.all(nodes.map((node) => node.start()));
  });
  after(async () => {
    stopping.abort();
    await Promise.all([...nodes, ...replicas].map((one) => one.end()));
    await store.close();
    await redis.stop();
    await mongodb.stop();
    catalogue.stop();
    await rm(folder, { recursive: true, force: true });
  });

  function simulatedNode(at: number, urls: string[], compileCache: string): SignalledProcess {
    const env = {
      ...{ PATH: process.env.PATH, NODE_ID: `node-${at}`, NODE_API_URLS: urls.join(','), JOIN_TOKEN: NODE_TOKEN },
      ...{ SEED: String(Math.floor(random() * 2 ** 31)), NODE_COMPILE_CACHE: compileCache },
    };
    return new SignalledProcess(async () =>
      spawn(process.execPath, [NODE_PROCESS], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
    );
  }

  /** Calls any of the control planes until one answers for good, with the same key. */
  async function call(method: string, path: string, body?: object): Promise<Json> {
    const key = crypto.randomUUID();
    const headers = { authorization: `Bearer ${API_KEY}`, ...(method === 'POST' && { 'idempotency-key': key }) };
    for (;;) {
      stopping.signal.throwIfAborted();
      const { apiUrl } = replicas[Math.floor(random() * replicas.length)]!;
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(10_000)]);
      const sent = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
      const answer = await fetch(`${apiUrl}/api/v1${path}`, sent).catch(() => null);
      const read = answer?.ok ? await answer.json().catch(() => null) : null;
      if (read) return read;
      const isRepeated = !answer || answer.ok || [408, 409].includes(answer.status) || answer.status >= 500;
      assert.ok(isRepeated, `${method} ${path} was refused: ${answer?.status} ${await answer?.text()}`);
      // The request of a process that was killed counts as running for a minute: here it counts as interrupted at once.
      if (answer?.status === 409) await interruptRequests();
      await pause(20 + random() * 80);
    }
  }
  const interruptRequests = () =>
    store
      .collection<Json>('idempotency_keys')
      .updateMany({ answer: null }, { $set: { started_at: new Date(Date.now() - 120_000) } });

  async function killSome(): Promise<void> {
    for (let kills = 0; kills < SIZE.kills && !stopping.signal.aborted; kills += 1) {
      await pause(random() * SIZE.everyMs);
      const replica = replicas[Math.floor(random() * replicas.length)]!;
      await replica.kill();
      await replica.start();
    }
  }

  /** Starts runs, some at once, and cancels some of them; their ids. */
  async function startRuns(campaigns: string[]): Promise<string[]> {
    const ids: string[] = [];
    let left = SIZE.runs;
    const worker = async () => {
      for (; left > 0; await pause(random() * SIZE.everyMs)) {
        left -= 1;
        const number = left;
        const { id } = await call('POST', `/campaigns/${campaigns[number % CAMPAIGNS]}/run`);
        ids.push(id);
        if (number % CANCELLED_ONE_IN === 0) await call('POST', `/runs/${id}/cancel`);
      }
    };
    await Promise.all(Array.from({ length: STARTED_AT_ONCE }, worker));
    return ids;
  }

  it(`§2.8.5 each starts once, its counters are those of its scans, and nothing is charged twice (seed ${SEED})`, {
    timeout: 2 * SIZE.endsInSeconds * 1_000,
  }, async (t) => {
    t.diagnostic(`seed ${SEED}; the same again: ADSWEEP_TEST_SEED=${SEED}`);
    const body = {
      ...{ name: 'Killed', url: 'https://shop.example/', country_codes: ['US'], repeat_count: SIZE.repeats },
      ...{ emulator_categories: [], emulator_specific_ids: EMULATORS.slice(0, SIZE.devices).map(({ id }) => id) },
      retry_max_attempts: 5,
    };
    const campaigns: string[] = [];
    while (campaigns.length < CAMPAIGNS) campaigns.push((await call('POST', '/campaigns', body)).id);
    const [ids] = await Promise.all([startRuns(campaigns), killSome()]);

    const [runs, scans] = [store.collection<RunRecord>('runs'), store.collection<ScanRecord>('scans')];
    const unfinished = { $or: [{ completed_at: null }, { outbox_at: { $exists: true } }] };
    const isOver = async () =>
      (await runs.countDocuments({ creation_due_at: { $exists: true } })) + (await scans.countDocuments(unfinished)) ===
      0;
    await until('every run to be created and every scan to end', isOver, SIZE.endsInSeconds);

    const stored = await runs.find({}).toArray();
    assert.deepEqual(stored.map(({ _id }) => _id).sort(), ids.toSorted(), 'a run for each request, and no other');
    const all = await scans.find({}).toArray();
    const ofRun = Map.groupBy(all, ({ run_id }) => run_id);
    for (const { _id, cancelled_at } of stored) {
      const own = ofRun.get(_id) ?? [];
      const counted = (status: string) => own.filter((scan) => scan.final_status === status).length;
      const missing = SCANS_OF_RUN - own.length;
      assert.ok(cancelled_at ? missing >= 0 : missing === 0, `${_id} lacks ${missing} scans`);
      const { total, completed, failed, partial, cancelled } = await call('GET', `/runs/${_id}`);
      assert.deepEqual(
        { total, completed, failed, partial, cancelled },
        {
          ...{ total: SCANS_OF_RUN, completed: counted('completed'), failed: counted('failed') },
          ...{ partial: counted('partial'), cancelled: counted('cancelled') + missing },
        },
      );
    }
    const ended = all.filter(({ final_status }) => final_status !== 'cancelled').length;
    t.diagnostic(`${stored.length} runs, ${all.length} scans, ${ended} of them not cancelled`);
    await assertChargedOnce(all);
  });

  async function assertChargedOnce(scans: ScanRecord[]): Promise<void> {
    const ledger = await store.collection<LedgerEntry>('ledger_entries').find({}).sort({ sequence: 1 }).toArray();
    const of = (type: string) => ledger.filter((entry) => entry.type === type);
    const refunded = scans.filter(({ _id }) => ledger.some((entry) => entry._id === `refund:${_id}`));
    assert.deepEqual(
      of('usage_charge')
        .map(({ _id }) => _id)
        .sort(),
      scans.map(({ _id }) => `charge:${_id}`).sort(),
    );
    assert.equal(of('refund').length, refunded.length);
    assert.ok(scans.every(({ status, _id }) => status !== 'completed' || !refunded.some((one) => one._id === _id)));
    let balance = 0;
    for (const [at, { sequence, amount_micros, balance_after_micros }] of ledger.entries()) {
      balance += amount_micros;
      assert.deepEqual([sequence, balance_after_micros], [at + 1, balance]);
    }
    // A killed control plane has left reservations behind, which are released first.
    const reservedBy = new Map(scans.map(({ _id, reserved_by }) => [_id, reserved_by]));
    const countReserved = async (_: string, found: string[], madeBy: string) =>
      found.filter((id) => reservedBy.get(id) === madeBy).length;
    const logger = createLogger('test', 'silent');
    const parts = { allowances: allowanceStore(store), countReserved, isCreatingRun: async () => false, logger };
    await releaseAbandoned(parts, new Date(Date.now() + 3_600_000));
    const allowance = await store.collection<Allowance>('allowances').findOne({});
    const counted = Object.values(allowance?.months ?? {}).reduce((sum, checks) => sum + checks, 0);
    assert.equal(counted, scans.length - refunded.length, 'each check is counted once');
  }
}
