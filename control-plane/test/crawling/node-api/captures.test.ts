import assert from 'node:assert/strict';
import { type ClientRequest, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, afterEach, before, describe, it } from 'node:test';
import { ARTIFACT_BYTES_MAX } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { packCapture, SENT_FILES_BYTES_MAX } from '@adsweep/shared/lease/capture-with-files.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { CAPTURE_BYTES_MAX } from '@adsweep/shared/limits.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { attemptOf } from '../../../src/crawling/captures/capture-record.ts';
import { evidenceOf } from '../../../src/crawling/captures/present-evidence.ts';
import { parseLeaseId } from '../../../src/crawling/fleet/credentials.ts';
import { refusedWith } from '../../support/job-members.ts';
import { NODE_TOKEN } from '../../support/open-plane.ts';
import {
  captureOf,
  gzJson,
  named,
  type RunningFarm,
  requestOf,
  runningFarm,
  webp,
} from '../../support/running-farm.ts';
import type { LeaseOfFirst } from '../../support/simulated-node.ts';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

const complete = (lease: LeaseOfFirst, capture: unknown) => farm.node.complete(lease, capture as Capture);
const send = (path: string, init: RequestInit) => fetch(`${farm.baseUrl}/node/v1${path}`, init);

describe('a capture with its files in one request', () => {
  const rest = (lease: LeaseOfFirst) => `/leases/${lease.lease_id}/scans/${lease.scan_id}/complete-with-files`;
  const post = async (lease: LeaseOfFirst, body: Buffer) =>
    (
      await send(rest(lease), {
        method: 'POST',
        headers: { authorization: `Bearer ${lease.token}` },
        body: body as never,
      })
    ).status;

  it('is stored like one whose files were uploaded before, also if it is sent again, and at the same time', async () => {
    const lease = await farm.leased();
    const [picture, documents] = [await webp(), gzJson([])];
    const files = [
      { name: 'landing-0.webp', bytes: picture },
      { name: 'documents.json.gz', bytes: documents },
    ];
    const artifacts = [named('landing-0.webp', picture), named('documents.json.gz', documents, 'application/gzip')];
    const capture = captureOf(['https://shop.example/'], { artifacts });
    await Promise.all([1, 2].map(() => farm.node.completeWithFiles(lease, capture, files)));
    await farm.node.completeWithFiles(lease, capture, files);
    const scan = await farm.read(lease.scan_id);
    assert.equal(scan.status, 'crawled');
    const { artifacts: store, readCapture } = farm.farm.dependencies;
    const record = await readCapture(scan);
    assert.deepEqual(
      record?.artifacts.map(({ name, width }) => [name, width]),
      [
        ['landing-0.webp', 40],
        ['documents.json.gz', 0],
      ],
    );
    await farm.sweepAll(new Date(Date.now() + 2 * 60 * 60 * 1000));
    const stored = await store.find(attemptOf(record!._id), 'landing-0.webp');
    assert.deepEqual(await buffer((await stored!.read())!), picture);
  });

  it('may name files that were uploaded before as well', async () => {
    const lease = await farm.leased();
    const [picture, documents] = [await webp(), gzJson([])];
    await farm.node.upload(lease, 'documents.json.gz', 'application/gzip', documents);
    const artifacts = [named('landing-0.webp', picture), named('documents.json.gz', documents)];
    const capture = captureOf(['https://shop.example/'], { artifacts });
    await farm.node.completeWithFiles(lease, capture, [{ name: 'landing-0.webp', bytes: picture }]);
    const scan = await farm.read(lease.scan_id);
    assert.equal((await farm.farm.dependencies.readCapture(scan))?.artifacts.length, 2);
  });

  it('is refused, and nothing of it kept, if its files are not what it says', async () => {
    const lease = await farm.leased();
    const picture = await webp();
    const capture = captureOf(['https://shop.example/'], { artifacts: [named('landing-0.webp', picture)] });
    const file = (name: string, bytes: Buffer) => ({ name, bytes });
    const good = file('landing-0.webp', picture);
    const sent = (files: { name: string; bytes: Buffer }[], about: Capture = capture) =>
      farm.node.completeWithFiles(lease, about, files);
    const { artifact_bytes, artifacts } = JOB_LIMITS.page;
    assert.ok(artifact_bytes >= SENT_FILES_BYTES_MAX);
    await assert.rejects(sent([file('landing-0.webp', await webp(50, 50))]), refusedWith(422), 'another picture');
    await assert.rejects(sent([file('landing-0.webp', Buffer.from('text'))]), refusedWith(422), 'no picture');
    await assert.rejects(sent([]), refusedWith(422), 'a file is missing');
    await assert.rejects(sent([good, good]), refusedWith(422), 'a file twice');
    await assert.rejects(
      sent([good, file('documents.json.gz', gzJson([]))]),
      refusedWith(422),
      'a file it does not name',
    );
    await assert.rejects(sent([good, file('creative.jpeg', picture)]), refusedWith(422), 'a file that no page has');
    await assert.rejects(sent([good, file('requests.json.gz', gzJson([]))]), refusedWith(422), 'a file that is ours');
    const many = Array.from({ length: artifacts + 1 }, (_, ord) => file(`landing-${ord}.webp`, picture));
    await assert.rejects(sent(many), refusedWith(422), 'too many files');
    const large = file('landing-0.webp', Buffer.alloc(SENT_FILES_BYTES_MAX + CAPTURE_BYTES_MAX + 100_000));
    await assert.rejects(sent([large]), refusedWith(413), 'too large');
    await assert.rejects(sent([good], { ...capture, elapsed_ms: -1 }), refusedWith(422), 'an invalid capture');
    const body = packCapture((files) => JSON.stringify({ capture, files }), [good]);
    const refused = [
      body.subarray(0, body.length - 1),
      Buffer.concat([body, Buffer.from('x')]),
      body.subarray(0, 40),
      body.subarray(0, 3),
      Buffer.from('{"capture":{}}'),
      packCapture(() => 'null', [good]),
    ];
    for (const bytes of refused) assert.equal(await post(lease, bytes), 422);
    assert.deepEqual(await farm.objectsOf(lease), []);
    assert.equal((await farm.read(lease.scan_id)).status, 'running');
    await sent([good]);
  });

  it('is answered 409 under a lost lease, and nothing of it is kept', async () => {
    const lease = await farm.leased();
    const picture = await webp();
    await farm.node.release(lease);
    const capture = captureOf(['https://shop.example/'], { artifacts: [named('landing-0.webp', picture)] });
    const sending = farm.node.completeWithFiles(lease, capture, [{ name: 'landing-0.webp', bytes: picture }]);
    await assert.rejects(sending, refusedWith(409));
    assert.deepEqual(await farm.objectsOf(lease), []);
  });
});

