import { createHmac, randomBytes } from 'node:crypto';
import { isId } from '@adsweep/shared/ids.ts';
import { sameSecret } from '@adsweep/shared/service/bearer.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';

/** A registered node: its name, which process of that name it is, and how many leases it may hold at once. */
export type NodeIdentity = { nodeId: string; instance: string; slots: number };

/** The identity of a new process of a node. Two processes with one name have separate identities, credentials and leases. */
export function newIdentity(nodeId: string, slots: number): NodeIdentity {
  return { nodeId, instance: randomBytes(9).toString('base64url'), slots };
}

/** The name of a node's process in the queue. */
export const nodeKeyOf = ({ nodeId, instance }: Pick<NodeIdentity, 'nodeId' | 'instance'>): string =>
  `${nodeId}/${instance}`;

/** The credential `<name>/<instance>/<slots>/<HMAC-SHA256>`: any control plane can verify it without stored state. */
export function nodeCredential(secret: string, identity: NodeIdentity): string {
  const text = `${nodeKeyOf(identity)}/${identity.slots}`;
  return `${text}/${createHmac('sha256', secret).update(`node\n${text}`).digest('base64url')}`;
}

/** The identity in a credential; null if it is not valid. */
export function openNodeCredential(secret: string, credential: string): NodeIdentity | null {
  const [nodeId = '', instance = '', slots = ''] = credential.split('/');
  const identity = { nodeId, instance, slots: Number(slots) };
  return sameSecret(credential, nodeCredential(secret, identity)) ? identity : null;
}

/** The lease id `<fence>.<job id>.<organization id>`: it identifies a lease without stored state. */
export const leaseIdOf = ({ fence, jobId, organizationId }: LeaseRef): string => `${fence}.${jobId}.${organizationId}`;

const LEASE_ID = /^(\d{1,16})\.([0-9a-f-]{36})\.([0-9A-Za-z-]{1,100})$/;

/** The lease with this id; null if the text is not a lease id. */
export function parseLeaseId(text: string): LeaseRef | null {
  const [, fence, jobId = '', organizationId = ''] = LEASE_ID.exec(text) ?? [];
  if (!isId(jobId) || !Number.isSafeInteger(Number(fence))) return null;
  return { fence: Number(fence), jobId, organizationId };
}

/** The token of a lease: HMAC-SHA256 of its id, in base64url. */
export function leaseToken(secret: string, leaseId: string): string {
  return createHmac('sha256', secret).update(leaseId).digest('base64url');
}

/** The lease with this id if `token` is its token; null otherwise. */
export function openLease(secret: string, leaseId: string, token: string): LeaseRef | null {
  return sameSecret(token, leaseToken(secret, leaseId)) ? parseLeaseId(leaseId) : null;
}
