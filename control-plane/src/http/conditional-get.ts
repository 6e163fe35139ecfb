import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from './route.ts';

/** `answer` under `etag` (with its quotes), or 304 where the client has that one already (RFC 9110 13.1.2). */
export function conditional(headers: IncomingHttpHeaders, etag: string, answer: Answer): Answer {
  const tagged = { ...answer.headers, ETag: etag };
  return matches(headers['if-none-match'], etag) ? { status: 304, headers: tagged } : { ...answer, headers: tagged };
}

/** Whether `If-None-Match` names the tag: weakly compared, as the RFC asks. */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const bare = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => bare(tag) === bare(etag));
}
