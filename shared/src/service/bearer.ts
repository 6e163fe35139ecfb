import { hash, timingSafeEqual } from 'node:crypto';

/** The credential of an `Authorization: Bearer <credential>` header (RFC 6750), '' where there is none. */
export function bearerCredential(header: string | undefined): string {
  return /^bearer +([^\s]+) *$/i.exec(header ?? '')?.[1] ?? '';
}

/**
 * Whether `credential` is one of the secrets in a list separated by commas, in constant time. '' is none, whatever the
 * list says.
 */
export function isOneOfSecrets(credential: string, list: string): boolean {
  return list.split(',').filter((secret) => sameSecret(credential, secret)).length > 0 && credential !== '';
}

/** The secret of such a list that a client sends. */
export const firstSecret = (list: string): string => list.split(',')[0] ?? '';

/** Whether two secrets are equal, in constant time. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(a), digest(b));
}
