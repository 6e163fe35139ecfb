import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { webpSize } from '../src/capture/picture-size.ts';

describe('WebP sizes', () => {
  const webp = (kind: string, ...tail: number[]) =>
    Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${kind}`, 'latin1'), Buffer.from(tail), Buffer.alloc(20)]);

  it('the size of a WebP image is read from each kind of header', () => {
    const lossy = webp('VP8 ', 0, 0, 0, 0, 0, 0, 0, 0x9d, 0x01, 0x2a, 0x56, 0x05, 0x79, 0x02);
    assert.deepEqual(webpSize(lossy), { width: 1366, height: 633 });
    const extended = webp('VP8X', 0, 0, 0, 0, 0, 0, 0, 0, 0x55, 0x05, 0, 0x78, 0x02, 0);
    assert.deepEqual(webpSize(extended), { width: 1366, height: 633 });
    const bits = (1366 - 1) | ((633 - 1) << 14);
    const lossless = webp('VP8L', 0, 0, 0, 0, 0x2f, bits & 255, (bits >> 8) & 255, (bits >> 16) & 255, bits >>> 24);
    assert.deepEqual(webpSize(lossless), { width: 1366, height: 633 });
  });

  it('the size of a WebP image is null for other files', () => {
    assert.equal(webpSize(Buffer.alloc(0)), null);
    assert.equal(webpSize(Buffer.from('not a picture of any kind, but long enough')), null);
  });
});
