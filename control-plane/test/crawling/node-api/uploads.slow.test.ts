import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, afterEach, before, describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ARTIFACT_BYTES_MAX } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { BODY_LIFETIME_MS } from '@adsweep/shared/limits.ts';
import sharp from 'sharp';
import { until } from '../../../../shared/test/support/until.ts';
import { bodyStore } from '../../../src/crawling/captures/body-store.ts';
import { attemptOf } from '../../../src/crawling/captures/capture-record.ts';
import { refusedWith } from '../../support/job-members.ts';
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

type SlowUpload = { status: Promise<number>; finish(): void; breakOff(): void };

/**
 * Starts an upload of `bytes`: the first ones are on disk, the others are sent by `finish`. `status` 0: there was no
 * response.
 */
async function slowUpload(lease: LeaseOfFirst, name: string, bytes: Uint8Array): Promise<SlowUpload> {
  const headers = { authorization: `Bearer ${lease.token}`, 'content-length': bytes.length };
  const sending = request(`${farm.baseUrl}/node/v1/leases/${lease.lease_id}/scans/${lease.scan_id}/artifacts/${name}`, {
    method: 'PUT',
    headers,
    agent: false,
  });
  const status = new Promise<number>((resolve) => {
    sending.on('response', (answer) => resolve(answer.resume().statusCode ?? 0)).on('error', () => resolve(0));
  });
  sending.write(bytes.subarray(0, 8));
  await until('the upload to begin', async () => (await farm.incoming()) > 0);
  return { status, finish: () => void sending.end(bytes.subarray(8)), breakOff: () => void sending.destroy() };
}

