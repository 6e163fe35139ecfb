import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { byteRange } from '../../../src/http/conditional-get.ts';
import { openDiskObjects } from '../../../src/platform/objects/disk-objects.ts';
import { KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';
import { captureOf } from '../../support/running-farm.ts';
import { sampleScan } from '../../support/sample-scan.ts';
import { storeCapture } from '../../support/store-capture.ts';

const VIDEO = Buffer.from(Array.from({ length: 1000 }, (_, at) => at % 256));

describe('the files of a creative', () => {
  let api: RunningApi;
  let scanId: string;
  let streams: Readable[] = [];
  before(async () => {
    api = await runningApi();
    const { get } = api.objects;
    api.objects.get = async (...of) => {
      const found = await get(...of);
      if (found) streams.push(found.stream);
      return found;
    };
    scanId = await scanWithVideo('video/webm');
  });

  /** Stores a scan with a video and a VAST document, but no HTML. `type`: the type that the video's server sent. */
  async function scanWithVideo(type: string): Promise<string> {
    const id = newId();
    const files = ['creative-video', 'vast.xml'].map((name) => ({ name, bytes: VIDEO, content_type: type }));
    const capture = await storeCapture(api, id, captureOf([]), files);
    const ours = { _id: id, organization_id: ORGANIZATIONS.ours, outbox: [], capture };
    await api.scans.insertUnlessExists(sampleScan(ours));
    return id;
  }
  after(() => api.stop());

  const fetchFile = async (path: string, headers: Record<string, string> = {}, key = KEYS.ours) => {
    const answer = await fetch(`http://127.0.0.1:${api.port}/api/v1/scans/${scanId}/${path}`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
    const { status, headers: received } = answer;
    return { status, header: (name: string) => received.get(name), bytes: Buffer.from(await answer.arrayBuffer()) };
  };

  test('§4.3.5 a video is served with the type that its server sent, a VAST document as XML, and neither can be rendered as a page', async () => {
    const video = await fetchFile('creative-video');
    assert.deepEqual([video.status, video.header('content-type')], [200, 'video/webm']);
    assert.ok(video.bytes.equals(VIDEO));
    const xml = await fetchFile('vast-xml');
    assert.equal(xml.header('content-type'), 'application/xml; charset=utf-8');
    for (const { header } of [video, xml]) {
      assert.equal(header('x-content-type-options'), 'nosniff');
      assert.equal(header('content-security-policy'), "default-src 'none'; sandbox");
      assert.equal(header('accept-ranges'), 'bytes');
      assert.equal(header('content-length'), '1000');
    }
  });

  test('§4.3.5 a video whose server sent a type other than audio or video is served as application/octet-stream', async () => {
    for (const claimed of ['text/html', 'video/mp4; x="\r\nX-Evil: 1', 'image/svg+xml', '', 'video/'])
      await withType(claimed, async () => {
        assert.equal((await fetchFile('creative-video')).header('content-type'), 'application/octet-stream', claimed);
      });
    for (const sent of ['Video/MP4', 'video/mp4; codecs="avc1.42E01E, mp4a.40.2"', 'video/mp4 ;charset=utf-8'])
      await withType(sent, async () => {
        assert.equal((await fetchFile('creative-video')).header('content-type'), 'video/mp4', sent);
      });
  });

  async function withType(other: string, act: () => Promise<void>): Promise<void> {
    const before = scanId;
    scanId = await scanWithVideo(other);
    await act();
    scanId = before;
  }

  test('§4.3.6 a range is answered with that part of the file, and one for another version with the whole file', async () => {
    const part = await fetchFile('creative-video', { range: 'bytes=100-199' });
    assert.deepEqual(
      [part.status, part.header('content-range'), part.header('content-length')],
      [206, 'bytes 100-199/1000', '100'],
    );
    assert.ok(part.bytes.equals(VIDEO.subarray(100, 200)));
    const tail = await fetchFile('creative-video', { range: 'bytes=-10' });
    assert.ok(tail.bytes.equals(VIDEO.subarray(990)));
    const etag = part.header('etag') ?? '';
    assert.equal((await fetchFile('creative-video', { range: 'bytes=0-0', 'if-range': etag })).status, 206);
    assert.equal((await fetchFile('creative-video', { range: 'bytes=0-0', 'if-range': '"another"' })).status, 200);
    assert.equal((await fetchFile('creative-video', { range: 'bytes=0-0,5-9' })).status, 200);
    const beyond = await fetchFile('creative-video', { range: 'bytes=1000-' });
    assert.deepEqual([beyond.status, beyond.header('content-range')], [416, 'bytes */1000']);
    assert.equal(JSON.parse(beyond.bytes.toString()).code, 'range_not_satisfiable');
  });

  test('§4.3.6 §4.3.2 a file gives 304 to a client that has it, and 404 if the scan has none', async () => {
    streams = [];
    const { header } = await fetchFile('creative-video');
    assert.equal((await fetchFile('creative-video', { 'if-none-match': header('etag') ?? '' })).status, 304);
    assert.equal((await api.call('HEAD', `/api/v1/scans/${scanId}/creative-video`)).status, 200);
    assert.equal((await fetchFile('creative-html')).status, 404);
    assert.equal((await fetchFile('creative-video', {}, KEYS.theirs)).status, 404);
    assert.equal((await api.get(`/api/v1/scans/${scanId}/creative-video`, { key: null })).status, 401);
    await until('no file to be open', () => streams.every(({ destroyed }) => destroyed));
  });

  test('§4.3.1 a file is no longer read when the client disconnects', async () => {
    const { get } = api.objects;
    const endless = new Readable({
      read() {
        this.push(Buffer.alloc(65_536));
      },
    });
    api.objects.get = async (...of) => {
      const found = await get(...of);
      return found && { ...found, stream: endless };
    };
    await api.store
      .collection<{ scan_id: string }>('artifacts')
      .updateMany({ scan_id: scanId }, { $set: { bytes: 2 ** 40 } });
    const leave = new AbortController();
    const headers = { authorization: `Bearer ${KEYS.ours}` };
    const url = `http://127.0.0.1:${api.port}/api/v1/scans/${scanId}/creative-video`;
    const answer = await fetch(url, { headers, signal: leave.signal });
    await answer.body!.getReader().read();
    leave.abort();
    await until('the reading to end', () => endless.destroyed);
    api.objects.get = get;
  });
});

test('§4.3.6 the Range header is parsed as RFC 9110 specifies', () => {
  const cases: [string | undefined, ReturnType<typeof byteRange>][] = [
    [undefined, 'whole'],
    ['bytes=0-', { start: 0, end: 99 }],
    ['bytes=10-19', { start: 10, end: 19 }],
    ['bytes= 10 - 19', { start: 10, end: 19 }],
    ['bytes=90-999999999999', { start: 90, end: 99 }],
    ['bytes=-1', { start: 99, end: 99 }],
    ['bytes=-500', { start: 0, end: 99 }],
    ['bytes=-0', 'none'],
    ['bytes=100-', 'none'],
    ['bytes=100-200', 'none'],
    ['bytes=20-10', 'whole'],
    ['bytes=-', 'whole'],
    ['bytes=0-1,4-5', 'whole'],
    ['lines=0-1', 'whole'],
    ['bytes=0x1-2', 'whole'],
    [`bytes=${'9'.repeat(400)}-`, 'whole'],
  ];
  for (const [header, range] of cases) assert.deepEqual(byteRange(header, 100), range, header);
  assert.equal(byteRange('bytes=0-', 0), 'none');
  assert.equal(byteRange('bytes=-1', 0), 'none');
});

test('a part of a stored object is read without the rest of it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'adsweep-ranges-'));
  const objects = await openDiskObjects(folder);
  await objects.put('scans/a/1/video', VIDEO);
  const stored = await objects.get('scans/a/1/video', { start: 5, end: 8 });
  assert.equal(stored?.bytes, 1000);
  assert.deepEqual(await buffer(stored!.stream), VIDEO.subarray(5, 9));
  await rm(folder, { recursive: true });
});
