import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { OrganizationRecord } from './organization.ts';

/** The only code that touches organizations. */
export type OrganizationStore = ReturnType<typeof organizationStore>;

export function organizationStore(store: Store) {
  const organizations: Collection<OrganizationRecord> = store.collection<OrganizationRecord>('organizations');

  return {
    /** Stores an organization; one of that id that is there already is left as it is. */
    async insert(record: OrganizationRecord): Promise<void> {
      await insertOnce(organizations, record);
    },

    async find(id: string): Promise<OrganizationRecord | null> {
      return organizations.findOne({ _id: id });
    },
  };
}
