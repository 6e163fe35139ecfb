import type { Collection, Store } from '../../platform/store.ts';

/**
 * A person who is signed in. `_id`: a hash of the session's id; `sealed`: the credential, which only the id can
 * decrypt; `replacing_until`: until then one process replaces it.
 */
export type SessionRecord = {
  _id: string;
  sealed: string;
  created_at: Date;
  expires_at: Date;
  replacing_until?: Date;
};

/** The only code that accesses the sessions of the console. */
export type SessionStore = ReturnType<typeof sessionStore>;

export function sessionStore(store: Store) {
  const sessions: Collection<SessionRecord> = store.collection<SessionRecord>('console_sessions');
  return {
    async createIndexes(): Promise<void> {
      await sessions.createIndex({ expires_at: 1 }, { expireAfterSeconds: 0 });
    },

    async insert(session: SessionRecord): Promise<void> {
      await sessions.insertOne(session);
    },

    /** Null: it does not exist, was ended, or has expired at `now`. */
    async find(_id: string, now: Date): Promise<SessionRecord | null> {
      const session = await sessions.findOne({ _id });
      return session && session.expires_at > now ? session : null;
    },

    /**
     * Claims the replacement of what is sealed in a session until `until`, and returns it as it is then; null: another
     * process is at it.
     */
    async claimReplacement(_id: string, now: Date, until: Date): Promise<SessionRecord | null> {
      const free = { _id, $or: [{ replacing_until: { $exists: false } }, { replacing_until: { $lte: now } }] };
      return sessions.findOneAndUpdate(free, { $set: { replacing_until: until } }, { returnDocument: 'after' });
    },

    /** Replaces what is sealed in a session that still exists, and ends the claim. */
    async replace(_id: string, sealed: string): Promise<void> {
      await sessions.updateOne({ _id }, { $set: { sealed }, $unset: { replacing_until: '' } });
    },

    async remove(_id: string): Promise<void> {
      await sessions.deleteOne({ _id });
    },
  };
}
