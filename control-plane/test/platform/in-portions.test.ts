import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { oauthClientStore } from '../../src/accounts/oauth/oauth-client-store.ts';
import { oauthRecordStore } from '../../src/accounts/oauth/oauth-record-store.ts';
import { decisionStore } from '../../src/crawling/scaler/decision-store.ts';
import { noticeStore } from '../../src/delivery/notifications/notice-store.ts';
import { deliveryStore } from '../../src/delivery/webhooks/delivery-store.ts';
import { dueAtOnce } from '../../src/platform/due-by-organization.ts';
import { deleteInPortions, updateInPortions } from '../../src/platform/in-portions.ts';
import { type Document, openStore, type Store } from '../../src/platform/store.ts';
import { scanStore } from '../../src/scan/scan-store.ts';
import { campaignStore } from '../../src/scanning/campaigns/campaign-store.ts';
import { wrappedStore } from '../support/wrapped-store.ts';

type Thing = { _id: string; n: number; state: string };

const MOST = 25;
const COUNT = 60;
const NOW = new Date('2026-03-01T10:00:00Z');
const EARLIER = new Date('2026-01-01T10:00:00Z');
const organization_id = 'organization';

let opened: Store;
let store: Store;
/** The numbers of documents that writes of several documents changed. */
let writes: number[];
before(async () => {
  opened = await openStore({ path: ':memory:' });
  store = wrappedStore(opened, ({ method, make }) => {
    if (method !== 'updateMany' && method !== 'deleteMany') return make();
    return (make() as Promise<{ modifiedCount?: number; deletedCount?: number }>).then((result) => {
      writes.push(result.modifiedCount ?? result.deletedCount ?? 0);
      return result;
    });
  });
});
beforeEach(() => {
  writes = [];
});
after(() => opened.close());

/** Stores documents with these fields; returns how many of the collection match a filter. */
async function stored(name: string, fields: Document) {
  const collection = store.collection<{ _id: string } & Document>(name);
  await collection.insertMany(Array.from({ length: COUNT }, (_, at) => ({ ...fields, _id: `${name}-${at}` })));
  return (filter: Document) => collection.countDocuments(filter);
}

describe('writes to many documents', () => {
  const things = () => store.collection<Thing>('things');
  beforeEach(async () => {
    await things().deleteMany({});
    await things().insertMany(
      Array.from({ length: COUNT + 1 }, (_, n) => ({ _id: `${n}`, n, state: n < COUNT ? 'old' : 'other' })),
    );
    writes = [];
  });

  it('are made in portions, and count the documents that were changed', async () => {
    assert.equal(await updateInPortions(things(), { state: 'old' }, { $set: { state: 'new' } }), COUNT);
    assert.deepEqual(writes, [MOST, MOST, COUNT - 2 * MOST]);
    assert.equal(await things().countDocuments({ state: 'other' }), 1);
    assert.equal(await deleteInPortions(things(), { state: 'new' }), COUNT);
    assert.deepEqual(writes.slice(3), [MOST, MOST, COUNT - 2 * MOST]);
    assert.equal(await things().countDocuments({}), 1);
  });

  it('leave a document that other work has changed since it was read', async () => {
    const take = () => things().updateOne({ _id: '0' }, { $set: { state: 'taken' } });
    const late = wrappedStore(store, ({ method, make }) => (method === 'updateMany' ? take().then(make) : make()));
    const changed = await updateInPortions(
      late.collection<Thing>('things'),
      { state: 'old' },
      { $set: { state: 'new' } },
    );
    assert.equal(changed, COUNT - 1);
    assert.equal((await things().findOne({ _id: '0' }))?.state, 'taken');
  });

  it('end when an opposite write is made at the same time', async () => {
    await Promise.all([
      updateInPortions(things(), { state: 'old' }, { $set: { state: 'other' } }),
      updateInPortions(things(), { state: 'other' }, { $set: { state: 'old' } }),
    ]);
    assert.ok(writes.length <= 2 * Math.ceil((COUNT + 1) / MOST) + 2, `${writes.length} writes`);
  });
});

