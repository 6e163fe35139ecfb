import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomInt, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { seededRandom } from '../../../shared/test/support/seeded-random.ts';
import { until } from '../../../shared/test/support/until.ts';
import type { Allowance } from '../../src/accounts/billing/allowance.ts';
import { allowanceStore } from '../../src/accounts/billing/allowance-store.ts';
import type { LedgerEntry } from '../../src/accounts/billing/ledger-entry.ts';
import { releaseAbandoned } from '../../src/accounts/billing/release-abandoned.ts';
import type { CaptureRecord } from '../../src/crawling/captures/capture-record.ts';
import type { EventRecord } from '../../src/delivery/events/event-store.ts';
import { openStore, type Store } from '../../src/platform/store.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import type { ArtifactRecord } from '../../src/scanning/artifacts/artifact.ts';
import { startCatalogueServer } from '../support/catalogue-server.ts';
import { makeChaos } from '../support/chaos.ts';
import { CuttableLink } from '../support/cuttable-link.ts';
import { type MongodbServer, startMongodbServer } from '../support/mongodb-server.ts';
import { type PrivateRedis, startRedis } from '../support/private-redis.ts';
import { Replica, SKEWED_CLOCK } from '../support/replica.ts';
import { type RouterPair, startRouterPair } from '../support/router-pair.ts';
import { PAGE } from '../support/running-api.ts';
import { S3_BUCKET, S3_KEY, startS3Server } from '../support/s3-server.ts';
import { SignalledProcess } from '../support/signalled-process.ts';

/**
 * `npm run test:all` runs the short kind, `npm run chaos` the long one: with two proxy-routers, and with files on S3,
 * both of which fail at times, and with fewer nodes of more slots, so that the loss of one is a loss of a third.
 */
const IS_LONG = process.env.ADSWEEP_CHAOS === 'long';
const SIZES = {
  short: { scans: 60, nodes: 5, slots: 6, faults: 3, lastsMs: 1_500, endsInSeconds: 180 },
  long: { scans: 500, nodes: 3, slots: 10, faults: 10, lastsMs: 12_000, endsInSeconds: 400 },
};
const { scans: SCANS, nodes: NODES, slots: SLOTS, faults, lastsMs, endsInSeconds } = SIZES[IS_LONG ? 'long' : 'short'];
/** One request in so many is for a group, of so many scans. */
const [GROUP_ONE_IN, GROUP_SIZE] = [10, 4];
/** The clocks of the control planes are off by so much, and those of nodes by up to five minutes. */
const CLOCKS_MS = [180_000, -120_000];
const NODE_PROCESS = join(import.meta.dirname, '../support/simulated-node-process.ts');
const NODE_TOKEN = 'node-token-of-this-test';
const API_KEY = 'api-key-of-this-test';
const SEED = Number(process.env.ADSWEEP_TEST_SEED ?? randomInt(2 ** 31));

const server = await startMongodbServer();
if (typeof server === 'string') it('two control planes on one MongoDB', { skip: server });
else
  describe(`two control planes on one MongoDB and one Redis${IS_LONG ? ', with two proxy-routers and S3,' : ''}`, () =>
    testReplicas(server));

type S3Server = Awaited<ReturnType<typeof startS3Server>>;

const s3Settings = ({ endpoint }: S3Server) => ({
  ...{ ADSWEEP_S3_BUCKET: S3_BUCKET, ADSWEEP_S3_ENDPOINT: endpoint, ADSWEEP_S3_PATH_STYLE: 'on' },
  ...{ ADSWEEP_S3_ACCESS_KEY: S3_KEY.id, ADSWEEP_S3_SECRET_KEY: S3_KEY.secret },
});

async function readCreated(answer: Response): Promise<{ id: string; repeat_scan_ids?: string[] } | null> {
  // It may end in the middle of its answer.
  return answer.json().catch(() => null) as Promise<{ id: string; repeat_scan_ids?: string[] } | null>;
}

