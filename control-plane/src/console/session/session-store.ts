import type { Collection, Store } from '../../platform/store.ts';

/** A person who is signed in. `_id`: a hash of the session's id; `sealed`: the credential, which only the id can decrypt. */
export type SessionRecord = { _id: string; sealed: string; created_at: Date; expires_at: Date };

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

    /** Replaces what is sealed in a session that still exists. */
    async replace(_id: string, sealed: string): Promise<void> {
      await sessions.updateOne({ _id }, { $set: { sealed } });
    },

    async remove(_id: string): Promise<void> {
      await sessions.deleteOne({ _id });
    },
  };
}
