import { createHmac, randomBytes } from 'node:crypto';
import { isId } from '@adsweep/shared/ids.ts';
import { sameSecret } from '@adsweep/shared/service/bearer.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';

/** A registered node: its name, which process of that name it is, and how many leases it may hold at once. */
export type NodeIdentity = { nodeId: string; instance: string; slots: number };

/** A new process of a node. Two processes under one name are two identities: neither has anything of the other. */
export function newIdentity(nodeId: string, slots: number): NodeIdentity {
  return { nodeId, instance: randomBytes(9).toString('base64url'), slots };
}

/** How the index of work names a node's process. */
export const nodeKeyOf = ({ nodeId, instance }: Pick<NodeIdentity, 'nodeId' | 'instance'>): string =>
  `${nodeId}/${instance}`;

/** `<name>/<instance>/<slots>/<HMAC-SHA256>`, so that any control plane can check it and none has to remember it. */
export function nodeCredential(secret: string, identity: NodeIdentity): string {
  const text = `${nodeKeyOf(identity)}/${identity.slots}`;
  return `${text}/${createHmac('sha256', secret).update(`node\n${text}`).digest('base64url')}`;
}

/** Whose credential this is, or null for what is none. */
export function openNodeCredential(secret: string, credential: string): NodeIdentity | null {
  const [nodeId = '', instance = '', slots = ''] = credential.split('/');
  const identity = { nodeId, instance, slots: Number(slots) };
  return sameSecret(credential, nodeCredential(secret, identity)) ? identity : null;
}

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