describe('a capture', () => {
  it('must name only files that were uploaded under its lease, with their hashes', async () => {
    const other = await farm.leased();
    const picture = await webp();
    await farm.node.upload(other, 'landing-0.webp', 'image/webp', picture);
    const lease = await farm.leased();
    const artifacts = [named('landing-0.webp', picture)];
    const capture = captureOf(['https://shop.example/'], { artifacts });
    await assert.rejects(complete(lease, capture), refusedWith(422));
    await farm.node.upload(lease, 'landing-0.webp', 'image/webp', await webp(50, 50));
    await assert.rejects(complete(lease, capture), refusedWith(422));
    await farm.node.upload(lease, 'landing-0.webp', 'image/webp', picture);
    await assert.rejects(complete(lease, { ...capture, artifacts: [...artifacts, ...artifacts] }), refusedWith(422));
    await complete(lease, capture);
  });

  it('is refused if it contradicts itself', async () => {
    const lease = await farm.leased();
    const good = captureOf(['https://shop.example/']);
    const [landing] = good.landings;
    const facts = { via: 'play' as const, muted: false, volume: 1, started: true, has_audio: true };
    const observation = { kind: 'autosound' as const, landing: 0, url: '', facts };
    const bad: Record<string, unknown>[] = [
      { ...good, landings: [landing, landing] },
      { ...good, landings: [{ ...landing, screenshot: 'landing-0.webp' }] },
      { ...good, landings: [{ ...landing, screenshot: '../../etc/passwd' }] },
      { ...good, observations: [{ ...observation, facts: { ...facts, $where: 'x' } }] },
      { ...good, observations: [{ ...observation, facts: { ...facts, 'a.b': 'x' } }] },
      { ...good, observations: [{ ...observation, facts: { ...facts, volume: 'loud' } }] },
      { ...good, observations: [{ ...observation, kind: 'back_button' }] },
      { ...good, observations: [{ ...observation, facts: { ...facts, volume: undefined, loudness: 1 } }] },
      { ...good, extra: true },
      { ...good, landings: 'none' },
      { ...good, elapsed_ms: -1 },
      { ...good, elapsed_ms: 1e300 },
      { ...good, landings: [{ ...landing, opened_at_ms: Number.MAX_VALUE }] },
      { ...good, requests: [requestOf(0, { status_code: -1 })] },
      { ...good, requests: [requestOf(0, { timestamp_ms: 1e300 })] },
      { ...good, requests: Array.from({ length: 5_001 }, (_, id) => requestOf(id)) },
    ];
    for (const capture of bad)
      await assert.rejects(complete(lease, capture), refusedWith(422), JSON.stringify(capture).slice(0, 200));
    assert.equal((await farm.read(lease.scan_id)).status, 'running');
    await complete(lease, { ...good, observations: [observation] });
  });

  it('cannot report a longer crawl than its lease was held, so that the times of the scan add up', async () => {
    const lease = await farm.leased();
    await complete(lease, captureOf(['https://shop.example/'], { elapsed_ms: 3_600_000 }));
    const { capture, created_at } = await farm.read(lease.scan_id);
    assert.ok(capture && capture.crawl_ms <= Date.now() - created_at.getTime());
  });

  for (const said of ['2001-01-01T00:00:00.000Z', '2101-01-01T00:00:00.000Z', 'yesterday', ''])
    it(`began while its scan ran, although its node says '${said}'`, async () => {
      const lease = await farm.leased();
      await complete(lease, captureOf(['https://shop.example/'], { started_at: said }));
      const scan = await farm.read(lease.scan_id);
      const { created_at } = (await farm.farm.evidenceOf(scan)).landings[0]!;
      assert.ok(created_at >= scan.started_at! && created_at <= scan.crawled_at!, created_at.toISOString());
    });

  it('does not pass unknown fields of a hop on to clients', async () => {
    const lease = await farm.leased();
    const capture = captureOf(['https://shop.example/']);
    Object.assign(capture.landings[0]!.redirect_chain[0]!, { extra: '<script>' });
    await complete(lease, capture);
    const record = await farm.farm.dependencies.readCapture(await farm.read(lease.scan_id));
    assert.ok(record);
    assert.doesNotMatch(JSON.stringify(evidenceOf(record).landings), /extra/);
  });

  it('is stored up to the agreed size, and refused beyond it', async () => {
    const lease = await farm.leased();
    const withUrls = (length: number) =>
      captureOf(['https://shop.example/'], {
        requests: Array.from({ length: 190 }, (_, id) =>
          requestOf(id, { url: `https://x.example/${'a'.repeat(length)}` }),
        ),
      });
    await assert.rejects(complete(lease, withUrls(22_500)), refusedWith(413));
    const largest = withUrls(21_850);
    const bytes = Buffer.byteLength(JSON.stringify(largest));
    assert.ok(bytes <= CAPTURE_BYTES_MAX && bytes > CAPTURE_BYTES_MAX * 0.98, `${bytes} bytes`);
    await complete(lease, largest);
    const record = await farm.farm.dependencies.readCapture(await farm.read(lease.scan_id));
    assert.equal(record?.capture.requests.length, 190);
  });

  it('may contain text that is not well-formed Unicode, as hostile pages have it', async () => {
    const lease = await farm.leased();
    const capture = captureOf(['https://shop.example/']);
    capture.landings[0]!.page_title = 'half a pair: \ud83d, a zero: \0';
    await complete(lease, capture);
    assert.equal((await farm.read(lease.scan_id)).capture?.page_title, 'half a pair: \ufffd, a zero: \0');
  });
});

