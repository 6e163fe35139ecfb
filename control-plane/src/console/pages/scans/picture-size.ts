import type { Readable } from 'node:stream';
import { webpSize } from '@adsweep/shared/capture/picture-size.ts';
import type { Answer } from '../../../http/route.ts';

/** The bytes of a WebP file in which its size is. */
const HEAD_BYTES = 30;

/** The size in pixels of a WebP picture (RFC 9649) that the API answers; null: it is none. */
export async function pictureSize(open: () => Promise<Answer>): Promise<{ width: number; height: number } | null> {
  const answer = await open().catch(() => null);
  if (answer?.status !== 200) return null;
  const { body } = answer;
  return webpSize(Buffer.isBuffer(body) ? body : await headOf(body as Readable));
}

async function headOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop destroys the stream.
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes >= HEAD_BYTES) break;
  }
  return Buffer.concat(chunks);
}
