import { DAY_MS } from '@adsweep/shared/durations.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';

/** A model's answer, by the hash of the question; null: it refused. */
type Remembered = { _id: string; answer: string | null; expires_at: Date };

const LIFETIME_MS = 7 * DAY_MS;

/** Answers of models, kept for a week, so that a model is not asked twice about the same evidence. */
export type AnswerStore = ReturnType<typeof answerStore>;

export function answerStore(store: Store) {
  const answers: Collection<Remembered> = store.collection<Remembered>('model_answers');

  return {
    async createIndexes(): Promise<void> {
      await answers.createIndex({ expires_at: 1 }, { expireAfterSeconds: 0 });
    },

    /** The answer to the question with this hash; null: there is none, or it has expired. */
    async find(hash: string, now: Date): Promise<{ answer: string | null } | null> {
      const found = await answers.findOne({ _id: hash });
      return found && found.expires_at > now ? { answer: found.answer } : null;
    },

    async remember(hash: string, answer: string | null, now: Date): Promise<void> {
      const expires_at = new Date(now.getTime() + LIFETIME_MS);
      if (await insertOnce(answers, { _id: hash, answer, expires_at })) return;
      await answers.updateOne({ _id: hash }, { $set: { answer, expires_at } });
    },
  };
}
