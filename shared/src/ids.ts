import { createHash, randomBytes, randomUUID } from 'node:crypto';

/** A new record id: a random UUID, opaque to clients. */
export const newId = (): string => randomUUID();

/**
 * The id of a record that exists once per `id` and `number`: a UUID (version 8, RFC 9562) that depends on both alone.
 */
export function derivedId(id: string, number: number): string {
  const hex = createHash('sha256').update(`${id}/${number}`).digest('hex');
  const version = `8${hex.slice(13, 16)}`;
  const variant = `${'89ab'[Number.parseInt(hex.slice(16, 17), 16) % 4]}${hex.slice(17, 20)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), version, variant, hex.slice(20, 32)].join('-');
}

/** A new secret of `bytes` random bytes in base64url: report tokens (128 bits = 16 bytes), for example. */
export const newSecret = (bytes: number): string => randomBytes(bytes).toString('base64url');

/** A new API key: 256 random bits after a prefix that scanners for leaked secrets recognize. */
export const newApiKey = (): string => `adsw_${newSecret(32)}`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether `text` has the form of our ids. */
export const isId = (text: string): boolean => UUID.test(text);