function testReplicas(mongodb: MongodbServer): void {
  const random = seededRandom(SEED);
  const stopping = new AbortController();
  let [redis, catalogue, folder, store]: [PrivateRedis, { url: string; stop(): void }, string, Store] = [] as never;
  let replicas: Replica[];
  let links: CuttableLink[];
  let nodes: SignalledProcess[];
  let routers: RouterPair | null = null;
  let s3: S3Server | null = null;

  before(async () => {
    redis = await startRedis();
    catalogue = await startCatalogueServer(NODE_TOKEN);
    folder = await mkdtemp(join(tmpdir(), 'adsweep-replicas-'));
    // Most of a start is reading the code.
    const common = {
      ADSWEEP_NODE_TOKEN: NODE_TOKEN,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled'),
    };
    if (IS_LONG) [routers, s3] = await Promise.all([startRouterPair(folder, common), startS3Server()]);
    store = await openStore({ mongodbUrl: mongodb.url });
    const env = {
      MONGODB_URL: mongodb.url,
      ADSWEEP_DATA_DIR: folder,
      ADSWEEP_PROXY_URL: routers?.url ?? catalogue.url,
      ...common,
      ...(s3 ? s3Settings(s3) : {}),
      ADSWEEP_LEASE_SECRET: 'lease-secret-of-this-test',
      ADSWEEP_API_KEY: API_KEY,
      ADSWEEP_LOG_LEVEL: 'error',
    };
    const toRedis = await Promise.all(CLOCKS_MS.map(() => CuttableLink.open(() => ({ path: redis.socket }))));
    replicas = CLOCKS_MS.map(
      (clockMs, at) => new Replica({ ...env, REDIS_URL: `redis://127.0.0.1:${toRedis[at]!.port}` }, clockMs),
    );
    await Promise.all(replicas.map((replica) => replica.start()));
    const toNodes = await Promise.all(
      replicas.map((replica) => CuttableLink.open(() => ({ port: replica.nodeApiPort }))),
    );
    links = [...toRedis, ...toNodes, ...(routers ? [routers.link] : [])];
    const urls = toNodes.map(({ port }) => `http://127.0.0.1:${port}`);
    nodes = Array.from({ length: NODES }, (_, at) => simulatedNode(at, urls, env.NODE_COMPILE_CACHE));
    await Promise.all(nodes.map((node) => node.start()));
  });
  after(async () => {
    stopping.abort();
    await Promise.all([...nodes, ...replicas].map((one) => one.end()));
    await Promise.all(links.filter((link) => link !== routers?.link).map((link) => link.close()));
    await Promise.all([routers?.stop(), s3?.stop()]);
    await store.close();
    await redis.stop();
    await mongodb.stop();
    catalogue.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /**
   * Requests whose answer nobody will hear: a control plane was killed over them, and their keys are not free again for
   * a minute.
   */
  let unheard = 0;

  /**
   * Creates a scan, or a group that shares a browser, at any of the control planes, and again with the same key while
   * nobody answers.
   */
  async function createScans(): Promise<string[]> {
    const group = random() * GROUP_ONE_IN < 1 ? { repeat_count: GROUP_SIZE, repeat_mode: 'shared' } : {};
    const body = JSON.stringify({ ...PAGE, retry_max_attempts: 5, ...group });
    const headers = { authorization: `Bearer ${API_KEY}`, 'idempotency-key': randomUUID() };
    for (;;) {
      stopping.signal.throwIfAborted();
      const { apiUrl } = replicas[Math.floor(random() * replicas.length)]!;
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(10_000)]);
      const answer = await fetch(`${apiUrl}/api/v1/scans`, { method: 'POST', headers, body, signal }).catch(() => null);
      const created = answer?.status === 201 ? await readCreated(answer) : null;
      if (created) return [created.id, ...(created.repeat_scan_ids ?? [])];
      if (answer?.status === 409) {
        unheard += 'repeat_count' in group ? GROUP_SIZE : 1;
        headers['idempotency-key'] = randomUUID();
      }
      // A control plane that was paused in the middle of a request says that it came too slowly (408).
      const isRefused = answer && answer.status !== 201 && ![408, 409].includes(answer.status) && answer.status < 500;
      assert.ok(!isRefused, `a scan was refused: ${answer?.status}`);
      await pause(20 + random() * 80);
    }
  }

  /** As many scans as there are to be, spread over the time of the faults. */
  async function createAll(): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < SCANS) {
      const created = await Promise.all(Array.from({ length: 5 }, createScans));
      ids.push(...created.flat());
      await pause((random() * 2 * created.flat().length * faults * lastsMs) / SCANS);
    }
    return ids;
  }

  /** Each time it is started it draws other numbers. */
  function simulatedNode(at: number, urls: string[], compileCache: string): SignalledProcess {
    const clockMs = Math.round((random() - 0.5) * 600_000);
    return new SignalledProcess(async () => {
      const env = {
        PATH: process.env.PATH,
        NODE_ID: `node-${at}`,
        NODE_API_URLS: urls.join(','),
        JOIN_TOKEN: NODE_TOKEN,
        SLOTS: String(SLOTS),
        ROUTER_URL: routers?.url ?? '',
        SEED: String(Math.floor(random() * 2 ** 31)),
        NODE_OPTIONS: `--import ${SKEWED_CLOCK}`,
        NODE_COMPILE_CACHE: compileCache,
        ADSWEEP_TEST_CLOCK_MS: String(clockMs),
      };
      return spawn(process.execPath, [NODE_PROCESS], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    });
  }

  it(`bring ${SCANS} scans to their end, each once, whatever fails meanwhile (seed ${SEED})`, {
    timeout: 2 * endsInSeconds * 1000,
  }, async (t) => {
    t.diagnostic(`seed ${SEED}; the same again: ADSWEEP_TEST_SEED=${SEED}`);
    const more = routers && s3 ? { routers: routers.routers, storage: s3 } : {};
    const targets = { nodes, controlPlanes: replicas, redis, links, ...more };
    const [ids] = await Promise.all([createAll(), makeChaos(targets, { faults, lastsMs }, SEED, stopping.signal)]);
    assert.equal(new Set(ids).size, ids.length);

    const stored = store.collection<ScanRecord>('scans');
    const unfinished = { $or: [{ completed_at: null }, { outbox_at: { $exists: true } }] };
    await until('every scan to end', async () => (await stored.countDocuments(unfinished)) === 0, endsInSeconds);

    const scans = await stored.find({}).toArray();
    assertMadeOnce(scans, ids, unheard);
    assertDone(scans);
    t.diagnostic(
      `${scans.length} scans ended, ${scans.filter(({ status }) => status === 'partial').length} of them partial`,
    );
    await assertOneResultEach(store, scans);
    if (routers && s3) {
      await assertFilesStored(store, scans, s3);
      t.diagnostic(`${routers.loads()} pages were loaded through the two gateways`);
      assert.ok(routers.loads() >= scans.length, 'each through an exit');
    }
    const made = scans.map(({ _id }) => _id).sort();
    await assertChargedOnce(store, made);
    await assertCountedOnce(store, scans);
    await assertEventsOnce(store, made);
  });
}

