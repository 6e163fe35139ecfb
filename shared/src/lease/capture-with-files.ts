import { CAPTURE_BYTES_MAX } from '../limits.ts';
import type { CompleteWithFiles } from './messages.ts';

/** Bytes of the files that are sent together with their capture; larger ones are uploaded before it. */
export const SENT_FILES_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes for the fields of a request beside the capture and the files. */
export const ENVELOPE_BYTES = 64 * 1024;
/** The most bytes of the whole request. */
export const CAPTURE_WITH_FILES_BYTES_MAX = CAPTURE_BYTES_MAX + ENVELOPE_BYTES + SENT_FILES_BYTES_MAX;

/** The length of the JSON, big-endian, before it. */
const LENGTH_BYTES = 4;

/** A file and its content. */
export type SentFile = { name: string; bytes: Uint8Array };

/**
 * The body of a request with a capture and its files: the length of the JSON, the JSON, and the files one after the
 * other.
 */
export function packCapture(json: (files: CompleteWithFiles['files']) => string, files: readonly SentFile[]): Buffer {
  const head = Buffer.from(json(files.map(({ name, bytes }) => ({ name, bytes: bytes.length }))));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, ...files.map(({ bytes }) => bytes)]);
}

/** The JSON of such a body, and the content of all its files; null: it is shorter than it says. */
export function unpackCapture(body: Buffer): { json: Buffer; content: Buffer } | null {
  if (body.length < LENGTH_BYTES) return null;
  const end = LENGTH_BYTES + body.readUInt32BE();
  return end > body.length ? null : { json: body.subarray(LENGTH_BYTES, end), content: body.subarray(end) };
}

/** The files in `content`; null: it is not as long as they are together. */
export function filesIn(files: CompleteWithFiles['files'], content: Buffer): SentFile[] | null {
  let from = 0;
  const found = files.map(({ name, bytes }) => {
    const file = { name, bytes: content.subarray(from, from + bytes) };
    from += bytes;
    return file;
  });
  return from === content.length ? found : null;
}
