import { createHash } from 'node:crypto';
import { type PassThrough, type Readable, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import {
  type ArtifactFormat,
  artifactKindOf,
  CAPTURED_ITEMS_BOUNDS,
  CONTENT_TYPES,
  hasItems,
  isItemOf,
  type PictureFormat,
} from '@adsweep/shared/capture/artifacts.ts';
import { jpegSize, webpSize } from '@adsweep/shared/capture/picture-size.ts';
import { PICTURE_PIXELS_MAX } from '@adsweep/shared/limits.ts';
import { JsonListReader, NotAJsonList } from '../../platform/json-list.ts';
import { ArtifactRefused } from './artifact.ts';

/** Maximum size of JSON after decompression, in bytes; limits decompression bombs. */
export const UNZIPPED_BYTES_MAX = 64 * 1024 * 1024;

/**
 * How to read the size in a picture of each format, and in how many of its first bytes: a JPEG can have large metadata
 * before it.
 */
const HEADERS = {
  webp: { bytes: 30, sizeIn: webpSize },
  jpeg: { bytes: 256 * 1024, sizeIn: jpegSize },
};

/**
 * Counts and hashes the bytes that pass through, and copies them to `inspected` until that is closed; fails with
 * {@link ArtifactRefused} above `bytesMax`.
 */
export class Measure extends Transform {
  bytes = 0;
  sha256 = '';
  readonly #bytesMax: number;
  readonly #inspected: PassThrough;
  readonly #hash = createHash('sha256');

  constructor(bytesMax: number, inspected: PassThrough) {
    super();
    this.#bytesMax = bytesMax;
    this.#inspected = inspected;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    this.#hash.update(chunk);
    if (this.bytes > this.#bytesMax) done(new ArtifactRefused(`an artifact has at most ${this.#bytesMax} bytes`, true));
    else this.#copy(chunk, () => done(null, chunk));
  }

  /** Calls `done` when `inspected` has room for more, or was closed. */
  #copy(chunk: Buffer, done: () => void): void {
    const proceed = () => {
      this.#inspected.off('drain', proceed).off('close', proceed);
      done();
    };
    if (this.#inspected.destroyed || this.#inspected.write(chunk)) proceed();
    else this.#inspected.on('drain', proceed).on('close', proceed);
  }

  override _flush(done: TransformCallback): void {
    this.sha256 = this.#hash.digest('hex');
    this.#inspected.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#inspected.destroy(error ?? undefined);
    done(error);
  }
}

/**
 * Returns type and size in pixels of an artifact. Throws {@link ArtifactRefused} if its content does not match its
 * name.
 */
export async function inspect(name: string, stream: Readable) {
  const kind = artifactKindOf(name);
  if (!kind) throw new ArtifactRefused('there is no artifact with this name');
  return { content_type: CONTENT_TYPES[kind.format], ...(await inspectors[kind.format](stream, name)) };
}

/** The inspection of each format; files that are not pictures have the size 0. */
const inspectors: Record<
  ArtifactFormat,
  (stream: Readable, name: string) => Promise<{ width: number; height: number }>
> = {
  jpeg: (stream) => inspectPicture(stream, 'jpeg'),
  webp: (stream) => inspectPicture(stream, 'webp'),
  gzipped_json: inspectGzip,
  text: inspectNothing,
  media: inspectNothing,
};

/** Reads only the header: a node's picture is not decoded before a client requests it in another size. */
async function inspectPicture(stream: Readable, format: PictureFormat) {
  const { bytes, sizeIn } = HEADERS[format];
  const size = sizeIn(await firstBytes(stream, bytes));
  if (!size || size.width === 0 || size.height === 0)
    throw new ArtifactRefused(`the artifact is not ${CONTENT_TYPES[format]}`);
  if (size.width * size.height > PICTURE_PIXELS_MAX) throw new ArtifactRefused('the picture has too many pixels', true);
  return size;
}

async function firstBytes(stream: Readable, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= most) break;
  }
  return Buffer.concat(chunks);
}

/**
 * Text and media may be any bytes: they are not parsed here, and they are served with headers that prevent content
 * sniffing.
 */
async function inspectNothing(stream: Readable) {
  stream.destroy();
  return { width: 0, height: 0 };
}

/**
 * Decompresses and validates each item without keeping the output. The event loop can run other work between chunks of
 * 16 KiB.
 */
async function inspectGzip(stream: Readable, name: string) {
  if (!hasItems(name)) throw new ArtifactRefused('there is no gzip archive with this name');
  const items = new JsonListReader({ ...CAPTURED_ITEMS_BOUNDS, accepts: isItemOf(name) });
  let bytes = 0;
  const check = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > UNZIPPED_BYTES_MAX) throw new ArtifactRefused('the artifact is too large when unzipped', true);
      items.push(chunk);
    }
    items.end();
  };
  await pipeline(stream, createGunzip(), check).catch((error: unknown) => {
    if (error instanceof NotAJsonList) throw new ArtifactRefused(`the artifact cannot be read: ${error.message}`);
    throw error instanceof ArtifactRefused ? error : new ArtifactRefused('the artifact is not a gzip archive');
  });
  return { width: 0, height: 0 };
}
