import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ORGANIZATIONS, type RunningApi, runningApi } from '../support/running-api.ts';

type Kept = {
  path: string;
  collection: string;
  /** The most that an organization may keep. */
  most: number;
  code: string;
  body: (at: number) => object;
};

/**
 * Records that clients create and that are bounded in number. Rules, AI rules and taxonomies are tested with their
 * routes.
 */
const KEPT: Kept[] = [
  {
    ...{ path: '/api/v1/account/api-keys', collection: 'api_keys', most: 1_000, code: 'account.too_many_keys' },
    body: (at) => ({ name: `Key ${at}`, permissions: ['scans.read'] }),
  },
  {
    ...{ path: '/api/v1/account/oauth-clients', collection: 'oauth_clients', most: 100 },
    ...{
      code: 'account.too_many_oauth_clients',
      body: (at) => ({ name: `Client ${at}`, permissions: ['scans.read'] }),
    },
  },
  {
    ...{ path: '/api/v1/campaign-groups', collection: 'campaign_groups', most: 1_000 },
    ...{ code: 'campaign_groups.too_many', body: (at) => ({ name: `Group ${at}` }) },
  },
  {
    ...{ path: '/api/v1/policy-sets', collection: 'policy_sets', most: 500, code: 'policies.too_many' },
    body: (at) => ({ name: `Set ${at}`, entries: [{ tag_slug: 'autosound' }] }),
  },
  {
    ...{ path: '/api/v1/webhooks', collection: 'webhook_endpoints', most: 20, code: 'webhooks.too_many' },
    body: (at) => ({ url: `https://hooks.example/${at}`, event_types: ['scanning.scan.completed'] }),
  },
  {
    ...{ path: '/api/v1/alert-notifications/destinations', collection: 'destinations', most: 50 },
    code: 'notifications.too_many_destinations',
    body: (at) => ({
      ...{ name: `Chat ${at}`, channel: 'slack', version: 'public' },
      slack: { webhook_url: `https://hooks.slack.com/services/T00000000/B00000000/${at}` },
    }),
  },
];

let api: RunningApi;
before(async () => {
  api = await runningApi();
});
after(() => api.stop());

describe('bounds of what an organization keeps', () => {
  for (const { path, collection, most, code, body } of KEPT)
    test(`of 40 POST ${path} at once as many succeed as there is room for, and the others are refused with ${code}`, async () => {
      const stored = api.store.collection<{ _id: string; organization_id: string }>(collection);
      const ofOurs = { organization_id: ORGANIZATIONS.ours };
      const first = await api.post(path, body(1_000_000));
      assert.equal(first.status, 201, first.text);
      const record = (await stored.findOne(ofOurs))!;
      const room = 2;
      const left = most - room - (await stored.countDocuments(ofOurs));
      await stored.insertMany(
        Array.from({ length: left }, (_, at) => ({ ...record, _id: `many-${at}`, key_hash: `hash-${at}` })),
      );
      // The sum of what an organization keeps is read again from its records.
      await api.store.collection('stored_sums').deleteMany({});
      const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => api.post(path, body(at))));
      const codes = answers.map(({ status, body: sent }) => (status === 201 ? 'created' : sent.code));
      assert.deepEqual(codes.toSorted(), [...Array(40 - room).fill(code), ...Array(room).fill('created')].toSorted());
      assert.equal(await stored.countDocuments(ofOurs), most);
    });
});
