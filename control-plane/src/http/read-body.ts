import type { IncomingMessage } from 'node:http';
import { addCount } from '@adsweep/shared/service/add-count.ts';
import { BodyTooLarge, readBytes } from '@adsweep/shared/service/read-bytes.ts';
import { pause } from '@adsweep/shared/service/time-slice.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { ApiError, refused } from './api-error.ts';

/** Maximum nesting: more than any body needs, and safe to traverse recursively. */
const DEPTH_MAX = 32;

/**
 * A larger body is read in several steps, each in its turn, so that other requests are served in between, however many
 * such bodies arrive at once.
 */
const LARGE_BYTES = 256 * 1024;

/** The maximum size of a body: bytes as sent, and values (members and elements, containers included). */
export type BodyBounds = { bytes: number; values: number };

/**
 * Whose arriving bodies are counted together, and how many bytes they may have in sum. `refusedMax`: once refused
 * bodies of more bytes than this have arrived in a minute, larger bodies are refused unread; absent: refused bodies are
 * not counted.
 */
export type BodyOwner = { id: string; bytesMax: number; refusedMax?: number; tooMany: string };

/** An organization, whichever of its keys it uses. */
export const organizationAsOwner = (id: string): BodyOwner => ({
  id,
  bytesMax: 32 * 1024 * 1024,
  tooMany: 'Your organization is sending too many large bodies at once.',
});

/** Callers without a name, such as nodes that register: their bodies are small. */
export const addressAsOwner = (address: string): BodyOwner => ({
  id: `address ${address}`,
  bytesMax: 256 * 1024 * 1024,
  tooMany: 'This address is sending too many large bodies at once.',
});

/**
 * A body of at most so many bytes is read also after too many others were refused: it costs little, and may say that an
 * attempt failed.
 */
const SMALL_BYTES = 16 * 1024;
const REFUSED_WITHIN_MS = 60_000;
/** As so many bytes a refused body counts at the least that is more than JSON: what is packed in it was unpacked. */
export const PACKED_BYTES_MIN = 2 * 1024 * 1024;

/**
 * Counts the bytes of arriving bodies by owner, so that many unfinished bodies of one owner cannot fill the memory, and
 * those of bodies that were refused once they had been read and parsed, so that nobody has us do only that. `now` in
 * ms.
 */
