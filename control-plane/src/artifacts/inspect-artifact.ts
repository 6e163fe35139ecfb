import { createHash } from 'node:crypto';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import sharp from 'sharp';
import { ArtifactRefused } from './artifact.ts';

/** Gzipped JSON may become this large, in bytes; a bomb ends there. */
export const UNZIPPED_BYTES_MAX = 64 * 1024 * 1024;

/** Passes bytes on while it counts and hashes them; fails with {@link ArtifactRefused} above `bytesMax`. */
export class Measure extends Transform {
  bytes = 0;
  sha256 = '';
  readonly #bytesMax: number;
  readonly #hash = createHash('sha256');

  constructor(bytesMax: number) {
    super();
    this.#bytesMax = bytesMax;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    this.#hash.update(chunk);
    if (this.bytes <= this.#bytesMax) done(null, chunk);
    else done(new ArtifactRefused(`an artifact has at most ${this.#bytesMax} bytes`, true));
  }

  override _flush(done: TransformCallback): void {
    this.sha256 = this.#hash.digest('hex');
    done();
  }
}

/** Type and size in pixels of an artifact called `name`. Throws {@link ArtifactRefused} where it is not what the name says. */
export async function inspect(name: string, stream: Readable) {
  if (name.endsWith('.webp')) return inspectPicture(await buffer(stream));
  await inspectGzip(stream);
  return { content_type: 'application/gzip', width: 0, height: 0 };
}

async function inspectPicture(bytes: Buffer) {
  const { format, width, height } = await readPicture(bytes);
  if (format !== 'webp') throw new ArtifactRefused('the artifact is no WebP picture');
  return { content_type: 'image/webp', width, height };
}

async function readPicture(bytes: Buffer) {
  try {
    return await sharp(bytes).metadata();
  } catch {
    return { format: 'none', width: 0, height: 0 };
  }
}

/** Unzips without keeping anything: a node's archive is opened for real only when someone reads it. */
async function inspectGzip(stream: Readable): Promise<void> {
  let bytes = 0;
  const count = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > UNZIPPED_BYTES_MAX) throw new ArtifactRefused('the artifact is too large when unzipped', true);
    }
  };
  await pipeline(stream, createGunzip(), count).catch((error: unknown) => {
    throw error instanceof ArtifactRefused ? error : new ArtifactRefused('the artifact is no gzip archive');
  });
}
