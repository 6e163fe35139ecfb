import { createHmac, randomBytes } from 'node:crypto';
import { sameSecret } from '@adsweep/shared/service/bearer.ts';

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