describe('a report whose body has not arrived', () => {
  const sending = new Set<ClientRequest>();
  afterEach(() => {
    for (const one of sending) one.destroy();
    sending.clear();
  });

  /**
   * Sends the head of a request that says it has `bytes`, and none of them. The status is 0 where the connection was
   * cut.
   */
  function announce({ lease_id, scan_id, token }: LeaseOfFirst, verb: string, bytes: number): Promise<number> {
    const path = `${farm.baseUrl}/node/v1/leases/${lease_id}/scans/${scan_id}/${verb}`;
    const headers = { authorization: `Bearer ${token}`, 'content-length': bytes };
    const method = verb.startsWith('artifacts') ? 'PUT' : 'POST';
    const one = request(path, { method, headers, agent: false });
    sending.add(one);
    one.flushHeaders();
    return new Promise((resolve) => {
      one.on('response', (answer) => resolve(answer.resume().statusCode ?? 0)).on('error', () => resolve(0));
    });
  }
  const LARGE = CAPTURE_BYTES_MAX;
  const acquireAs = async (node_id: string) => (await farm.node.acquire({ node_id, max: 1, wait_ms: 0 })).leases[0]!;

  it('is answered without it once its lease has ended, as the same report was', { timeout: 10_000 }, async () => {
    const [accepted, released] = [await farm.leased(), await farm.leased()];
    await complete(accepted, captureOf(['https://shop.example/']));
    await farm.node.release(released);
    for (const verb of ['complete', 'complete-with-files']) {
      assert.equal(await announce(accepted, verb, LARGE), 204);
      assert.equal(await announce(released, verb, LARGE), 409);
    }
    for (const lease of [accepted, released]) assert.equal(await announce(lease, 'fail', LARGE), 409);
    const members = { method: 'POST', headers: { authorization: `Bearer ${released.token}` }, body: '{' };
    assert.equal((await send(`/leases/${released.lease_id}/members`, members)).status, 409);
  });

  it('does not keep another node behind the same address from reporting', { timeout: 20_000 }, async () => {
    const refused: number[] = [];
    for (let lease = 0; lease < 10; lease += 1) {
      await farm.submit();
      const hostile = await acquireAs('hostile');
      for (let at = 0; at < 4; at += 1)
        void announce(hostile, 'complete-with-files', LARGE + SENT_FILES_BYTES_MAX).then((status) =>
          refused.push(status),
        );
    }
    await until('those beyond its share to be refused', () => refused.length > 0);
    assert.deepEqual([...new Set(refused)], [429]);
    await farm.submit();
    const honest = await acquireAs('honest');
    await complete(honest, captureOf(['https://shop.example/']));
    assert.equal((await farm.read(honest.scan_id)).status, 'crawled');
  });

  it('waits if it is a file and 32 others of the node are on their way, four of each lease', {
    timeout: 20_000,
  }, async () => {
    const answered: number[] = [];
    for (let at = 0; at < 10; at += 1) {
      await farm.submit();
      const lease = await acquireAs('many-files');
      for (let ord = 0; ord < 5; ord += 1)
        void announce(lease, `artifacts/landing-${ord}.jpeg`, ARTIFACT_BYTES_MAX).then((status) =>
          answered.push(status),
        );
    }
    await until('those that may to arrive', async () => (await farm.incoming()) >= 32);
    await farm.submit();
    await farm.node.upload(await acquireAs('honest'), 'landing-0.webp', 'image/webp', await webp());
    assert.deepEqual([await farm.incoming(), answered], [32, []]);
  });
});

