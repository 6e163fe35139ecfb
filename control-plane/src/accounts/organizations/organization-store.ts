import { insertOnce } from '../../platform/insert-once.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import { OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../../platform/outbox/outbox-source.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { OrganizationRecord, Quotas, Role } from './organization.ts';

/** New values of an organization; quotas that are not listed keep their values. */
export type OrganizationChange = Partial<
  Pick<OrganizationRecord, 'name' | 'status' | 'check_price_micros' | 'contact_emails' | 'labels'> & {
    quotas: Partial<Quotas>;
  }
>;

/** The only code that accesses organizations. */
export type OrganizationStore = ReturnType<typeof organizationStore>;

export function organizationStore(store: Store) {
  const organizations: Collection<OrganizationRecord> = store.collection<OrganizationRecord>('organizations');

  return {
    async createIndexes(): Promise<void> {
      await organizations.createIndexes([{ key: { created_at: 1, _id: 1 } }, ...OUTBOX_INDEXES]);
    },

    /** Stores an organization, unless its id exists. */
    async insert(record: OrganizationRecord): Promise<void> {
      await insertOnce(organizations, record);
    },

    /** A page of all organizations, oldest first, and their number. */
    async list({ skip, limit }: { skip: number; limit: number }) {
      const page = organizations.find({}).sort({ created_at: 1, _id: 1 }).skip(skip).limit(limit);
      const [rows, total] = await Promise.all([page.toArray(), organizations.countDocuments({})]);
      return { rows, total };
    },

    /** Changes an organization and returns the new record; null if it does not exist. */
    async change(
      id: string,
      { quotas = {}, ...changes }: OrganizationChange,
      follows: OutboxEntry[] = [],
    ): Promise<OrganizationRecord | null> {
      const changedQuotas = Object.entries(quotas).map(([name, limit]) => [`quotas.${name}`, limit]);
      const set = { ...changes, ...Object.fromEntries(changedQuotas) };
      const update = { ...(Object.keys(set).length > 0 && { $set: set }), ...pushToOutbox(id, follows) };
      return organizations.findOneAndUpdate({ _id: id }, update, { returnDocument: 'after' });
    },

    /** Adds a role to an organization; false: it has `most` roles already. */
    async addRole(id: string, role: Role, most: number, audit: OutboxEntry<'audit'>): Promise<boolean> {
      const { $push, ...rest } = pushToOutbox(id, [audit]);
      const hasRoom = { _id: id, [`roles.${most - 1}`]: { $exists: false } };
      const { matchedCount } = await organizations.updateOne(hasRoom, { ...rest, $push: { ...$push, roles: role } });
      return matchedCount === 1;
    },

    /** The outboxes of organizations. */
    outbox: outboxSource<OrganizationRecord>('organizations', organizations, [], ({ organization_id }) => ({
      organizationId: organization_id,
      scanId: '',
      campaignId: null,
    })),

    async find(id: string): Promise<OrganizationRecord | null> {
      return organizations.findOne({ _id: id });
    },
  };
}
