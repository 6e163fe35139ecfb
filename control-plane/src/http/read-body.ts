import type { IncomingMessage } from 'node:http';
import { BodyTooLarge, readBytes } from '@adsweep/shared/service/read-bytes.ts';
import { ApiError, refused } from './api-error.ts';
import type { Issue } from './errors.ts';

/** Deeper nesting than any body here needs; JSON of this depth is safe to walk, compare and send back. */
const DEPTH_MAX = 32;

/**
 * The JSON of a request's body. Throws 413 above `bytesMax` bytes, 415 for a compressed body, 422 `json_invalid` for what is no JSON
 * (RFC 8259, UTF-8) or nested deeper than 32 levels, and `string_unicode` for texts that are not well-formed Unicode.
 */
export async function readJson(stream: IncomingMessage, bytesMax: number): Promise<unknown> {
  const encoding = stream.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new ApiError('unsupported_media_type', 'Send the body uncompressed.');
  const bytes = await readBytes(stream, bytesMax).catch((error: unknown) => {
    throw error instanceof BodyTooLarge ? new ApiError('request_too_large', error.message) : error;
  });
  const value = parse(bytes);
  const issues = textIssues(value);
  if (issues.length > 0) throw refused(issues);
  return value;
}

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) throw invalidJson('The body is empty; send JSON.');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidJson('The body is not valid UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(`The body is not valid JSON: ${(error as Error).message}`);
  }
}

function invalidJson(msg: string): ApiError {
  return refused([{ loc: ['body'], msg: msg.toWellFormed(), type: 'json_invalid', ctx: {} }]);
}

/** Texts and keys with lone surrogates, which cannot be stored as they were sent. Throws for nesting that is too deep. */
function textIssues(value: unknown): Issue[] {
  const issues: Issue[] = [];
  const open: { value: unknown; loc: (string | number)[] }[] = [{ value, loc: ['body'] }];
  for (let at = open.pop(); at; at = open.pop()) {
    if (at.loc.length > DEPTH_MAX) throw invalidJson(`The body is nested deeper than ${DEPTH_MAX} levels.`);
    const isText = typeof at.value === 'string';
    const keys = typeof at.value === 'object' && at.value !== null ? Object.keys(at.value) : [];
    if (isText && !(at.value as string).isWellFormed()) issues.push(loneSurrogate(at.loc));
    for (const key of keys) {
      if (!key.isWellFormed()) issues.push(loneSurrogate([...at.loc, key.toWellFormed()]));
      const step = Array.isArray(at.value) ? Number(key) : key;
      open.push({ value: Reflect.get(at.value as object, key), loc: [...at.loc, step] });
    }
  }
  return issues;
}

function loneSurrogate(loc: (string | number)[]): Issue {
  return { loc, msg: 'The text is not well-formed Unicode (a lone surrogate).', type: 'string_unicode', ctx: {} };
}