/** `unheard`: requests that may have been carried out although nobody heard their answer. */
function assertMadeOnce(scans: ScanRecord[], acknowledged: string[], unheard: number): void {
  const made = new Set(scans.map(({ _id }) => _id));
  assert.deepEqual(
    acknowledged.filter((id) => !made.has(id)),
    [],
    'what was acknowledged is there',
  );
  assert.ok(made.size <= acknowledged.length + unheard, 'and nothing was made twice');
}

/** Checks that were interrupted three times leave a scan `partial`. */
function assertDone(scans: ScanRecord[]): void {
  const isDone = ({ status, error }: ScanRecord) => status === 'completed' || error === 'checks: INTERRUPTED';
  assert.deepEqual(
    scans.filter((scan) => !isDone(scan)).map(({ _id, status, error }) => [_id, status, error]),
    [],
  );
}

/** A capture whose control plane ended before the scan named it is removed later on. */
async function assertOneResultEach(store: Store, scans: ScanRecord[]): Promise<void> {
  const captures = await store.collection<CaptureRecord>('captures').find({}).project({ scan_id: 1 }).toArray();
  const kept = new Map(captures.map(({ _id, scan_id }) => [_id, scan_id]));
  assert.deepEqual(
    scans.filter(({ _id, capture }) => kept.get(capture?.id ?? '') !== _id),
    [],
    'each has the one result that was accepted',
  );
}