describe('a write that may concern any number of documents is made in portions', () => {
  const inPortions = () => assert.ok(writes.length >= 3 && Math.max(...writes) <= MOST, `writes of ${writes}`);

  it('when a tag is removed from all scans', async () => {
    const matching = await stored('scans', { organization_id, tags: [{ tag_slug: 'mine' }, { tag_slug: 'other' }] });
    await scanStore(store).removeTag(organization_id, 'mine');
    assert.deepEqual(
      [await matching({ 'tags.tag_slug': 'mine' }), await matching({ 'tags.tag_slug': 'other' })],
      [0, COUNT],
    );
    inPortions();
  });

  it('when the deliveries of an endpoint expire', async () => {
    const of = { organization_id, endpoint_id: 'endpoint' };
    const matching = await stored('webhook_deliveries', { ...of, state: 'waiting', window_from: EARLIER });
    assert.equal(await deliveryStore(store).expire(of, NOW), COUNT);
    assert.equal(await matching({ state: 'expired' }), COUNT);
    inPortions();
  });

  it('when a group is archived and restored, and when its campaigns are bound to a policy set and unbound', async () => {
    const matching = await stored('campaigns', { organization_id, group_id: 'group', is_archived: false });
    const campaigns = campaignStore(store);
    assert.equal(await campaigns.setArchivedWithGroup(organization_id, 'group', true), COUNT);
    assert.equal(await matching({ is_archived: true, archived_with_group: true }), COUNT);
    assert.equal(await campaigns.setArchivedWithGroup(organization_id, 'group', false), COUNT);
    assert.equal(await matching({ is_archived: false }), COUNT);
    const ids = await campaigns.idsInGroup(organization_id, 'group');
    await campaigns.bindTo(organization_id, 'set', ids);
    assert.equal(await matching({ policy_set_id: 'set', version: 1 }), COUNT);
    await campaigns.unbindFrom(organization_id, 'set', { kept: ids.slice(0, 1) });
    assert.equal(await matching({ policy_set_id: 'set' }), 1);
    inPortions();
  });

  it('when the records of an OAuth client and those of a grant are removed, and when registered clients expire', async () => {
    const records = oauthRecordStore(store);
    const ofClient = await stored('oauth_records', { client_id: 'client', grant_id: null });
    await records.removeOfClient('client');
    assert.equal(await ofClient({}), 0);
    const ofGrant = await stored('oauth_records', { grant_id: 'grant', model: 'AccessToken' });
    await records.adapterOf('AccessToken').revokeByGrantId('grant');
    assert.equal(await ofGrant({}), 0);
    const registered = await stored('oauth_clients', { organization_id: null, expires_at: EARLIER });
    const client = { _id: 'new', organization_id: null, created_at: NOW, expires_at: null };
    await oauthClientStore(store).insertRegistered(client as never);
    assert.equal(await registered({}), 1);
    inPortions();
  });

  it('when the notices and messages of a destination become due, and when they are removed', async () => {
    const of = { organization_id, destination_id: 'destination' };
    const notices = await stored('alert_notices', { ...of, message_id: '' });
    const messages = await stored('alert_messages', { ...of, due_at: NOW });
    await noticeStore(store).resume(of, EARLIER);
    assert.equal(await messages({ due_at: dueAtOnce(EARLIER) }), COUNT);
    await noticeStore(store).removeAll(of);
    assert.deepEqual([await notices({}), await messages({})], [0, 0]);
    inPortions();
  });

  it('when decisions of the scaler expire', async () => {
    const matching = await stored('scaling_decisions', { at: EARLIER });
    await decisionStore(store).add({ at: NOW } as never);
    assert.equal(await matching({}), 1);
    inPortions();
  });
});
