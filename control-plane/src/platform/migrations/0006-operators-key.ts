import type { Document } from '../store.ts';
import { inBatches, type Migration } from './migration.ts';

type Key = { _id: string; source?: string; permissions: string[] } & Document;
type Organization = { _id: string; status?: string } & Document;

/** What the key of the environment could not do yet, or has to be able to do as the operator's. */
const OF_THE_OPERATOR = ['organizations.manage', 'fleet.read', 'fleet.manage'];
/** An active organization, without limits, at the usual price: what all of them were. */
const UNLIMITED = {
  status: 'active',
  contact_emails: [],
  quotas: { checks_per_month: null, concurrent_leases: null, requests_per_minute: null },
  check_price_micros: null,
};

/** Organizations get a status, contacts, quotas and a price; the key of the environment becomes the operator's. */
export const operatorsKey: Migration = {
  version: 6,
  name: "operator's key",
  async run(store, checkpoint) {
    const organizations = store.collection<Organization>('organizations');
    await inBatches(organizations, { status: { $exists: false } }, checkpoint, async (documents) => {
      for (const { _id } of documents) await organizations.updateOne({ _id }, { $set: UNLIMITED });
    });
    const keys = store.collection<Key>('api_keys');
    // Keys without a source are of a version in which all came from the environment.
    await inBatches(keys, { source: { $ne: 'api' } }, checkpoint, async (documents) => {
      for (const { _id, permissions } of documents) {
        const all = [...new Set([...permissions, ...OF_THE_OPERATOR])];
        await keys.updateOne({ _id }, { $set: { permissions: all } });
      }
    });
  },
};
