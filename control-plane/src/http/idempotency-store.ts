import { createHash } from 'node:crypto';
import { DAY_MS } from '@adsweep/shared/durations.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { insertOnce } from '../platform/insert-once.ts';
import type { Collection, Store } from '../platform/store.ts';

/**
 * A request with an `Idempotency-Key`. `record_id` is the id of the record that it creates, so that a request that is
 * run again after a crash creates only one. `answer`: its response, as `packAnswer` stores it; null: it has been
 * running since `started_at`. `resumed`: it was run again after an interruption, so an earlier run may have created its
 * record.
 */
type Remembered = {
  _id: string;
  fingerprint: string;
  record_id: string;
  answer: StoredAnswer | null;
  started_at: Date;
  resumed?: true;
  expires_at: Date;
};

/** A response, as `packAnswer` stores it. */
export type StoredAnswer = { status: number; body: string };

/** What to do with a request that has a key: run it, return the stored response, or refuse it. */
export type Begun =
  | { run: true; recordId: string }
  | { run: false; answer: StoredAnswer }
  | { run: false; refusal: 'key_reused' | 'in_progress' };

const LIFETIME_MS = DAY_MS;
/** A request that runs longer counts as interrupted: when the client repeats it, it is run again. */
const INTERRUPTED_AFTER_MS = 60_000;
const INTERRUPTED = { $set: { started_at: new Date(0) } };

/**
 * The only code that accesses requests with an `Idempotency-Key`. `key` is the client's, unique within `scope`
 * (`idempotencyScope`).
 */
export type IdempotencyStore = ReturnType<typeof idempotencyStore>;

export function idempotencyStore(store: Store) {
  const requests: Collection<Remembered> = store.collection<Remembered>('idempotency_keys');

  /** Begins a request; `fingerprint` is a hash of its contents. Of two concurrent requests one may run. */
  const begin = async (scope: string, key: string, fingerprint: string, now: Date): Promise<Begun> => {
    const record = newRecord(idOf(scope, key), fingerprint, now);
    if (await insertOnce(requests, record)) return { run: true, recordId: record.record_id };
    const earlier = await requests.findOne({ _id: record._id });
    const isOver = !earlier || earlier.expires_at <= now;
    if (earlier && isOver) await requests.deleteOne({ _id: earlier._id, expires_at: earlier.expires_at });
    return isOver ? begin(scope, key, fingerprint, now) : repeatOf(earlier, fingerprint, now);
  };

  const repeatOf = async (earlier: Remembered, fingerprint: string, now: Date): Promise<Begun> => {
    if (earlier.fingerprint !== fingerprint) return { run: false, refusal: 'key_reused' };
    if (earlier.answer) return { run: false, answer: earlier.answer };
    const { _id, started_at, record_id } = earlier;
    if (now.getTime() - started_at.getTime() < INTERRUPTED_AFTER_MS) return { run: false, refusal: 'in_progress' };
    const taken = await requests.updateOne(
      { _id, answer: null, started_at },
      { $set: { started_at: now, resumed: true } },
    );
    return taken.modifiedCount === 1 ? { run: true, recordId: record_id } : { run: false, refusal: 'in_progress' };
  };

  return {
    async createIndexes(): Promise<void> {
      await requests.createIndex({ expires_at: 1 }, { expireAfterSeconds: 0 });
    },

    begin,

    /** The stored response to the request with this key, and the fingerprint of that request; null: none is stored. */
    async answered(scope: string, key: string, now: Date) {
      const found = await requests.findOne({ _id: idOf(scope, key) });
      return found?.answer && found.expires_at > now ? { answer: found.answer, fingerprint: found.fingerprint } : null;
    },

    /** Stores the response for repeated requests. */
    async finish(scope: string, key: string, answer: StoredAnswer): Promise<void> {
      await requests.updateOne({ _id: idOf(scope, key) }, { $set: { answer } });
    },

    /**
     * Ends a run that was refused. The request is forgotten, so that a corrected one can be sent with its key; one that
     * was resumed counts as interrupted again instead: under another `recordId`, what an earlier run has created would
     * be created once more.
     */
    async refuse(scope: string, key: string): Promise<void> {
      const own = { _id: idOf(scope, key), answer: null };
      const forgotten = await requests.deleteOne({ ...own, resumed: { $exists: false } });
      if (forgotten.deletedCount === 0) await requests.updateOne(own, INTERRUPTED);
    },

    /**
     * Allows a request that failed with an internal error, or is partly done, to be run again at once, with the same
     * `recordId`.
     */
    async interrupt(scope: string, key: string): Promise<void> {
      await requests.updateOne({ _id: idOf(scope, key), answer: null }, INTERRUPTED);
    },
  };
}

function newRecord(_id: string, fingerprint: string, now: Date): Remembered {
  const expires_at = new Date(now.getTime() + LIFETIME_MS);
  return { _id, fingerprint, record_id: newId(), answer: null, started_at: now, expires_at };
}

/** A hash, because keys are arbitrary texts of up to 255 characters. */
function idOf(scope: string, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([scope, key]))
    .digest('hex');
}
