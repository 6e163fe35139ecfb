import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context, Middleware } from 'koa';

/** A response below this size fits into one packet either way. */
const BYTES_MIN = 1_400;
const COMPRESSIBLE = /^(?:text\/|application\/(?:json|javascript|xml)\b|image\/svg\+xml)/;

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

/** Both run in the thread pool. Higher qualities take several times as long and save a tenth more. */
const encoders = {
  br: (body: Buffer) => toBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body: Buffer) => toGzip(body, { level: 4 }),
};
type Encoding = keyof typeof encoders;
const ENCODINGS = ['br', 'gzip'] as const;

/** Compressed forms of bodies that a handler serves as the same Buffer each time. */
const kept = { br: new WeakMap<Buffer, Promise<Buffer>>(), gzip: new WeakMap<Buffer, Promise<Buffer>>() };

/**
 * Compresses texts of at least 1,400 bytes in 200 responses to GET and HEAD, for clients that accept `br` or `gzip`;
 * streams are sent as they are. Responses to other methods are never compressed, nor those with a cookie or
 * `no-transform`: if a response contains a secret, such as a new key, together with text that an attacker chooses, its
 * compressed length can reveal the secret (BREACH).
 */
export function compress(): Middleware {
  return async (context, next) => {
    await next();
    if (context.method !== 'GET' && context.method !== 'HEAD') return;
    if (context.status === 304) return keepWeakTag(context);
    const body = compressibleBody(context);
    if (!body) return;
    // Koa would serialize an object once more.
    if (body !== context.body) context.body = body;
    if (body.length < BYTES_MIN) return;
    context.vary('Accept-Encoding');
    // Clients list the encodings without preference, often gzip first; brotli is smaller.
    const encoding = ENCODINGS.find((name) => context.acceptsEncodings(name) === name);
    if (!encoding) return;
    const type = header(context, 'Content-Type');
    context.body = await encode(encoding, body);
    context.set({ 'Content-Type': type, 'Content-Encoding': encoding });
    const tag = header(context, 'ETag');
    // A strong tag would promise the same bytes in every encoding (RFC 9110 8.8.1).
    if (tag.startsWith('"')) context.set('ETag', `W/${tag}`);
  };
}

/** The body as bytes; null if it must not or need not be compressed. */
function compressibleBody(context: Context): Buffer | null {
  const isExcluded =
    context.status !== 200 ||
    context.res.hasHeader('Content-Encoding') ||
    context.res.hasHeader('Set-Cookie') ||
    header(context, 'Cache-Control').includes('no-transform') ||
    !COMPRESSIBLE.test(header(context, 'Content-Type'));
  if (isExcluded) return null;
  return bytesOf(context.body);
}

/** A header of the response; '' if it is not set. */
const header = ({ res }: Context, name: string): string => String(res.getHeader(name) ?? '');

/** A body as bytes, an object as JSON; null: none, or a stream. */
export function bytesOf(body: unknown): Buffer | null {
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === 'string') return Buffer.from(body);
  const isStream = typeof body === 'object' && body !== null && ('pipe' in body || 'getReader' in body);
  return body === null || body === undefined || isStream ? null : Buffer.from(JSON.stringify(body));
}

function encode(encoding: Encoding, body: Buffer): Promise<Buffer> {
  const before = kept[encoding].get(body);
  if (before) return before;
  const encoded = encoders[encoding](body);
  kept[encoding].set(body, encoded);
  return encoded;
}

/**
 * A 304 repeats the `Vary` and the ETag of the 200 that the client has: the weak tag if `If-None-Match` contains that.
 */
function keepWeakTag(context: Context): void {
  context.vary('Accept-Encoding');
  const tag = header(context, 'ETag');
  if (context.get('If-None-Match').includes(`W/${tag}`)) context.set('ETag', `W/${tag}`);
}
