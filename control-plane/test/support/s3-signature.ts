import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const hashOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const CREDENTIAL =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/[^/]+\/s3\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Whether a request is signed with the key (AWS Signature Version 4), body included; otherwise the code of S3 for what
 * is wrong.
 */
export function signatureProblem(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer,
  key: { id: string; secret: string },
): string | null {
  const [, id, scope = '', signed = '', signature] = CREDENTIAL.exec(headers.authorization ?? '') ?? [];
  if (id !== key.id) return 'InvalidAccessKeyId';
  const claimed = String(headers['x-amz-content-sha256']);
  if (claimed !== hashOf(body)) return 'XAmzContentSHA256Mismatch';
  const { pathname, searchParams } = new URL(url, 'http://host');
  const query = [...searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`);
  const canonical = [method, pathname, query.join('&'), lines.join(''), signed, claimed].join('\n');
  const at = String(headers['x-amz-date']);
  if (!at.startsWith(scope.slice(0, 8)) || !signed.split(';').includes('host')) return 'AuthorizationHeaderMalformed';
  const signingKey = scope.split('/').reduce<Buffer | string>((last, part) => hmac(last, part), `AWS4${key.secret}`);
  const expected = hmac(signingKey, ['AWS4-HMAC-SHA256', at, scope, hashOf(canonical)].join('\n')).toString('hex');
  return expected === signature ? null : 'SignatureDoesNotMatch';
}
