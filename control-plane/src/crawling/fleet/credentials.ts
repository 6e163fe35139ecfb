import { createHmac, randomBytes } from 'node:crypto';
import { isId } from '@adsweep/shared/ids.ts';
import { sameSecret } from '@adsweep/shared/service/bearer.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';

/**
 * A registered node: its name, which process of that name it is, and how many leases it may hold at once. `enrolment`:
 * what it is bound to; '': it registered with the join token.
 */
export type NodeIdentity = { nodeId: string; instance: string; slots: number; enrolment: string };

/**
 * The identity of a new process of a node. Two processes with one name have separate identities, credentials and
 * leases.
 */
export function newIdentity(nodeId: string, slots: number, enrolment = ''): NodeIdentity {
  return { nodeId, instance: randomBytes(9).toString('base64url'), slots, enrolment };
}

/** The name of a node's process in the queue. */
export const nodeKeyOf = ({ nodeId, instance }: Pick<NodeIdentity, 'nodeId' | 'instance'>): string =>
  `${nodeId}/${instance}`;

/**
 * Whose leases are counted together in the queue: those of a process, or of an enrolled node those of all its
 * processes, because it can register any number of them.
 */
export const leaseHolderOf = ({ nodeId, instance, enrolment }: Omit<NodeIdentity, 'slots'>): string =>
  nodeKeyOf({ nodeId, instance: enrolment || instance });

/**
 * The credential `<name>/<instance>/<slots>/<HMAC-SHA256>`: any control plane can verify it without stored state. That
 * of an enrolled node has `/<enrolment>` before the last part.
 */
export function nodeCredential(secret: string, identity: NodeIdentity): string {
  const { slots, enrolment } = identity;
  const text = `${nodeKeyOf(identity)}/${slots}${enrolment === '' ? '' : `/${enrolment}`}`;
  return `${text}/${createHmac('sha256', secret).update(`node\n${text}`).digest('base64url')}`;
}

/** The identity in a credential; null if it is not valid. */
export function openNodeCredential(secret: string, credential: string): NodeIdentity | null {
  const [nodeId = '', instance = '', slots = '', ...rest] = credential.split('/');
  const identity = { nodeId, instance, slots: Number(slots), enrolment: rest.slice(0, -1).join('/') };
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
