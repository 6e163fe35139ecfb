import { insertOnce } from '../../platform/insert-once.ts';
import type { Origin, OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import type { Collection, Store } from '../../platform/store.ts';

/** Who changed what in an organization. The log is append-only. */
export type AuditRecord = Omit<OutboxEntry<'audit'>, 'id' | 'kind'> & { _id: string; organization_id: string };

/** The only code that accesses the audit log. */
export type AuditStore = ReturnType<typeof auditStore>;

export function auditStore(store: Store) {
  const records: Collection<AuditRecord> = store.collection<AuditRecord>('audit_log');

  return {
    async createIndexes(): Promise<void> {
      await records.createIndex({ organization_id: 1, at: -1, _id: -1 });
    },

    /** Adds an entry to the log of the changed organization; its id makes repeated calls harmless. */
    async add({ id, kind: _, ...entry }: OutboxEntry<'audit'>, { organizationId }: Origin): Promise<void> {
      await insertOnce(records, { _id: id, organization_id: organizationId, ...entry });
    },

    /** A page of an organization's log, newest first, and the number of entries. */
    async list(organizationId: string, { skip, limit }: { skip: number; limit: number }) {
      const filter = { organization_id: organizationId };
      const page = records.find(filter).sort({ at: -1, _id: -1 }).skip(skip).limit(limit);
      const [rows, total] = await Promise.all([page.toArray(), records.countDocuments(filter)]);
      return { rows, total };
    },
  };
}
