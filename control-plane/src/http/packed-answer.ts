import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

const [compress, decompress] = [promisify(zstdCompress), promisify(zstdDecompress)];

/** Shorter answers are stored as they are. */
const PACKED_FROM = 4_096;

/** JSON begins otherwise. */
const PACKED = 'zstd:';

/** Finds what an answer repeats of up to 64 MiB before it. */
const WINDOW_LOG = 26;
const options = (sent: Buffer) => ({ dictionary: sent });

/**
 * The stored form of an answer. A long one is compressed with the request that was `sent` as its dictionary: an answer
 * repeats what was sent, such as an ad tag of 0.5 MB, once for each scan, and who asks for it again has sent the same
 * request.
 */
export async function packAnswer(answer: string, sent: Buffer): Promise<string> {
  if (answer.length < PACKED_FROM) return answer;
  const { ZSTD_c_windowLog: windowLog } = constants;
  const packed = await compress(answer, { ...options(sent), params: { [windowLog]: WINDOW_LOG } });
  return PACKED + packed.toString('base64');
}

/** The answer of a stored form. */
export async function unpackAnswer(stored: string, sent: Buffer): Promise<string> {
  if (!stored.startsWith(PACKED)) return stored;
  return (await decompress(Buffer.from(stored.slice(PACKED.length), 'base64'), options(sent))).toString('utf8');
}
