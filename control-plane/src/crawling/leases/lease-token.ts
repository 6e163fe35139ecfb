import { createHmac } from 'node:crypto';
import { isId } from '@adsweep/shared/ids.ts';
import { sameSecret } from '@adsweep/shared/service/bearer.ts';
import type { LeaseRef } from '../queue/queued-job.ts';

/** `<fence>.<job id>.<organization id>`: everything a control plane needs to know of a lease, so that none has to remember it. */
export const leaseIdOf = ({ fence, jobId, organizationId }: LeaseRef): string => `${fence}.${jobId}.${organizationId}`;

const LEASE_ID = /^(\d{1,16})\.([0-9a-f-]{36})\.([0-9A-Za-z-]{1,100})$/;

/** What a lease id says, or null for what is none. */
export function parseLeaseId(text: string): LeaseRef | null {
  const [, fence, jobId = '', organizationId = ''] = LEASE_ID.exec(text) ?? [];
  if (!isId(jobId) || !Number.isSafeInteger(Number(fence))) return null;
  return { fence: Number(fence), jobId, organizationId };
}

/** The credential of one lease: HMAC-SHA256 of its id, in base64url. */
export function leaseToken(secret: string, leaseId: string): string {
  return createHmac('sha256', secret).update(leaseId).digest('base64url');
}

/** The lease that `token` opens, or null. */
export function openLease(secret: string, leaseId: string, token: string): LeaseRef | null {
  return sameSecret(token, leaseToken(secret, leaseId)) ? parseLeaseId(leaseId) : null;
}
