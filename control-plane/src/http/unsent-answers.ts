import { Readable } from 'node:stream';
import { HOUR_MS } from '@adsweep/shared/durations.ts';
import { addCount } from '@adsweep/shared/service/add-count.ts';
import type { Context, Middleware } from 'koa';
import { ApiError } from './api-error.ts';
import { bytesOf } from './compress.ts';
import type { RequestState } from './serve-routes.ts';

/**
 * `smallBytes`: answers up to this size have no bound. `ownerBytes`, `allBytes`: the total size of the answers, before
 * compression, that a client and all clients have not read yet. `waitMs` and `bytesPerMs`: a client has this long to
 * read an answer, and longer the larger it is.
 */
export type UnsentLimits = {
  smallBytes: number;
  ownerBytes: number;
  allBytes: number;
  waitMs: number;
  bytesPerMs: number;
};

const LONGEST_MS = HOUR_MS;

/** 32 bytes in a millisecond is a slow phone. */
const LIMITS: UnsentLimits = {
  smallBytes: 64 * 1024,
  ownerBytes: 64 * 1024 * 1024,
  allBytes: 256 * 1024 * 1024,
  waitMs: 30_000,
  bytesPerMs: 32,
};

/**
 * Bounds what clients that do not read hold: the total size of large answers (the organization's, or without one the
 * address'), and how long one may take to be read; then its connection is closed. A file is read from the disk as the
 * client reads it, so that only its time is bounded; event streams end otherwise.
 */
export function boundUnsent(limits: UnsentLimits = LIMITS): Middleware {
  const unsent = new UnsentBytes(limits);
  return async (context, next) => {
    await next();
    // The client has gone meanwhile: nothing would say again that the answer has ended.
    if (context.res.closed) return;
    const body = bytesOf(context.body);
    if (body && body !== context.body) context.body = body;
    const bytes = body?.length ?? fileBytes(context);
    if (bytes <= limits.smallBytes) return;
    const release = body ? unsent.take(ownerOf(context), bytes) : () => {};
    const ms = Math.min(limits.waitMs + bytes / limits.bytesPerMs, LONGEST_MS);
    const late = setTimeout(() => context.res.destroy(), ms);
    context.res.once('close', () => {
      clearTimeout(late);
      release();
    });
  };
}

/** The size of a file that is sent as a stream; 0: another body. */
const fileBytes = ({ body, res }: Context): number =>
  body instanceof Readable ? Number(res.getHeader('Content-Length') ?? 0) : 0;

type Owner = { name: string; isOrganization: boolean };

function ownerOf({ state, req }: Context): Owner {
  const { organizationId } = state as RequestState;
  return organizationId === undefined
    ? { name: req.socket.remoteAddress ?? '', isOrganization: false }
    : { name: organizationId, isOrganization: true };
}

/** The bytes of answers that clients have not read yet, in total and by owner. */
class UnsentBytes {
  readonly #limits: UnsentLimits;
  readonly #ofOwner = new Map<string, number>();
  #total = 0;

  constructor(limits: UnsentLimits) {
    this.#limits = limits;
  }

  /** Counts an answer until the returned function is called. Throws 429 or 503 if there are too many already. */
  take({ name, isOrganization }: Owner, bytes: number): () => void {
    const before = this.#ofOwner.get(name) ?? 0;
    // An answer larger than the limit is sent if it is the only one.
    if (before > 0 && before + bytes > this.#limits.ownerBytes) throw tooMany(isOrganization);
    if (this.#total > 0 && this.#total + bytes > this.#limits.allBytes) throw tooMany(false);
    this.#add(name, bytes);
    return () => this.#add(name, -bytes);
  }

  #add(name: string, bytes: number): void {
    this.#total += bytes;
    addCount(this.#ofOwner, name, bytes);
  }
}

function tooMany(isOrganization: boolean): ApiError {
  const headers = { 'Retry-After': '1' };
  return isOrganization
    ? new ApiError('rate_limited', 'Your organization is reading too many large responses at once.', { headers })
    : new ApiError('unavailable', 'Too many large responses are being read.', { headers });
}