export class ArrivingBodies {
  readonly #bytes = new Map<string, number>();
  readonly #refused = new Map<string, { bytes: number; since: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Calls `read` and counts `bytes` for `owner` while it runs. Throws 429 if the total of the owner's bodies, or of its
   * refused ones, is too large.
   */
  async share<T>(owner: BodyOwner, bytes: number, read: () => Promise<T>): Promise<T> {
    const { id, bytesMax, refusedMax, tooMany } = owner;
    const arriving = (this.#bytes.get(id) ?? 0) + bytes;
    const refused = this.#refusedLately(id);
    if (refusedMax !== undefined && refused && refused.bytes > refusedMax && bytes > SMALL_BYTES)
      throw tooManyBodies(tooMany, refused.since + REFUSED_WITHIN_MS - this.#now());
    if (arriving > bytesMax) throw tooManyBodies(tooMany, 0);
    addCount(this.#bytes, id, bytes);
    try {
      return await read();
    } finally {
      addCount(this.#bytes, id, -bytes);
    }
  }

  /** Counts a body of the owner that was refused for its contents. */
  refused({ id, refusedMax }: BodyOwner, bytes: number): void {
    if (refusedMax === undefined) return;
    const { bytes: before, since } = this.#refusedLately(id) ?? { bytes: 0, since: this.#now() };
    this.#refused.set(id, { bytes: before + bytes, since });
    for (const other of [...this.#refused.keys()]) this.#refusedLately(other);
  }

  /** What was refused of an owner in its present minute; null: nothing. */
  #refusedLately(id: string): { bytes: number; since: number } | null {
    const refused = this.#refused.get(id);
    if (!refused || this.#now() - refused.since < REFUSED_WITHIN_MS) return refused ?? null;
    this.#refused.delete(id);
    return null;
  }
}

const tooManyBodies = (detail: string, waitMs: number): ApiError =>
  new ApiError('rate_limited', detail, { headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) } });

/** The maximum size of a request's body: its `Content-Length`, or without one the operation's limit. */
export const announcedBytes = ({ headers }: IncomingMessage, bytesMax: number): number =>
  Math.min(Number(headers['content-length'] ?? bytesMax), bytesMax);

/** Reads the bytes of a request's body. Throws 413 above `bounds.bytes` and 415 for a compressed body. */
export async function readBody(stream: IncomingMessage, bounds: Pick<BodyBounds, 'bytes'>): Promise<Buffer> {
  const encoding = stream.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new ApiError('unsupported_media_type', 'Send the body uncompressed.');
  return readBytes(stream, bounds.bytes).catch((error: unknown) => {
    throw error instanceof BodyTooLarge ? new ApiError('request_too_large', error.message) : error;
  });
}

/**
 * Parses JSON. Throws 422: `json_invalid` for invalid JSON (RFC 8259, UTF-8) or more than 32 levels of nesting,
 * `too_many_values` above `bounds.values`, and `string_unicode` for texts that are not well-formed Unicode. Size and
 * nesting are measured before it is parsed.
 */
export async function parseJson(bytes: Buffer, bounds: Pick<BodyBounds, 'values'>): Promise<unknown> {
  const isLarge = bytes.length > LARGE_BYTES;
  if (isLarge) await pause();
  const extent = jsonExtent(bytes, { values: bounds.values, depth: DEPTH_MAX });
  refuseExtent(extent, bounds.values);
  if (isLarge) await pause();
  const value = parse(bytes);
  if (isLarge) await pause();
  // Valid UTF-8 contains no lone surrogates; only an escape sequence can add one.
  const issues = extent.escapesSurrogates ? surrogateIssues(value) : [];
  if (issues.length > 0) throw refused(issues);
  return value;
}

/** Reads a request's body as JSON. Throws as `readBody` and `parseJson` do. */
export const readJson = async (stream: IncomingMessage, bounds: BodyBounds): Promise<unknown> =>
  parseJson(await readBody(stream, bounds), bounds);

function refuseExtent({ values, depth }: JsonExtent, valuesMax: number): void {
  if (depth > DEPTH_MAX) throw refusedBody('json_invalid', `The body is nested deeper than ${DEPTH_MAX} levels.`);
  if (values > valuesMax) throw refusedBody('too_many_values', `The body has more than ${valuesMax} values.`);
}

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) throw refusedBody('json_invalid', 'The body is empty: send JSON.');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refusedBody('json_invalid', 'The body is not valid UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refusedBody('json_invalid', `The body is not valid JSON: ${(error as Error).message}`);
  }
}

export function refusedBody(type: string, msg: string): ApiError {
  return refused([{ loc: ['body'], msg: msg.toWellFormed(), type, ctx: {} }]);
}

/** A value in a body: its last path element, and the node of the object or array that contains it. */
type JsonNode = { value: unknown; step: string | number; parent: JsonNode | null };

/** The texts and keys with lone surrogates, which cannot be stored unchanged. */
function surrogateIssues(body: unknown): Issue[] {
  const issues: Issue[] = [];
  const open: JsonNode[] = [{ value: body, step: 'body', parent: null }];
  for (let node = open.pop(); node; node = open.pop()) {
    const { value } = node;
    if (typeof value === 'string' && !value.isWellFormed()) issues.push(loneSurrogate(locOf(node)));
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      if (!key.isWellFormed()) issues.push(loneSurrogate([...locOf(node), key.toWellFormed()]));
      open.push({ value: member, step: Array.isArray(value) ? Number(key) : key, parent: node });
    }
  }
  return issues;
}

/** The path to a node; only built for nodes with an issue. */
function locOf(node: JsonNode): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let at: JsonNode | null = node; at; at = at.parent) steps.unshift(at.step);
  return steps;
}

function loneSurrogate(loc: (string | number)[]): Issue {
  return { loc, msg: 'The text is not well-formed Unicode (a lone surrogate).', type: 'string_unicode', ctx: {} };
}

/**
 * The size of a JSON text: an upper bound of the number of values (containers and their members), the depth of nesting,
 * and whether a string may contain a surrogate that is written as an escape sequence (`\ud800`).
 */
export type JsonExtent = { values: number; depth: number; escapesSurrogates: boolean };

const LETTER_U = 0x75;
const LETTER_D = 0x64;
const LOWER_CASE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Measures a JSON text (RFC 8259, UTF-8) by its structural characters outside of strings, in one pass over the bytes
 * and without parsing them: about 2 ms per MiB. Stops as soon as one of `bounds` is exceeded. Invalid JSON is measured
 * too.
 */
export function jsonExtent(bytes: Buffer, bounds: { values: number; depth: number }): JsonExtent {
  let values = 1;
  let depth = 0;
  let deepest = 0;
  let escapesSurrogates = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      while (++at < bytes.length && bytes[at] !== QUOTE) {
        if (bytes[at] !== BACKSLASH) continue;
        at++;
        if (bytes[at] === LETTER_U && (bytes[at + 1]! | LOWER_CASE) === LETTER_D) escapesSurrogates = true;
      }
    } else if (byte === COMMA) {
      values++;
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      values++;
      deepest = Math.max(deepest, ++depth);
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      depth--;
    }
    if (values > bounds.values || deepest > bounds.depth) break;
  }
  return { values, depth: deepest, escapesSurrogates };
}
