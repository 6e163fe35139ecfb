import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Exit } from '@adsweep/shared/targeting/exit-ticket.ts';
import { Registry } from 'prom-client';
import { NO_QUOTAS, newOrganization } from '../../../src/accounts/organizations/organization.ts';
import { type CountDependencies, countingStep } from '../../../src/crawling/fleet/count-work.ts';
import { countSlots, nodeStateOf, slotsByState } from '../../../src/crawling/fleet/fleet-state.ts';
import type { ReportedNode } from '../../../src/crawling/fleet/nodes.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import type { PriorityClass } from '../../../src/crawling/queue/queue-shards.ts';
import { workMetrics } from '../../../src/metrics.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { type RunningApi, runningApi } from '../../support/running-api.ts';
import { sampleScan } from '../../support/sample-scan.ts';
import { REPORT } from '../../support/simulated-node.ts';

const EXIT: Exit = {
  provider: 'direct',
  exit_id: 'de-1',
  country_code: 'DE',
  proxy_type: 'residential',
  session: 'one',
  region: null,
  city: null,
  isp: null,
  ip: null,
  observed_country_code: null,
  asn: null,
};
const SEEN = new Date('2026-01-01T00:00:00.000Z');
const node = (id: string, changes: Partial<ReportedNode> = {}): ReportedNode => ({
  ...REPORT,
  id,
  instance: 'one',
  slots: 4,
  labels: {},
  overloaded: [],
  waits_for: [],
  seen_at: SEEN,
  ...changes,
});
const marks = (blocked: string[] = [], draining: string[] = []) => ({
  blocked: new Set(blocked),
  draining: new Set(draining),
});

