import type { Document } from '../store.ts';
import { inBatches, type Migration } from './migration.ts';

type Key = { _id: string; source?: string; permissions: string[] } & Document;
type Organization = { _id: string; status?: string } & Document;

/** The operator's permissions, which keys from the environment may lack. */
const OF_THE_OPERATOR = ['organizations.manage', 'fleet.read', 'fleet.manage'];
/** Active, without limits, at the price in the settings: the state of all organizations in older versions. */
const UNLIMITED = {
  status: 'active',
  contact_emails: [],
  quotas: { checks_per_month: null, concurrent_leases: null, requests_per_minute: null },
  check_price_micros: null,
};

/** Gives organizations a status, contacts, quotas and a price; keys from the environment become the operator's. */
export const operatorsKey: Migration = {
  version: 6,
  name: "operator's key",
  async run(store, checkpoint) {
    const organizations = store.collection<Organization>('organizations');
    await inBatches(organizations, { status: { $exists: false } }, checkpoint, async (documents) => {
      for (const { _id } of documents) await organizations.updateOne({ _id }, { $set: UNLIMITED });
    });
    const keys = store.collection<Key>('api_keys');
    // Keys without a source are from a version in which all keys came from the environment.
    await inBatches(keys, { source: { $ne: 'api' } }, checkpoint, async (documents) => {
      for (const { _id, permissions } of documents) {
        const all = [...new Set([...permissions, ...OF_THE_OPERATOR])];
        await keys.updateOne({ _id }, { $set: { permissions: all } });
      }
    });
  },
};