/** What a scan's result names is in the bucket, byte for byte. */
async function assertFilesStored(store: Store, scans: ScanRecord[], { objects }: S3Server): Promise<void> {
  const captures = await store.collection<CaptureRecord>('captures').find({}).toArray();
  const kept = await store.collection<ArtifactRecord>('artifacts').find({ kept: true }).toArray();
  const objectOf = new Map(kept.map(({ scan_id, fence, name, object }) => [`${scan_id}:${fence}:${name}`, object]));
  const accepted = new Set(scans.map(({ capture }) => capture?.id));
  const wrong = captures
    .filter(({ _id }) => accepted.has(_id))
    .filter(({ _id, artifacts: [file] }) => {
      const stored = objects.get(objectOf.get(`${_id}:${file?.name}`) ?? '');
      return !stored || createHash('sha256').update(stored.bytes).digest('hex') !== file?.sha256;
    });
  assert.deepEqual(
    wrong.map(({ _id }) => _id),
    [],
    'each has its file',
  );
}

async function assertChargedOnce(store: Store, made: string[]): Promise<void> {
  const ledger = await store.collection<LedgerEntry>('ledger_entries').find({}).sort({ sequence: 1 }).toArray();
  assert.deepEqual(ledger.map(({ _id }) => _id).sort(), made.map((id) => `charge:${id}`).sort());
  assert.deepEqual(
    ledger.map(({ sequence, balance_after_micros }) => [sequence, balance_after_micros]),
    ledger.map(({ amount_micros }, index) => [index + 1, amount_micros * (index + 1)]),
  );
}

/** Whoever was killed has left reservations behind, which are released first. */
async function assertCountedOnce(store: Store, scans: Pick<ScanRecord, '_id' | 'reserved_by'>[]): Promise<void> {
  const reservedBy = new Map(scans.map(({ _id, reserved_by }) => [_id, reserved_by]));
  const countReserved = async (_: string, found: string[], madeBy: string) =>
    found.filter((id) => reservedBy.get(id) === madeBy).length;
  const parts = {
    allowances: allowanceStore(store),
    countReserved,
    isCreatingRun: async () => false,
    logger: createLogger('test', 'silent'),
  };
  await releaseAbandoned(parts, new Date(Date.now() + 3_600_000));
  const allowance = await store.collection<Allowance>('allowances').findOne({});
  const counted = Object.values(allowance?.months ?? {}).reduce((sum, checks) => sum + checks, 0);
  assert.equal(counted, scans.length, 'every check is counted once');
}

async function assertEventsOnce(store: Store, made: string[]): Promise<void> {
  const events = await store.collection<EventRecord>('events').find({}).sort({ scan_id: 1, sequence: 1 }).toArray();
  assert.deepEqual(
    events.map(({ scan_id, sequence, kind }) => [scan_id, sequence, kind]),
    made.map((id) => [id, 1, 'scanning.scan.completed']),
  );
}