describe('the counts of nodes and jobs', () => {
  it('are kept while counting fails for a minute, then removed but for the desired nodes, and set again afterwards', async () => {
    const registry = new Registry();
    let now = 0;
    let isDown = false;
    const none = { 0: 0, 1: 0, 2: 0 };
    const load = { waiting: { ...none, 1: 8 }, delayed: 0, leased: 0, capped: none, running: none };
    const dependencies: CountDependencies = {
      queue: {
        load: async () => ({ ...load, seconds: { 0: null, 1: null, 2: null } }),
        oldestWaiting: async () => ({ 0: 0, 1: 5, 2: 0 }),
      },
      fleet: {
        read: async () => {
          if (isDown) throw new Error('Redis is unavailable');
          return { nodes: [node('one')], marks: marks(), lastSlots: null };
        },
      },
      metrics: workMetrics(registry),
      logger: createLogger('test', 'silent'),
    };
    const step = countingStep(dependencies, () => now);
    const has = async (line: RegExp) => line.test(await registry.metrics());
    const [working, oldest] = [
      /^adsweep_nodes\{state="working"\} 1$/m,
      /^adsweep_crawl_jobs_oldest_seconds\{class="bulk"\} 5$/m,
    ];
    await step();
    assert.ok((await has(working)) && (await has(oldest)));
    isDown = true;
    now = 59_000;
    await assert.rejects(step);
    assert.ok(await has(working));
    now = 61_000;
    await assert.rejects(step);
    assert.ok(!(await has(/^adsweep_(nodes|fleet_slots|crawl_jobs|crawl_jobs_oldest_seconds)\{/m)));
    assert.ok(await has(/^adsweep_desired_nodes [1-9]/m));
    isDown = false;
    await step();
    assert.ok((await has(working)) && (await has(oldest)));
  });
});

describe('the state of a node', () => {
  const state = (changes: Partial<ReportedNode>, said = marks()) => nodeStateOf(node('one', changes), said);

  it('follows from its report and from the operator’s instructions', () => {
    assert.equal(state({}), 'working');
    assert.equal(state({ busy: 4 }), 'working');
    assert.equal(state({ overloaded: ['memory'], busy: 4 }), 'overloaded');
    assert.equal(state({ overloaded: ['cpu'], draining: true, busy: 1 }), 'draining');
    assert.equal(state({ waits_for: ['exits'], overloaded: ['memory'] }), 'waiting');
    assert.equal(state({ waits_for: ['browser'], draining: true }), 'drained');
    assert.equal(state({ draining: true, busy: 1 }), 'draining');
    assert.equal(state({ draining: true }), 'drained');
    assert.equal(state({ draining: true }, marks(['one'], ['one'])), 'blocked');
  });

  it('is draining from the instruction on, and drained only when the node reports that it takes no more work', () => {
    assert.equal(state({ busy: 0 }, marks([], ['one'])), 'draining');
    assert.equal(state({ busy: 0, draining: true }, marks([], ['one'])), 'drained');
  });

  it('determines whether its slots count', () => {
    const nodes = [node('one', { busy: 3 }), node('two', { busy: 2 }), node('three', { slots: 9, draining: true })];
    assert.deepEqual(countSlots(nodes, marks(['two'])), { slots: 4, busy: 3 });
  });

  it('determines which of its slots are free', () => {
    const nodes = [
      ...[node('one', { busy: 3 }), node('two', { busy: 2 }), node('three', { slots: 9, busy: 1, draining: true })],
      node('four', { busy: 1, overloaded: ['cpu'] }),
      node('five', { busy: 2, waits_for: ['exits'] }),
    ];
    assert.deepEqual(slotsByState(nodes, marks(['two'])), { busy: 7, free: 1, overloaded: 3, waiting: 2, draining: 8 });
  });
});

describe('the operations on the fleet', () => {
  let api: RunningApi;
  let [manager, reader]: [string, string] = ['', ''];
  before(async () => {
    api = await runningApi();
    [manager, reader] = [await api.keyThatMay('fleet.manage'), await api.keyThatMay('fleet.read')];
    const nodes = [
      node('a-1', { busy: 1, labels: { zone: 'eu-1' } }),
      node('a-1', { instance: 'two', draining: true, busy: 2 }),
      node('b-1', { slots: 8 }),
      node('b-2', { draining: true }),
    ];
    const { queue, nodes: reported, blocked, draining } = api.domains.crawling.dependencies;
    for (const { id, instance, seen_at: _, ...report } of nodes)
      await reported.report({ nodeId: id, instance }, report);
    await Promise.all([blocked.add('gone', SEEN), draining.add('b-2', SEEN)]);
    // Three jobs of `capped` are leased, which is its cap; five others wait beyond it.
    await api.accounts.organizations.insert(newOrganization({ _id: 'capped', name: 'capped' }, SEEN));
    await api.accounts.organizations.change('capped', { quotas: { ...NO_QUOTAS, concurrent_leases: 3 } }, []);
    await refill(api.domains.crawling.dependencies);
    const enqueue = (count: number, organizationId: string, priority: PriorityClass, delayMs = 0) =>
      queue.enqueueAll(
        Array.from({ length: count }, () => ({ jobId: crypto.randomUUID(), organizationId, priority, delayMs })),
      );
    await enqueue(3, 'capped', 0);
    assert.equal((await queue.take('a-1', 3, 256)).length, 3);
    await enqueue(5, 'capped', 1);
    for (const [count, priority] of [
      [3, 0],
      [3, 1],
      [1, 2],
    ] as const)
      await enqueue(count, 'free', priority);
    await enqueue(2, 'free', 0, 60_000);
  });
  after(() => api.stop());

  it('§4.6.1 show the queue, the nodes, and the slots of nodes that take work', async () => {
    const { status, body } = await api.get('/api/v1/fleet', { key: reader });
    assert.equal(status, 200);
    assert.deepEqual(body, {
      queue: { waiting_interactive: 3, waiting_bulk: 8, waiting_campaign: 1, capped: 5, delayed: 2, leased: 3 },
      nodes: { working: 2, overloaded: 0, waiting: 0, draining: 1, drained: 1, blocked: 0 },
      slots: { total: 12, busy: 1, free: 11 },
      desired_nodes: 1,
      blocked: ['gone'],
      draining: ['b-2'],
    });
  });

  it('§4.6.6 list the waiting and leased jobs of each organization, those with most waiting ones first', async () => {
    const list = async (query = '') => (await api.get(`/api/v1/fleet/queue${query}`, { key: reader })).body;
    const { items, total } = await list();
    assert.equal(total, 2);
    assert.deepEqual(items, [
      {
        organization_id: 'free',
        waiting_interactive: 3,
        waiting_bulk: 3,
        waiting_campaign: 1,
        leased: 0,
        concurrent_leases: null,
      },
      {
        organization_id: 'capped',
        waiting_interactive: 0,
        waiting_bulk: 5,
        waiting_campaign: 0,
        leased: 3,
        concurrent_leases: 3,
      },
    ]);
    assert.deepEqual((await list('?limit=1&page=2')).items, [items[1]]);
  });

  it('§4.6.8 list the exits that the scans of each organization used in the last hour, with their failures', async () => {
    const scans = api.store.collection<ScanRecord>('scans');
    const now = Date.now();
    const used = (minutesAgo: number, changes: Partial<ScanRecord> = {}, seen: Partial<Exit> = {}) =>
      sampleScan({
        _id: crypto.randomUUID(),
        organization_id: 'free',
        status: 'completed',
        country_code: 'DE',
        completed_at: new Date(now - minutesAgo * 60_000),
        exit: { ...EXIT, ...seen, attempts: 1 },
        ...changes,
      });
    await scans.insertMany([
      used(3, { error: 'proxy: UPSTREAM_FAILED', status: 'failed' }),
      used(2, {}, { verified: true, observed_country_code: 'FR' }),
      used(1, {}, { verified: true, observed_country_code: 'DE', ip: '192.0.2.7' }),
      used(1, { organization_id: 'capped' }),
      used(61),
      used(1, { exit: null }),
    ]);
    const { items, total } = (await api.get('/api/v1/fleet/exits', { key: reader })).body;
    assert.equal(total, 2);
    assert.partialDeepStrictEqual(items, [
      {
        organization_id: 'free',
        exit_id: 'de-1',
        scans: 3,
        failed: 1,
        mismatched: 1,
        verified: true,
        ip: '192.0.2.7',
        observed_country_code: 'DE',
        last_used_at: new Date(now - 60_000).toISOString(),
      },
      { organization_id: 'capped', scans: 1, failed: 0, mismatched: 0, verified: null },
    ]);
    assert.equal((await api.get('/api/v1/fleet/exits', { key: manager })).status, 403);
  });

  it('§4.6.2 list every process of every node, optionally in one state', async () => {
    const list = async (query: string) => (await api.get(`/api/v1/fleet/nodes${query}`, { key: reader })).body;
    const all = await list('');
    assert.deepEqual([all.total, all.pages], [4, 1]);
    assert.deepEqual(all.items[0], {
      id: 'a-1',
      instance: 'one',
      labels: { zone: 'eu-1' },
      state: 'working',
      ...{
        slots: 4,
        busy: 1,
        overloaded: [],
        waits_for: [],
        adsweep_version: 'test',
        browser_version: 'none',
        seen_at: all.items[0].seen_at,
      },
    });
    const ageMs = Date.now() - Date.parse(all.items[0].seen_at);
    assert.ok(ageMs < 60_000, `${ageMs} ms`);
    const ids = async (query: string) => (await list(query)).items.map(({ id, state }: typeof all) => [id, state]);
    assert.deepEqual(await ids('?limit=1&page=4'), [['b-2', 'drained']]);
    assert.deepEqual(await ids('?state=draining'), [['a-1', 'draining']]);
    assert.deepEqual(await ids('?state=blocked'), []);
    assert.equal((await api.get('/api/v1/fleet/nodes?state=asleep', { key: reader })).status, 422);
  });

  it('§4.6.3 block, unblock, drain and undrain a node by name with a key that may manage the fleet', async () => {
    const named = async () => {
      const { blocked, draining } = (await api.get('/api/v1/fleet', { key: reader })).body;
      return [blocked.includes('host-1.example'), draining.includes('host-1.example')];
    };
    for (const [verb, after] of [
      ['block', [true, false]],
      ['unblock', [false, false]],
      ['drain', [false, true]],
      ['undrain', [false, false]],
    ] as const) {
      const path = `/api/v1/fleet/nodes/host-1.example/${verb}`;
      const before = await named();
      assert.equal((await api.post(path, undefined, { key: reader })).status, 403);
      assert.deepEqual(await named(), before);
      const { status, headers } = await api.post(path, undefined, { key: manager });
      assert.deepEqual([status, headers.has('drain-until')], [204, verb === 'drain']);
      assert.deepEqual(await named(), after, verb);
    }
    assert.equal((await api.post('/api/v1/fleet/nodes/no%20name/drain', undefined, { key: manager })).status, 422);
  });

  it('§4.6.1 report that the queue is unavailable', async () => {
    await api.redis.kill();
    for (const path of ['/api/v1/fleet', '/api/v1/fleet/nodes']) {
      const { status, body } = await api.get(path, { key: reader });
      assert.deepEqual([status, body.code], [503, 'unavailable']);
    }
  });
});