describe('an upload of a node', () => {
  it('is answered with its hash and size, and can be repeated', async () => {
    const lease = await farm.leased();
    const [first, second] = [await webp(10, 10), await webp(20, 20)];
    await farm.node.upload(lease, 'landing-0.webp', 'image/webp', first);
    const { sha256, bytes } = named('landing-0.webp', second);
    assert.deepEqual(await farm.node.upload(lease, 'landing-0.webp', 'text/html', second), {
      name: 'landing-0.webp',
      sha256,
      bytes,
    });
  });

  it('must be a WebP picture if its name says so', async () => {
    const lease = await farm.leased();
    const png = await sharp(await webp())
      .png()
      .toBuffer();
    const withoutWidth = Buffer.from(await webp());
    withoutWidth.writeUInt32LE(0, 26);
    const fakes = [
      png,
      withoutWidth,
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      Buffer.from('RIFF....WEBPVP8 '),
      Buffer.alloc(0),
    ];
    for (const fake of fakes)
      await assert.rejects(farm.node.upload(lease, 'landing-0.webp', 'image/webp', fake), refusedWith(422));
    assert.equal(await farm.store.collection('artifacts').countDocuments({ scan_id: lease.scan_id }), 0);
  });

  it('must be a JPEG picture if its name says so', async () => {
    const lease = await farm.leased();
    const jpeg = await sharp(await webp(12, 34))
      .withExif({ IFD0: { ImageDescription: 'x'.repeat(40_000) } })
      .jpeg()
      .toBuffer();
    await farm.node.upload(lease, 'landing-0.jpeg', 'text/html', jpeg);
    const stored = await farm.store.collection('artifacts').findOne({ scan_id: lease.scan_id });
    assert.deepEqual([stored?.width, stored?.height, stored?.content_type], [12, 34, 'image/jpeg']);
    const endless = Buffer.alloc(1024 * 1024, Buffer.from([0xff, 0xfe, 0x00, 0x02]));
    endless.writeUInt16BE(0xffd8);
    for (const fake of [await webp(), jpeg.subarray(0, 20), endless, Buffer.alloc(0)])
      await assert.rejects(farm.node.upload(lease, 'landing-1.jpeg', 'image/jpeg', fake), refusedWith(422));
  });

  it('must be gzip where its name says so, and no bomb', async () => {
    const lease = await farm.leased();
    const upload = (bytes: Buffer) => farm.node.upload(lease, 'documents.json.gz', 'application/gzip', bytes);
    await assert.rejects(upload(Buffer.from('[]')), refusedWith(422));
    await assert.rejects(upload(gzJson([]).subarray(0, 8)), refusedWith(422));
    const bomb = gzipSync(Buffer.alloc(70 * 1024 * 1024, ' '));
    assert.ok(bomb.length < 200_000);
    await assert.rejects(upload(bomb), refusedWith(413));
    await upload(gzJson([]));
  });

  it('must be a list of what its name says, flat and short enough to be read, and is refused without being parsed whole', async () => {
    const lease = await farm.leased();
    const document = { landing: 0, frame: '', url: 'https://shop.example/', title: 'A page', text: '', html: '' };
    const body = { url: document.url, resource_type: 'script', content_type: '', bytes: 4, text: null };
    const nested = gzipSync(Buffer.concat([Buffer.from('[[]'), Buffer.alloc(60_000_000, ',[]'), Buffer.from(']')]));
    const insideItem = `[{"text":${'['.repeat(30_000_000)}`;
    const bad: Record<string, Buffer> = {
      '60 MB of lists': nested,
      'lists in an item': gzipSync(insideItem),
      'an object': gzJson(document),
      'a text': gzJson('documents'),
      'a list of null': gzJson([null]),
      'a list of texts': gzJson(['a', 'b']),
      'no JSON': gzipSync('[{"landing":0,}]'),
      'half a list': gzipSync('[{}'),
      'two lists': gzipSync('[][]'),
      'no input': gzipSync(''),
      'a field of another type': gzJson([{ ...document, html: 1 }]),
      'a missing field': gzJson([{ ...document, title: undefined }]),
      'a field with a list': gzJson([{ ...document, more: [] }]),
      'an item of 10 MB': gzJson([{ ...document, html: 'x'.repeat(10_000_000) }]),
      'many fields': gzJson([{ ...document, ...Object.fromEntries(Array.from({ length: 40 }, (_, at) => [at, 0])) }]),
      'many items': gzJson(Array.from({ length: 5_001 }, () => document)),
    };
    const upload = (name: string, bytes: Buffer) => farm.node.upload(lease, name, 'application/gzip', bytes);
    const before = process.memoryUsage().rss;
    for (const [what, bytes] of Object.entries(bad))
      await assert.rejects(upload('documents.json.gz', bytes), refusedWith(422), what);
    await assert.rejects(upload('bodies.json.gz', nested), refusedWith(422));
    await assert.rejects(upload('bodies.json.gz', gzJson([document])), refusedWith(422));
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 300e6, `${grown} bytes`);
    const unusual = { ...document, title: '\u0000 "\\" ]}[{,', html: '€'.repeat(1_000_000), newer: null };
    await upload('documents.json.gz', gzipSync(` [ ${JSON.stringify(unusual)}\n, ${JSON.stringify(document)} ] `));
    await upload('bodies.json.gz', gzJson([body, { ...body, text: '{' }]));
  });

  it('has at most 32 MiB, with or without a Content-Length', async () => {
    const lease = await farm.leased();
    const large = randomBytes(ARTIFACT_BYTES_MAX + 1);
    await assert.rejects(farm.node.upload(lease, 'bodies.json.gz', 'application/gzip', large));
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(large);
        controller.close();
      },
    });
    const headers = { authorization: `Bearer ${lease.token}` };
    const path = `/leases/${lease.lease_id}/scans/${lease.scan_id}/artifacts/bodies.json.gz`;
    const sent = await send(path, { method: 'PUT', headers, body: stream, duplex: 'half' } as RequestInit).catch(
      () => null,
    );
    assert.ok(sent === null || sent.status === 413);
    assert.equal(await farm.store.collection('artifacts').countDocuments({ scan_id: lease.scan_id }), 0);
    assert.deepEqual(await farm.objectsOf(lease), []);
  });

  it('must have one of the known names', async () => {
    const lease = await farm.leased();
    for (const name of [
      'index.html',
      '..%2f..%2fx.webp',
      '../x.webp',
      'landing-0.webp%00',
      'landing-1000.webp',
      'requests.json.gz',
    ])
      await assert.rejects(farm.node.upload(lease, name, 'image/webp', await webp()), NodeApiError, name);
  });

  it(`is at most ${JOB_LIMITS.page.artifacts} files`, async () => {
    const lease = await farm.leased();
    const picture = await webp(2, 2);
    for (let ord = 0; ord < JOB_LIMITS.page.artifacts; ord += 1)
      await farm.node.upload(lease, `landing-${ord}.webp`, 'image/webp', picture);
    await assert.rejects(farm.node.upload(lease, 'landing-900.webp', 'image/webp', picture), refusedWith(422));
    await farm.node.upload(lease, 'landing-0.webp', 'image/webp', picture);
  });

  it(`is at most ${JOB_LIMITS.page.artifacts} files, also of uploads at the same time`, async () => {
    const lease = await farm.leased();
    const picture = await webp(2, 2);
    const uploads = Array.from({ length: 150 }, (_, ord) =>
      farm.node.upload(lease, `landing-${ord}.webp`, 'image/webp', picture),
    );
    const outcomes = await Promise.allSettled(uploads);
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    for (const error of refused) refusedWith(422)(error);
    const stored = await farm.store.collection('artifacts').countDocuments({ scan_id: lease.scan_id });
    assert.ok(stored <= JOB_LIMITS.page.artifacts, `${stored} files`);
    assert.equal(stored, outcomes.length - refused.length);
    assert.equal((await farm.objectsOf(lease)).length, stored);
  });

  it('is removed if no capture names it: when its attempt ends, otherwise after an hour', async () => {
    const lease = await farm.leased();
    const [kept, unnamed] = [await webp(3, 3), await webp(4, 4)];
    await farm.node.upload(lease, 'landing-0.webp', 'image/webp', kept);
    await farm.node.upload(lease, 'landing-1.webp', 'image/webp', unnamed);
    await complete(lease, captureOf(['https://shop.example/'], { artifacts: [named('landing-0.webp', kept)] }));
    const names = async (scanId: string) =>
      (await farm.store.collection('artifacts').find({ scan_id: scanId }).toArray()).map((one) => one.name);
    assert.deepEqual((await names(lease.scan_id)).sort(), ['landing-0.webp']);

    const forgotten = await farm.leased();
    await farm.node.upload(forgotten, 'landing-0.webp', 'image/webp', kept);
    await farm.sweepAll(new Date(Date.now() + 59 * 60_000));
    assert.deepEqual(await names(forgotten.scan_id), ['landing-0.webp']);
    await farm.sweepAll(new Date(Date.now() + 61 * 60_000));
    assert.deepEqual(await names(forgotten.scan_id), []);
    assert.ok((await names(lease.scan_id)).includes('landing-0.webp'), 'what was accepted stays');
  });

  for (const [ending, end] of [
    ['comes to its end', (late: SlowUpload) => late.finish()],
    ['breaks off', (late: SlowUpload) => late.breakOff()],
  ] as const)
    it(`is not replaced after it was accepted when an earlier upload of the same name ${ending} too late`, async () => {
      const lease = await farm.leased();
      const [accepted, other] = [await webp(3, 3), await webp(4, 4)];
      const late = await slowUpload(lease, 'landing-0.webp', other);
      await farm.node.upload(lease, 'landing-0.webp', 'image/webp', accepted);
      await complete(lease, captureOf(['https://shop.example/'], { artifacts: [named('landing-0.webp', accepted)] }));
      await end(late);
      assert.notEqual(await late.status, 200);
      await until('the late bytes to be gone', async () => (await farm.objectsOf(lease)).length === 1);
      const { artifacts } = farm.farm.dependencies;
      await farm.sweepAll(new Date(Date.now() + 61 * 60_000));
      const { capture } = await farm.read(lease.scan_id);
      assert.ok(capture);
      const stored = await artifacts.find(attemptOf(capture.id), 'landing-0.webp');
      assert.deepEqual(await buffer((await stored!.read())!), Buffer.from(accepted));
    });

  it('can be sent twice at the same time', async () => {
    const lease = await farm.leased();
    const picture = await webp(5, 5);
    const upload = () => farm.node.upload(lease, 'landing-0.webp', 'image/webp', picture);
    await Promise.all([upload(), upload(), upload(), upload()]);
    assert.equal((await farm.objectsOf(lease)).length, 1);
    await complete(lease, captureOf(['https://shop.example/'], { artifacts: [named('landing-0.webp', picture)] }));
  });

  it('§8.2 §8.3 is kept for a day with all request URLs and the contents of sub-resources, and the scan keeps 200 requests', async () => {
    const lease = await farm.leased();
    const bodies = gzJson([]);
    await farm.node.upload(lease, 'bodies.json.gz', 'application/gzip', bodies);
    const requests = Array.from({ length: 1_000 }, (_, id) =>
      requestOf(id, { resource_type: id < 900 ? 'image' : 'script' }),
    );
    await complete(
      lease,
      captureOf(['https://shop.example/'], { requests, artifacts: [named('bodies.json.gz', bodies)] }),
    );
    const scan = await farm.read(lease.scan_id);
    const record = await farm.farm.dependencies.readCapture(scan);
    assert.equal(record?.requests_seen, 1_000);
    assert.equal(record?.capture.requests.length, 200);
    const { artifacts } = farm.farm.dependencies;
    const ref = attemptOf(record._id);
    const { requests: stored } = await bodyStore(artifacts).packed(ref, ['requests']);
    assert.equal(JSON.parse(gunzipSync(stored!).toString()).length, 1_000);
    await farm.sweepAll(new Date(Date.now() + BODY_LIFETIME_MS + 60_000));
    assert.deepEqual(await bodyStore(artifacts).packed(ref, ['requests']), { requests: null });
    assert.equal(await artifacts.find(ref, 'bodies.json.gz'), null);
  });
});
