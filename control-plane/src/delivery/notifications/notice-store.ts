import { dueAtOnce } from '../../platform/due-by-organization.ts';
import { deleteInPortions, inPortions, updateInPortions } from '../../platform/in-portions.ts';
import { insertAllOnce, insertOnce } from '../../platform/insert-once.ts';
import type { AlertStatus } from '../../platform/outbox/outbox-entry.ts';
import type { Collection, Store } from '../../platform/store.ts';

/**
 * A change of an alert that is to be sent to a destination. `message_id`: the message that it is part of; '': none yet.
 */
export type NoticeRecord = {
  _id: string;
  organization_id: string;
  destination_id: string;
  campaign_id: string;
  status: AlertStatus;
  alert_id: string;
  queued_at: Date;
  message_id: string;
};

/** Notices of one campaign with one status that are sent together. */
export type MessageRecord = Pick<
  NoticeRecord,
  '_id' | 'organization_id' | 'destination_id' | 'campaign_id' | 'status'
> & {
  /** When the first of its notices was queued. */
  queued_at: Date;
  /** When it is sent, or tried again. */
  due_at: Date;
  failures: number;
};

/**
 * Messages are tried for a day. Notices are kept for longer: the relay queues none again that it has queued before it
 * died.
 */
const LIFETIME_SECONDS = 3 * 24 * 60 * 60;

/** Notices that are written in one piece: a message may have ten thousand. */
const WRITTEN_AT_ONCE = 25;

type Of = { organization_id: string; destination_id: string };

/** The only code that accesses notices and the messages that they are part of. */
export type NoticeStore = ReturnType<typeof noticeStore>;

export function noticeStore(store: Store) {
  const notices: Collection<NoticeRecord> = store.collection<NoticeRecord>('alert_notices');
  const messages: Collection<MessageRecord> = store.collection<MessageRecord>('alert_messages');

  return {
    async createIndexes(): Promise<void> {
      await notices.createIndexes([
        { key: { organization_id: 1, destination_id: 1, message_id: 1, queued_at: 1 } },
        { key: { queued_at: 1 }, expireAfterSeconds: LIFETIME_SECONDS },
      ]);
      await messages.createIndexes([
        { key: { organization_id: 1, destination_id: 1, due_at: 1 } },
        { key: { queued_at: 1 }, expireAfterSeconds: LIFETIME_SECONDS },
      ]);
    },

    /** Queues notices, except those that were queued before. */
    async add(queued: NoticeRecord[]): Promise<void> {
      await inPortions(queued, WRITTEN_AT_ONCE, (portion) => insertAllOnce(notices, portion));
    },

    /** The notice that has waited longest without a message; null: none waits. */
    async oldestWaiting({ organization_id, destination_id }: Of): Promise<NoticeRecord | null> {
      const waiting = { organization_id, destination_id, message_id: '' };
      const [oldest] = await notices.find(waiting).sort({ queued_at: 1 }).limit(1).toArray();
      return oldest ?? null;
    },

    /** Stores a message, unless it exists, and makes the notices that were queued until `until` part of it. */
    async form(message: MessageRecord, until: Date): Promise<void> {
      await insertOnce(messages, message);
      const { _id, organization_id, destination_id, campaign_id, status } = message;
      const waiting = { organization_id, destination_id, message_id: '', queued_at: { $lte: until } };
      await updateInPortions(notices, { ...waiting, campaign_id, status }, { $set: { message_id: _id } });
    },

    /** The message of a destination that is due first; null: there is none. */
    async nextMessage({ organization_id, destination_id }: Of): Promise<MessageRecord | null> {
      const [next] = await messages.find({ organization_id, destination_id }).sort({ due_at: 1 }).limit(1).toArray();
      return next ?? null;
    },

    /** The first alerts of a message, in the order in which they were queued, and the number of all. */
    async contentOf({ _id, organization_id, destination_id }: MessageRecord, limit: number) {
      const where = { organization_id, destination_id, message_id: _id };
      const [first, count] = await Promise.all([
        notices.find(where).sort({ queued_at: 1 }).limit(limit).project<NoticeRecord>({ alert_id: 1 }).toArray(),
        notices.countDocuments(where),
      ]);
      return { alertIds: first.map(({ alert_id }) => alert_id), count };
    },

    /** Has a message tried again. */
    async postpone({ _id, organization_id, failures }: MessageRecord, dueAt: Date): Promise<void> {
      await messages.updateOne({ _id, organization_id, failures }, { $set: { due_at: dueAt, failures: failures + 1 } });
    },

    /** Makes all messages of a destination due. */
    async resume({ organization_id, destination_id }: Of, now: Date): Promise<void> {
      await updateInPortions(messages, { organization_id, destination_id }, { $min: { due_at: dueAtOnce(now) } });
    },

    /**
     * Removes a message that was sent or given up. Its notices stay until they expire: the relay may queue them once
     * more, if it died before it had noted that it has.
     */
    async remove({ _id, organization_id }: MessageRecord): Promise<void> {
      await messages.deleteOne({ _id, organization_id });
    },

    /** Removes what waits for a destination. */
    async removeAll({ organization_id, destination_id }: Of): Promise<void> {
      await deleteInPortions(notices, { organization_id, destination_id });
      await deleteInPortions(messages, { organization_id, destination_id });
    },
  };
}
