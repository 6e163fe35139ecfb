import { createHmac } from 'node:crypto';
import { isId } from '@adsweep/shared/ids.ts';
import { sameSecret } from '@adsweep/shared/service/bearer.ts';
import type { LeaseRef } from '../queue/queue.ts';

/** `<shard>.<fence>.<scan id>`: everything a control plane needs to know of a lease, so that none has to remember it. */
export const leaseIdOf = ({ shard, fence, scanId }: LeaseRef): string => `${shard}.${fence}.${scanId}`;

const LEASE_ID = /^(\d{1,4})\.(\d{1,16})\.([0-9a-f-]{36})$/;

/** What a lease id says, or null for what is none. */
export function parseLeaseId(text: string): LeaseRef | null {
  const [, shard, fence, scanId] = LEASE_ID.exec(text) ?? [];
  if (scanId === undefined || !isId(scanId) || !Number.isSafeInteger(Number(fence))) return null;
  return { shard: Number(shard), fence: Number(fence), scanId };
}

/** The credential of one lease: HMAC-SHA256 of its id, in base64url. */
export function leaseToken(secret: string, leaseId: string): string {
  return createHmac('sha256', secret).update(leaseId).digest('base64url');
}

/** The lease that `token` opens, or null. */
export function openLease(secret: string, leaseId: string, token: string): LeaseRef | null {
  return sameSecret(token, leaseToken(secret, leaseId)) ? parseLeaseId(leaseId) : null;
}
