import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import sharp from 'sharp';
import type { ApiError } from '../../../src/http/api-error.ts';
import { QueueFull } from '../../../src/platform/bounded-queue.ts';
import type { FoundPicture } from '../../../src/scanning/artifacts/artifact.ts';
import { PicturePool } from '../../../src/scanning/artifacts/picture-pool.ts';
import { resizedSize } from '../../../src/scanning/artifacts/resize-screenshot.ts';
import { answerPicture } from '../../../src/scanning/artifacts/routes.ts';
import { itemsOf, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';
import { captureOf, sampleLandings } from '../../support/running-farm.ts';
import { sampleScan } from '../../support/sample-scan.ts';
import { storeCapture } from '../../support/store-capture.ts';

/** A picture whose upper half is red and whose lower half is blue. */
async function picture(width: number, height: number, format: 'webp' | 'jpeg'): Promise<Buffer> {
  const half = await sharp({ create: { width, height: Math.ceil(height / 2), channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const whole = sharp({ create: { width, height, channels: 3, background: 'blue' } }).composite([
    { input: half, top: 0, left: 0 },
  ]);
  return (format === 'webp' ? whole.webp({ lossless: true }) : whole.jpeg()).toBuffer();
}

describe('§4.3.3 screenshots', () => {
  let api: RunningApi;
  let streams: Readable[] = [];
  let stored: Buffer;
  let scanId: string;
  before(async () => {
    api = await runningApi();
    watchStreams();
    await show(800, 4000);
  });
  after(() => api.stop());

  /** Stores this picture as the screenshot of landings 0 and 1, and the JPEG `creative` as that of the creative. */
  async function show(width: number, height: number, format: 'webp' | 'jpeg' = 'webp', creative?: Buffer) {
    scanId = newId();
    stored = await picture(width, height, format);
    const names = [0, 1].map((ord) => `landing-${ord}.${format}`);
    const landings = sampleLandings(2).map((landing) => ({ ...landing, screenshot: names[landing.ord]! }));
    const files = names.map((name) => ({ name, bytes: stored }));
    if (creative) files.push({ name: 'creative.jpeg', bytes: creative });
    const capture = await storeCapture(api, scanId, captureOf([], { landings }), files);
    const ours = { _id: scanId, organization_id: ORGANIZATIONS.ours, outbox: [], capture };
    await api.scans.insertUnlessExists(sampleScan(ours));
  }

  /** Records every stream that is opened from now on. */
  function watchStreams(): void {
    const { get } = api.objects;
    api.objects.get = async (...of) => {
      const found = await get(...of);
      if (found) streams.push(found.stream);
      return found;
    };
  }

  const fetchPicture = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`http://127.0.0.1:${api.port}/api/v1/scans/${scanId}/${path}`, {
      headers: { authorization: 'Bearer key-of-our-organization', ...headers },
    });
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const sizeOf = async (path: string) => {
    const { bytes } = await fetchPicture(path);
    const { format, width, height } = await sharp(bytes).metadata();
    return [format, width, height];
  };

  test('are served as WebP in every size, also if they are stored as JPEG', async () => {
    await show(800, 4000, 'jpeg');
    const { answer } = await fetchPicture('screenshot');
    assert.equal(answer.headers.get('content-type'), 'image/webp');
    assert.deepEqual(await sizeOf('screenshot'), ['webp', 800, 4000]);
    assert.deepEqual(await sizeOf('screenshot?w=400'), ['webp', 400, 1000]);
    const again = await fetchPicture('screenshot', { 'If-None-Match': answer.headers.get('etag') ?? '' });
    assert.equal(again.answer.status, 304);
    assert.ok(streams.every((stream) => stream.destroyed));
    await show(300, 200, 'jpeg');
    assert.deepEqual(await sizeOf('screenshot?w=1200'), ['webp', 300, 200]);
    await show(800, 4000);
  });

  test('a stored WebP picture is streamed unchanged if the request has no w', async () => {
    const { answer, bytes } = await fetchPicture('screenshot');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'image/webp');
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(answer.headers.get('cache-control'), 'private, max-age=3600');
    assert.equal(answer.headers.get('vary'), 'Authorization');
    assert.equal(answer.headers.get('content-length'), String(stored.length));
    assert.ok(bytes.equals(stored));
  });

  test('§4.3.3 §4.3.4 w resizes a screenshot and crops it at the bottom to 2.5 times its width', async () => {
    assert.deepEqual(await sizeOf('screenshot?w=400'), ['webp', 400, 1000]);
    const { bytes } = await fetchPicture('screenshot?w=100');
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
    assert.deepEqual([info.width, info.height], [100, 250]);
    const last = data.subarray(data.length - info.channels);
    assert.ok((last[0] ?? 0) > 200 && (last[2] ?? 255) < 60, 'the last row shows the top of the page, which is red');
  });

  test('§4.3.3 a picture is never enlarged', async () => {
    await show(300, 200);
    assert.deepEqual(await sizeOf('screenshot?w=1200'), ['webp', 300, 200]);
    await show(300, 2000);
    assert.deepEqual(await sizeOf('screenshot?w=1200'), ['webp', 300, 750]);
    await show(800, 4000);
  });

  test('§4.3.3 §8.1 w must be an integer from 100 to 1200', async () => {
    for (const [w, type] of [
      ['99', 'greater_than_equal'],
      ['1201', 'less_than_equal'],
      ['400.5', 'int_type'],
      ['big', 'int_type'],
      ['', 'int_type'],
      ['100&w=200', 'int_type'],
    ])
      assert.deepEqual(itemsOf(await api.get(`/api/v1/scans/s/screenshot?w=${w}`)), [`query.w ${type}`], w);
  });

  test('§4.3.4 a resized creative is not cropped', async () => {
    await show(800, 4000, 'webp', await picture(800, 4000, 'jpeg'));
    assert.deepEqual(await sizeOf('creative-screenshot?w=400'), ['webp', 400, 2000]);
    assert.deepEqual(await sizeOf('creative-screenshot?w=1200'), ['webp', 800, 4000]);
    await show(800, 4000);
  });

  test('§4.3.5 the HTML of a creative is served as plain text, and browsers must not sniff its type', async () => {
    const markup = Buffer.from('<script>alert(1)</script>');
    const picturesOnly = scanId;
    scanId = newId();
    const capture = await storeCapture(api, scanId, captureOf([]), [{ name: 'creative.html', bytes: markup }]);
    const ours = { _id: scanId, organization_id: ORGANIZATIONS.ours, outbox: [], capture };
    await api.scans.insertUnlessExists(sampleScan(ours));
    const { answer, bytes } = await fetchPicture('creative-html');
    assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(answer.headers.get('content-security-policy') ?? '', /sandbox/);
    assert.ok(bytes.equals(markup));
    const etag = answer.headers.get('etag') ?? '';
    assert.equal((await fetchPicture('creative-html', { 'if-none-match': etag })).answer.status, 304);
    scanId = picturesOnly;
    assert.equal((await fetchPicture('creative-html')).answer.status, 404);
  });

  test('§4.3.2 the screenshot of a landing is found by its ordinal; one that does not exist gives 404', async () => {
    assert.deepEqual(await sizeOf('landings/1/screenshot?w=200'), ['webp', 200, 500]);
    const landings = [2, 999, 1_000, 999_999_999_999_999].map((ord) => `landings/${ord}/screenshot`);
    for (const path of [...landings, 'creative-screenshot', 'vast-xml'])
      assert.equal((await fetchPicture(path)).answer.status, 404, path);
    assert.deepEqual(itemsOf(await api.get('/api/v1/scans/s/landings/x/screenshot')), [
      'path.ord string_pattern_mismatch',
    ]);
  });

  test('an ETag differs by width and, if it matches, gives 304 and opens no file', async () => {
    const tags = await Promise.all(
      ['screenshot', 'screenshot?w=400', 'screenshot?w=200'].map(async (path) => {
        const { answer } = await fetchPicture(path);
        return [path, answer.headers.get('etag') ?? ''] as const;
      }),
    );
    assert.equal(new Set(tags.map(([, etag]) => etag)).size, 3);
    streams = [];
    for (const [path, etag] of tags) {
      const { answer, bytes } = await fetchPicture(path, { 'if-none-match': etag });
      assert.equal(answer.status, 304, path);
      assert.equal(bytes.length, 0);
    }
    assert.deepEqual(streams, []);
  });

  test('HEAD is answered without the picture and leaves no file open', async () => {
    streams = [];
    const answer = await api.call('HEAD', `/api/v1/scans/${scanId}/screenshot`);
    assert.equal(answer.status, 200);
    assert.equal(answer.text, '');
    assert.deepEqual(
      streams.map(({ destroyed }) => destroyed),
      [true],
    );
  });

  test('a stored file that is not what its header says gives 404, as if no picture had been taken', async () => {
    const { get } = api.objects;
    await show(810, 4000);
    const headerAlone = stored.subarray(0, 64);
    const smaller = await picture(100, 100, 'webp');
    for (const bytes of [Buffer.from('RIFF not a picture'), headerAlone, smaller]) {
      api.objects.get = async (...of) => {
        const found = await get(...of);
        found?.stream.destroy();
        return found && { ...found, stream: Readable.from([bytes]) };
      };
      const { status, body } = await api.get(`/api/v1/scans/${scanId}/screenshot?w=400`);
      assert.deepEqual([status, body.code], [404, 'not_found']);
    }
    api.objects.get = get;
  });

  test('the size of a resized screenshot is calculated from that of the original', () => {
    assert.deepEqual(resizedSize({ width: 1920, height: 945 }, { width: 400, isWhole: false }), {
      width: 400,
      height: 197,
      sourceHeight: 945,
    });
    assert.deepEqual(resizedSize({ width: 1000, height: 1 }, { width: 100, isWhole: false }), {
      width: 100,
      height: 1,
      sourceHeight: 1,
    });
    assert.deepEqual(resizedSize({ width: 412, height: 16_383 }, { width: 333, isWhole: false }), {
      width: 333,
      height: 832,
      sourceHeight: 1029,
    });
  });

  test("of 40 sizes at once none is refused, because an organization's requests beyond sixteen wait for these", async () => {
    await show(1_200, 1_800);
    const sizes = Array.from({ length: 40 }, (_, at) => fetchPicture(`screenshot?w=${300 + at}`));
    assert.ok((await Promise.all(sizes)).every(({ answer }) => answer.status === 200));
  });

  test('while too many pictures are being resized, another one is 503 with Retry-After', async () => {
    const pictures = new PicturePool();
    pictures.resize = () => Promise.reject(new QueueFull('too many tasks are waiting'));
    const picture = { width: 800, height: 600, sha256: '0'.repeat(64), content_type: 'image/webp' } as FoundPicture;
    const request = { headers: {}, socket: new EventEmitter() } as unknown as IncomingMessage;
    await assert.rejects(
      answerPicture(pictures, picture, { width: 400, isWhole: false }, request),
      (error: ApiError) => {
        assert.deepEqual([error.code, error.headers?.['Retry-After']], ['unavailable', '2']);
        return true;
      },
    );
  });
});
