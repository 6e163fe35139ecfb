import { createHash, timingSafeEqual } from 'node:crypto';

/** The credential of an `Authorization: Bearer <credential>` header (RFC 6750), '' where there is none. */
export function bearerCredential(header: string | undefined): string {
  return /^bearer +([^\s]+) *$/i.exec(header ?? '')?.[1] ?? '';
}

/** Whether two secrets are equal, in a time that tells nothing about where they differ. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
