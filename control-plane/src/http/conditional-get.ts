import type { IncomingHttpHeaders } from 'node:http';
import type { ByteRange } from '../platform/objects/object-store.ts';
import type { Answer } from './route.ts';

/** Adds `etag` (including its quotes) to `answer`; 304 if the client already has that version (RFC 9110 13.1.2). */
export function conditional(headers: IncomingHttpHeaders, etag: string, answer: Answer): Answer {
  const tagged = { ...answer.headers, ETag: etag };
  return matches(headers['if-none-match'], etag) ? { status: 304, headers: tagged } : { ...answer, headers: tagged };
}

/** Whether `If-None-Match` contains the tag, by weak comparison (RFC 9110 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const withoutWeakness = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => withoutWeakness(tag) === withoutWeakness(etag));
}

const SINGLE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * The byte range that a `Range` header requests of a representation of `bytes` bytes (RFC 9110, 14.2). `whole`: no
 * range, or one that a server may ignore: several ranges, another unit, invalid syntax. `none`: not satisfiable.
 */
export function byteRange(header: string | undefined, bytes: number): ByteRange | 'whole' | 'none' {
  const [, first = '', last = ''] = SINGLE.exec(header?.replaceAll(' ', '') ?? '') ?? [];
  if (first === '' && last === '') return 'whole';
  if (first === '')
    return Number(last) === 0 || bytes === 0 ? 'none' : { start: Math.max(0, bytes - Number(last)), end: bytes - 1 };
  const [start, end] = [Number(first), last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)];
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= bytes ? 'none' : { start, end };
}
