import { createHash } from 'node:crypto';
import { DAY_MS } from '@adsweep/shared/durations.ts';
import { newId, newSecret } from '@adsweep/shared/ids.ts';
import { rememberBriefly } from '../../platform/remember-briefly.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { NodeIdentity } from './credentials.ts';

/** How long a node's own credential is valid. A node replaces it when it is a day old. */
export const NODE_CREDENTIAL_MS = 30 * DAY_MS;

/** A credential by the SHA-256 of its text, in hex. */
type Hashed = { hash: string; expires_at: Date };

/** The enrolment of the node with this name. Neither a token nor a credential is stored. */
export type Enrolment = {
  _id: string;
  /**
   * The one-time token that was made last. `credential`: the hash of the credential that it was exchanged for; null:
   * unused.
   */
  token: (Hashed & { credential: string | null }) | null;
  /**
   * Identifies what came of one token, to which the credentials of the node's processes are bound; '' before the first.
   */
  enrolment: string;
  credential: Hashed | null;
  /** What the node rotates to: both are valid until it is used. */
  next: Hashed | null;
  enrolled_at: Date | null;
  revoked_at: Date | null;
};

/** A caller that proved to be an enrolled node. `hash`: that of the credential that it sent. */
export type EnrolledNode = { nodeId: string; enrolment: string; hash: string };

export type Enrolments = ReturnType<typeof enrolmentStore>;

export const hashCredential = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * How late a process may see that a name was enrolled elsewhere, where {@link Enrolments.isEnrolledLately} is asked.
 */
const SEEN_MS = 1_000;

const NEW: Omit<Enrolment, '_id' | 'token'> = {
  enrolment: '',
  credential: null,
  next: null,
  enrolled_at: null,
  revoked_at: null,
};

const isValid = (one: Hashed | null, hash: string, now: Date): boolean => one?.hash === hash && one.expires_at > now;

/** The enrolments of nodes, one for each name. Each transition is one compare-and-set. */
export function enrolmentStore(store: Store) {
  const enrolments: Collection<Enrolment> = store.collection('node_enrolments');
  const find = (nodeId: string) => enrolments.findOne({ _id: nodeId });
  const enrolledNames = rememberBriefly(async () => {
    const all = await enrolments
      .find({ enrolled_at: { $ne: null } })
      .project({ _id: 1 })
      .toArray();
    return new Set(all.map(({ _id }) => _id));
  }, SEEN_MS);

  return {
    /** Makes a one-time token for a name; one that was not used before ends. */
    async invite(nodeId: string, expiresAt: Date): Promise<string> {
      const token = `ade_${newSecret(32)}`;
      const stored = { hash: hashCredential(token), expires_at: expiresAt, credential: null };
      await enrolments.updateOne({ _id: nodeId }, { $set: { token: stored }, $setOnInsert: NEW }, { upsert: true });
      return token;
    },

    /** Whether the token could be exchanged now. */
    async isInvited(nodeId: string, tokenHash: string, now: Date): Promise<boolean> {
      return isValid((await find(nodeId))?.token ?? null, tokenHash, now);
    },

    /**
     * Exchanges a token for the credential with this hash, which the node made; it ends what was enrolled under its
     * name before. Returns when the credential expires; null: the token is unknown, expired or used. The same request
     * again, because its answer was lost, has the same effect.
     */
    async exchange(nodeId: string, tokenHash: string, credentialHash: string, now: Date): Promise<Date | null> {
      const expiresAt = new Date(now.getTime() + NODE_CREDENTIAL_MS);
      const changes = {
        enrolment: newId(),
        credential: { hash: credentialHash, expires_at: expiresAt },
        next: null,
        enrolled_at: now,
        revoked_at: null,
        'token.credential': credentialHash,
      };
      const unused = { 'token.hash': tokenHash, 'token.expires_at': { $gt: now }, 'token.credential': null };
      const { matchedCount } = await enrolments.updateOne({ _id: nodeId, ...unused }, { $set: changes });
      enrolledNames.forget('');
      if (matchedCount === 1) return expiresAt;
      const found = await find(nodeId);
      const isRepeated = isValid(found?.token ?? null, tokenHash, now) && found?.token?.credential === credentialHash;
      return isRepeated && found.credential?.hash === credentialHash ? found.credential.expires_at : null;
    },

    /**
     * The node whose own credential has this hash; null: unknown, expired or revoked. The first use of the next one
     * ends the one before.
     */
    async findNode(nodeId: string, hash: string, now: Date): Promise<EnrolledNode | null> {
      const found = await find(nodeId);
      if (!found) return null;
      const { enrolment, credential, next } = found;
      if (isValid(credential, hash, now)) return { nodeId, enrolment, hash };
      if (!isValid(next, hash, now)) return null;
      const isThis = { _id: nodeId, enrolment, 'next.hash': hash };
      const { matchedCount } = await enrolments.updateOne(isThis, { $set: { credential: next, next: null } });
      // Otherwise it was revoked, enrolled again or rotated at the same moment, or another call with it came first.
      if (matchedCount === 1 || isValid((await find(nodeId))?.credential ?? null, hash, now))
        return { nodeId, enrolment, hash };
      return null;
    },

    /**
     * Lets a node replace its credential by the one with `nextHash`. Returns when that expires; null: the node's own is
     * not valid any more.
     */
    async rotate({ nodeId, enrolment, hash }: EnrolledNode, nextHash: string, now: Date): Promise<Date | null> {
      const expiresAt = new Date(now.getTime() + NODE_CREDENTIAL_MS);
      const own = { _id: nodeId, enrolment, 'credential.hash': hash };
      const next = { hash: nextHash, expires_at: expiresAt };
      const { matchedCount } = await enrolments.updateOne(own, { $set: { next } });
      return matchedCount === 1 ? expiresAt : null;
    },

    /**
     * Whether the enrolment that a process's credential is bound to is still the one of its name, and its node's
     * credential has not expired.
     */
    async isCurrent({ nodeId, enrolment }: Pick<NodeIdentity, 'nodeId' | 'enrolment'>, now: Date): Promise<boolean> {
      const found = await find(nodeId);
      const expiries = [found?.credential, found?.next].map((one) => one?.expires_at ?? new Date(0));
      return found?.enrolment === enrolment && expiries.some((expiresAt) => expiresAt > now);
    },

    /**
     * Whether the name belongs to an enrolled node, also to a revoked one: the join token does not open it any more.
     */
    async isEnrolled(nodeId: string): Promise<boolean> {
      return ((await find(nodeId))?.enrolled_at ?? null) !== null;
    },

    /** Like {@link isEnrolled}, or as it was a second ago: one query a second answers all nodes. */
    async isEnrolledLately(nodeId: string): Promise<boolean> {
      return (await enrolledNames('')).has(nodeId);
    },

    /** Ends a node's credentials and its unused token; false: there is nothing under this name. */
    async revoke(nodeId: string, now: Date): Promise<boolean> {
      const changes = { revoked_at: now, credential: null, next: null, token: null };
      return (await enrolments.updateOne({ _id: nodeId }, { $set: changes })).matchedCount === 1;
    },

    /** A page of all, by name, and how many there are. */
    async list(skip: number, limit: number): Promise<{ rows: Enrolment[]; total: number }> {
      const [rows, total] = await Promise.all([
        enrolments.find({}).sort({ _id: 1 }).skip(skip).limit(limit).toArray(),
        enrolments.countDocuments({}),
      ]);
      return { rows, total };
    },
  };
}
