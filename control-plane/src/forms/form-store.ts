import type { Collection, Store } from '../platform/store.ts';
import type { FormName, FormSubmission } from './form-submission.ts';

/** The only code that accesses what was sent with forms. */
export type FormStore = ReturnType<typeof formStore>;

/** Submissions that are removed in one write. */
const REMOVED_AT_ONCE = 500;

export function formStore(store: Store) {
  const submissions: Collection<FormSubmission> = store.collection<FormSubmission>('form_submissions');

  return {
    async createIndexes(): Promise<void> {
      await submissions.createIndexes([
        { key: { received_at: -1, _id: -1 } },
        { key: { form: 1, received_at: -1, _id: -1 } },
        { key: { mail_due_at: 1 }, sparse: true },
      ]);
    },

    async insert(submission: FormSubmission): Promise<void> {
      await submissions.insertOne(submission);
    },

    /** A page of the submissions of a form (null: of all), newest first, and their number. */
    async list(form: FormName | null, { skip, limit }: { skip: number; limit: number }) {
      const filter = form === null ? {} : { form };
      const page = submissions.find(filter).sort({ received_at: -1, _id: -1 }).skip(skip).limit(limit);
      const [rows, total] = await Promise.all([page.toArray(), submissions.countDocuments(filter)]);
      return { rows, total };
    },

    /** Takes the submission whose mail has been due longest, until `until`; null: none is due. */
    async takeMail(now: Date, until: Date): Promise<FormSubmission | null> {
      const update = { $set: { mail_due_at: until }, $inc: { mail_tries: 1 } };
      const options = { sort: { mail_due_at: 1 }, returnDocument: 'after' } as const;
      return submissions.findOneAndUpdate({ mail_due_at: { $lte: now } }, update, options);
    },

    /** Ends a try of a mail. `dueAt`: when it is due again; null: never. */
    async endMail(_id: string, dueAt: Date | null): Promise<void> {
      const update = dueAt ? { $set: { mail_due_at: dueAt } } : { $unset: { mail_due_at: '' as const } };
      await submissions.updateOne({ _id }, update);
    },

    /** Removes some of the submissions from before `until`; returns whether there may be more. */
    async removeBefore(until: Date): Promise<boolean> {
      const old = submissions.find({ received_at: { $lt: until } }).sort({ received_at: 1, _id: 1 });
      const ids = (await old.limit(REMOVED_AT_ONCE).toArray()).map(({ _id }) => _id);
      if (ids.length > 0) await submissions.deleteMany({ _id: { $in: ids } });
      return ids.length === REMOVED_AT_ONCE;
    },
  };
}