it('a node whose large reports are refused again and again has no more of them read for a while, but can say that it failed', async () => {
  await farm.submit();
  const [lease] = (await farm.node.acquire({ node_id: 'broken', max: 1, wait_ms: 0 })).leases;
  const garbage = {
    method: 'POST',
    headers: { authorization: `Bearer ${lease!.token}` },
    body: Buffer.alloc(8_000_000, 255),
  };
  const path = `/leases/${lease!.lease_id}/scans/${lease!.scan_id}/complete-with-files`;
  const statuses: number[] = [];
  for (let at = 0; at < 12; at += 1) statuses.push((await send(path, garbage)).status);
  assert.deepEqual([...new Set(statuses)], [422, 429]);
  assert.ok(statuses.indexOf(429) < 10 && statuses.lastIndexOf(422) < statuses.indexOf(429), `${statuses}`);
  await farm.node.fail(lease!, { code: 'internal: ERROR', cause: 'the result was refused', capture: null });
  assert.notEqual((await farm.read(lease!.scan_id)).status, 'running');
});

describe('the node API', () => {
  it('accepts a node only with its own credential, and access to a lease only with its own token', async () => {
    const [one, two] = [await farm.leased(), await farm.leased()];
    const renew = (lease: LeaseOfFirst, token: string) =>
      send(`/leases/${lease.lease_id}/renew`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    assert.equal((await renew(one, one.token)).status, 200);
    for (const token of [two.token, NODE_TOKEN, '', `${one.token}x`])
      assert.equal((await renew(one, token)).status, 401);
    const forged = { ...one, lease_id: one.lease_id.slice(0, -1) };
    assert.equal((await renew(forged, one.token)).status, 401);
    const acquire = { method: 'POST', body: JSON.stringify({ node_id: 'n', max: 1, wait_ms: 0 }) };
    for (const token of [one.token, NODE_TOKEN, 'wrong', ''])
      assert.equal(
        (await send('/leases/acquire', { ...acquire, headers: { authorization: `Bearer ${token}` } })).status,
        401,
      );
  });

  it('reports what is wrong with a request', async () => {
    const bad = [
      { node_id: '../x', max: 1, wait_ms: 0 },
      { node_id: 'n', max: 0, wait_ms: 0 },
      { node_id: 'n', max: 1, wait_ms: 99_999 },
      { node_id: 'n', max: 1, wait_ms: 0, more: 1 },
    ];
    for (const request of bad) await assert.rejects(farm.node.acquire(request), refusedWith(422));
  });

  it('refuses malformed lease ids', () => {
    const jobId = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const parsed = { fence: 1767000000000001, jobId, organizationId: 'org-1' };
    assert.deepEqual(parseLeaseId(`1767000000000001.${jobId}.org-1`), parsed);
    for (const text of [
      '',
      'x',
      `2.${jobId}x.o`,
      `-2.${jobId}.o`,
      `9999999999999999.${jobId}.o`,
      `1.2.${jobId}.o`,
      `2.${jobId}`,
      `2.${jobId}.o.p`,
    ])
      assert.equal(parseLeaseId(text), null, text);
  });
});
