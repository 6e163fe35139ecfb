import type { Readable } from 'node:stream';
import type { Answer } from '../../../http/route.ts';

/** The bytes of a WebP file in which its size is. */
const HEAD_BYTES = 30;

/** The size in pixels of a WebP picture (RFC 9649) that the API answers; null: it is none. */
export async function pictureSize(open: () => Promise<Answer>): Promise<{ width: number; height: number } | null> {
  const answer = await open().catch(() => null);
  if (answer?.status !== 200) return null;
  const { body } = answer;
  return sizeInHead(Buffer.isBuffer(body) ? body : await headOf(body as Readable));
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

/** Reads the header of the lossy, the lossless or the extended format. */
export function sizeInHead(head: Buffer): { width: number; height: number } | null {
  if (head.length < HEAD_BYTES || head.toString('latin1', 8, 12) !== 'WEBP') return null;
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = head.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}
