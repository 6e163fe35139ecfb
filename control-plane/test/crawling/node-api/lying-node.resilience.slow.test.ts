import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Acquired, Lease, NodeReport, Registered } from '@adsweep/shared/lease/messages.ts';
import { CAPTURE_BYTES_MAX } from '@adsweep/shared/limits.ts';
import { type Listening, listen } from '@adsweep/shared/service/listen.ts';

import fc from 'fast-check';
import { BSON } from 'mongodb';
import sharp from 'sharp';
import { until } from '../../../../shared/test/support/until.ts';
import type { LedgerEntry } from '../../../src/accounts/billing/ledger-entry.ts';
import { nodeApp } from '../../../src/compose/create-app.ts';
import { startLoops } from '../../../src/compose/roles.ts';
import { reap } from '../../../src/crawling/leases/reaper.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import { shardKeys } from '../../../src/crawling/queue/queue-shards.ts';
import type { Loop } from '../../../src/platform/start-loop.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { LIED_TO, type Lie, type LiedAbout, liesAbout, spoilt } from '../../support/lies.ts';
import { NODE_TOKEN } from '../../support/open-plane.ts';
import { PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';
import { webp } from '../../support/running-farm.ts';
import { REPORT } from '../../support/simulated-node.ts';

const SEED = Number(process.env.ADSWEEP_TEST_SEED ?? 20_261_123);
const RUNS = Number(process.env.ADSWEEP_TEST_RUNS ?? 8);

const { url, ...REST } = PAGE;
const TARGETS: Record<LiedAbout, object> = {
  url: { url },
  ad_tag: { ad_tag: '<script src="https://ads.example/tag.js"></script>' },
  vast_tag: { vast_tag: 'https://ads.example/vast.xml' },
  sweep: { url, ad_discovery: true, max_discovered_ads: 2 },
};
/** What clients and people read of a scan, after the path of the scan or of its report. */
const READS = ['', '/tags', '/creative-html', '/vast-xml', '/creative-video', '/children'];
const PICTURES = ['/screenshot?w=200', '/creative-screenshot?w=200', '/landings/0/screenshot?w=200'];

/** The most bytes of a stored record of a scan, of its artifacts together and of a node's report. */
const BOUNDS = { scan: 256 * 1024, capture: CAPTURE_BYTES_MAX, artifacts: 60, report: 8 * 1024 };

describe('a node that lies', () => {
  let api: RunningApi;
  let server: Listening;
  let loops: Loop[];
  let pictures: Buffer[];
  const accepted = new Set<string>();
  before(async () => {
    api = await runningApi();
    server = await listen('127.0.0.1', 0, 'ADSWEEP_NODE_API_PORT');
    server.serve(nodeApp({ ...api, readyChecks: [], metricsToken: NODE_TOKEN }).callback());
    loops = await startLoops(api.domains, ['checks', 'relay']);
    const jpeg = await sharp(await webp())
      .jpeg()
      .toBuffer();
    pictures = [jpeg, await webp(), Buffer.from('RIFF....WEBPVP8 ')];
  });
  after(async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await server.close(0);
    await api.stop();
  });

  /** A call of the node API; fails if the control plane answers with an error of its own. */
  async function call(method: string, path: string, credential: string, body?: BodyInit): Promise<Response> {
    const answer = await fetch(`http://127.0.0.1:${server.port}/node/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${credential}` },
      ...(body !== undefined && { body }),
    });
    assert.ok(answer.status < 500, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
    return answer;
  }

  async function tell({ lease_id, token, job }: Lease, lie: Lie): Promise<void> {
    const [lease, scan] = [`/leases/${lease_id}`, `/scans/${job.members[0]?.scan_id}`];
    const isOfScan = !['renew', 'alone', 'release', 'members'].includes(lie.call);
    const path = `${lease}${isOfScan ? scan : ''}`;
    const answer =
      'packed' in lie
        ? await call('POST', `${path}/${lie.call}`, token, lie.packed as never)
        : 'file' in lie
          ? await call('PUT', `${path}/artifacts/${encodeURIComponent(lie.file.name)}`, token, lie.file.bytes as never)
          : await call('POST', `${path}/${lie.call}`, token, 'body' in lie ? JSON.stringify(lie.body) : undefined);
    if (answer.ok) accepted.add(lie.call);
    await answer.bytes();
  }

  async function lease(kind: LiedAbout): Promise<Lease> {
    const created = await api.post('/api/v1/scans', { ...REST, ...TARGETS[kind] });
    assert.equal(created.status, 201, created.text);
    const leased = await acquire();
    assert.equal(leased.job.members[0]?.scan_id, created.body.id);
    return leased;
  }

  async function acquire(): Promise<Lease> {
    const registered = (await (
      await call('PUT', '/nodes/liar', NODE_TOKEN, JSON.stringify(REPORT))
    ).json()) as Registered;
    const request = JSON.stringify({ node_id: 'liar', max: 1, wait_ms: 5_000 });
    const answer = await call('POST', '/leases/acquire', registered.credential, request);
    const [leased] = ((await answer.json()) as Acquired).leases;
    assert.ok(leased, 'a lease');
    return leased;
  }

  const openOf = (job_id: string) =>
    api.store
      .collection<ScanRecord>('scans')
      .find({ job_id, status: { $in: ['pending', 'running'] } })
      .toArray();

  /** Sweeps with ads, and the ads, cannot be cancelled: a node fails them. */
  async function failAll(jobId: string): Promise<void> {
    const failure = JSON.stringify({ code: 'internal: ERROR', cause: '', capture: null });
    while ((await openOf(jobId)).length > 0) {
      const { lease_id, token, job } = await acquire();
      assert.equal(job.job_id, jobId);
      for (const { scan_id } of job.members)
        await call('POST', `/leases/${lease_id}/scans/${scan_id}/fail`, token, failure);
    }
  }

  const find = async (id: string): Promise<ScanRecord> => {
    const scan = await api.store.collection<ScanRecord>('scans').findOne({ _id: id });
    assert.ok(scan);
    return scan;
  };

  /** Which of these scans are refunded. A refund that is in no outbox any more is booked. */
  async function refundsOf(scans: ScanRecord[]): Promise<Set<string>> {
    const announced = scans.filter(({ outbox }) => outbox.some(({ kind }) => kind === 'refund'));
    const booked = await api.store
      .collection<LedgerEntry>('ledger_entries')
      .find({ _id: { $in: scans.map(({ _id }) => `refund:${_id}`) } })
      .toArray();
    return new Set([...announced.map(({ _id }) => _id), ...booked.map(({ _id }) => _id.replace('refund:', ''))]);
  }

  /** The node is silent from now on: what it has sent leads to an end. */
  async function endOf(id: string): Promise<ScanRecord> {
    // A lease that ends while it gets members leaves them without one: the refill adopts them.
    await refill({ ...api.domains.crawling.dependencies });
    await api.redis.client.zadd(shardKeys(0).leased, 'XX', 1, id);
    await reap({ ...api.domains.crawling.dependencies }, new Date());
    const scan = await until('the scan to be over, or to wait', async () => {
      const now = await find(id);
      return (now.status === 'pending' || now.completed_at !== null) && now;
    });
    const ads = await api.store.collection<ScanRecord>('scans').find({ parent_scan_id: id }).toArray();
    const refunded = await refundsOf(ads);
    const kept = ads.filter(({ _id }) => !refunded.has(_id));
    assert.ok(kept.length <= 2, `${kept.length} ads`);
    if (scan.found_ads) await failAll(id);
    if (scan.found_ads || scan.status !== 'pending') return find(id);
    await api.post(`/api/v1/scans/${id}/cancel`);
    const cancelled = await find(id);
    assert.equal(cancelled.status, 'cancelled');
    return cancelled;
  }

  async function assertReadable(scan: ScanRecord): Promise<void> {
    const report = `/r/${scan.report_token}`;
    const ofScan = [...READS, ...PICTURES].map((path) => `/api/v1/scans/${scan._id}${path}`);
    const paths = [...ofScan, report, ...PICTURES.map((path) => report + path), '/api/v1/scans?limit=5'];
    for (const path of paths) {
      const { status, text } = await api.get(path);
      assert.ok(status < 500 || status === 503, `${path}: ${status} ${text}`);
    }
  }

  async function assertBounded(scan: ScanRecord): Promise<void> {
    const of = (name: string) => api.store.collection(name).find({ scan_id: scan._id }).toArray();
    const [captures, artifacts] = [await of('captures'), await of('artifacts')];
    assert.ok(BSON.calculateObjectSize(scan) <= BOUNDS.scan, `a scan of ${BSON.calculateObjectSize(scan)} bytes`);
    for (const capture of captures) assert.ok(BSON.calculateObjectSize(capture) <= BOUNDS.capture);
    assert.ok(artifacts.length <= BOUNDS.artifacts + 1, 'and the file of requests');
  }

  const casesOf = () =>
    fc
      .constantFrom<LiedAbout>('url', 'ad_tag', 'vast_tag', 'sweep')
      .chain((kind) => liesAbout(kind, pictures).map((lies) => ({ kind, lies })));

  it('lies to every operation of the node API', () => {
    const operations = api.domains.crawling.routes['node-api'].map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(operations.toSorted(), LIED_TO.map((one) => one.replace(' ', ' /node/v1')).toSorted());
  });

  const timeout = 180_000 + RUNS * 2_000;
  it('about an attempt causes no error of ours, no scan without an end, and nothing that is stored beyond its bound', {
    timeout,
  }, async (t) => {
    t.diagnostic(`ADSWEEP_TEST_SEED=${SEED}`);
    const property = fc.asyncProperty(casesOf(), async ({ kind, lies }) => {
      const leased = await lease(kind);
      for (const together of lies) await Promise.all(together.map((lie) => tell(leased, lie)));
      const scan = await endOf(leased.job.job_id);
      await assertBounded(scan);
      await assertReadable(scan);
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
    assert.ok(
      ['complete', 'upload', 'complete-with-files'].every((one) => accepted.has(one)),
      `only accepted: ${[...accepted].join()}`,
    );
    assert.equal((await api.get('/healthz')).status, 200);
  });

  it('about itself is registered or refused, and what is kept of it is small', { timeout }, async (t) => {
    t.diagnostic(`ADSWEEP_TEST_SEED=${SEED}`);
    const labels = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`label_${at}`, 'x'.repeat(128)]));
    const largest: NodeReport = {
      ...REPORT,
      pool: 'pool',
      labels,
      overloaded: ['memory', 'cpu'],
      waits_for: ['exits', 'browser'],
    };
    const operator = await api.keyThatMay('fleet.read');
    const { enrolments } = api.domains.crawling.dependencies;
    const property = fc.asyncProperty(
      spoilt(largest),
      spoilt({ node_id: 'liar', max: 1, wait_ms: 0 }),
      spoilt({ sha256: 'a'.repeat(64) }),
      async (report, request, offered) => {
        const token = await enrolments.invite('enrolled-liar', new Date(Date.now() + 60_000));
        await call('POST', '/nodes/enrolled-liar/enrol', token, JSON.stringify(offered));
        await call('POST', '/nodes/enrolled-liar/rotate', token, JSON.stringify(offered));
        const answer = await call('PUT', '/nodes/liar', NODE_TOKEN, JSON.stringify(report));
        if (answer.ok) {
          const { credential } = (await answer.json()) as Registered;
          await call('POST', '/leases/acquire', credential, JSON.stringify(request));
        }
        for (const path of ['/api/v1/fleet', '/api/v1/fleet/nodes', '/api/v1/fleet/enrolments'])
          assert.equal((await api.get(path, { key: operator })).status, 200);
      },
    );
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
    for (const text of Object.values(await api.redis.client.hgetall('{nodes}:reports')))
      assert.ok(text.length <= BOUNDS.report, `${text.length}`);
  });
});
