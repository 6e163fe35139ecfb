import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { newOrganization } from '../../../src/accounts/organizations/organization.ts';
import { organizationStore } from '../../../src/accounts/organizations/organization-store.ts';
import { finishCrawled, startWorker, type WorkerLimits } from '../../../src/analysis/pipeline/worker.ts';
import { createWakeSignal } from '../../../src/platform/wake-signal.ts';
import type { TagDefinition } from '../../../src/reference/tags/tag-definitions.ts';
import { changeScan } from '../../../src/scan/change-scan.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { boundCampaign } from '../../support/bound-campaign.ts';
import { type Asked, type Behaviour, type ModelServer, modelServer, USUAL } from '../../support/model-server.ts';
import { captureOf, type RunningFarm, runningFarm } from '../../support/running-farm.ts';

let [server, farm] = [null as unknown as ModelServer, null as unknown as RunningFarm];
before(async () => {
  server = await modelServer();
  farm = await runningFarm({ model: { ...server.settings, scansWaiting: 64 } });
});
afterEach(async () => {
  server.asked.length = 0;
  server.around.behave = () => ({ answers: USUAL });
  await farm.forgetScans();
});
after(async () => {
  await farm.stop();
  await server.stop();
});

async function crawled(url: string): Promise<ScanRecord> {
  const scan = await farm.submit();
  await farm.node.complete(await farm.acquireOne(), captureOf([url]));
  return farm.read(scan._id);
}
const tagOf = (slug: string, organization_id: string): TagDefinition => ({
  ...{ slug, organization_id, category: 'custom', severity: 'low', visibility: 'internal' },
  ...{ display_name: slug, description: '', archived_at: null },
});
const work = (now = new Date()) => finishCrawled(farm.farm.dependencies, now);
const isAbout = ({ user }: Asked, host: string) => String(user).includes(host);
const SECONDS = 60;

describe('the judgement of a model', () => {
  it('§2.1.15 is the category of a finished scan', async () => {
    const scan = await crawled('https://casino.example/');
    await work();
    const { status, error, classification } = await farm.read(scan._id);
    assert.deepEqual([status, error], ['completed', '']);
    assert.deepEqual(classification, {
      brand: 'Casino',
      ai_category: { tier1: 'Gambling and betting', tier2: 'Online casino', tier3: null, tier4: null },
      iab_v3: { id: '181', tier1: 'Attractions', tier2: 'Casinos & Gambling', tier3: null, tier4: null },
      custom_taxonomies: [],
    });
  });

  it('§2.1.15 is not expected if no model is configured', async () => {
    const scan = await crawled('https://unasked.example/');
    await finishCrawled({ ...farm.farm.dependencies, model: null }, new Date());
    const { status, classification } = await farm.read(scan._id);
    assert.deepEqual([status, classification?.ai_category, classification?.iab_v3], ['completed', null, null]);
    assert.equal(server.asked.length, 0);
  });

  it('§2.5.7 is missing if the model refuses: the scan is partial and has the tag', async () => {
    const scan = await crawled('https://refused.example/');
    server.around.behave = () => 'refuses';
    await work();
    const { status, error, tags, classification } = await farm.read(scan._id);
    assert.deepEqual([status, error], ['partial', 'checks: ai_verdict (refused)']);
    assert.deepEqual(
      tags.map(({ tag_slug, url }) => [tag_slug, url]),
      [['ai_prohibited_content', '']],
    );
    assert.deepEqual([classification?.brand, classification?.ai_category], ['Refused', null]);
  });

  it('§3.6 makes the scan partial if it is missing', async () => {
    const scan = await crawled('https://silent.example/');
    server.around.behave = () => ({ status: 401 });
    await work();
    const { status, error, tags } = await farm.read(scan._id);
    assert.deepEqual([status, error, tags], ['partial', 'checks: ai_verdict (none)', []]);
  });

  /** An AI rule of the scan's organization, with its tags. */
  async function ruleFor({ organization_id }: ScanRecord, tags: Record<string, string>, rest: object = {}) {
    await farm.rules.insert({
      ...{ _id: newId(), owner: organization_id, organization_id, name: 'Claims', tag_slug: '', rule_type: 'llm' },
      ...{
        config: { prompt: 'Does it promise gains?', tags },
        target: 'page',
        is_active: true,
        created_at: new Date(),
      },
      ...rest,
    });
    for (const slug of Object.keys(tags)) await farm.tags.register([tagOf(slug, organization_id)], new Date());
  }
  const isRule = ({ schema }: Asked) => schema.name === 'rule';

  it('§2.6.14 includes that of each AI rule: its tags have no URL, and combos read them', async () => {
    const scan = await farm.submit();
    await ruleFor(scan, { gains: 'It promises gains.', fear: 'It frightens.' });
    const combo = { rule_type: 'combo' as const, config: { all_of: ['gains'], match_scope: 'url' as const } };
    await ruleFor(scan, {}, { ...combo, name: 'combo', tag_slug: 'combined' });
    await farm.tags.register([tagOf('combined', scan.organization_id)], new Date());
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://gains.example/']));
    server.around.behave = (asked) =>
      isRule(asked) ? { answers: { tags: [{ slug: 'gains', reason: 'It says so.' }] } } : { answers: USUAL };
    await work();
    const { status, tags } = await farm.read(scan._id);
    assert.equal(status, 'completed');
    assert.deepEqual(
      tags.map(({ tag_slug, url, detail }) => [tag_slug, url, detail]),
      [
        ['gains', '', 'Rule "Claims": It says so.'],
        ['combined', '', 'Rule "combo": all of gains'],
      ],
    );
    const { system, user } = server.asked.find(isRule)!;
    assert.match(system, /the rule "Claims"/);
    assert.match(system, /\nWhat the rule asks: Does it promise gains\?\n/);
    assert.match(system, /\ngains: It promises gains\.\nfear: It frightens\.$/);
    assert.equal(JSON.parse(String(user)).pages[0].url, 'https://gains.example/');
  });

  it('§2.6.14 can be missing for an AI rule too, and the question does not offer an archived tag', async () => {
    const scan = await farm.submit();
    await ruleFor(scan, { gains: 'It promises gains.', old: 'It is old.' });
    await farm.tags.setArchived((await farm.tags.visibleTo(scan.organization_id)).get('old')!, new Date(), new Date());
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://gains.example/']));
    server.around.behave = (asked) =>
      isRule(asked) ? { answers: { tags: [{ slug: 'old', reason: '' }] } } : { answers: USUAL };
    await work();
    const { status, error, tags, classification } = await farm.read(scan._id);
    assert.deepEqual([status, error, tags], ['partial', 'checks: AI rule "Claims" (none)', []]);
    assert.equal(classification?.iab_v3?.id, '181', 'the other verdict counts');
    assert.ok(!server.asked.find(isRule)!.system.includes('It is old.'));
  });

  it('§2.5.17 does not name an AI rule of the platform that assigns a hidden tag where its verdict is missing', async () => {
    const scan = await farm.submit();
    const hidden = { ...tagOf('secret_gains', ''), organization_id: null, visibility: 'hidden' as const };
    await farm.tags.register([hidden], new Date());
    const ofPlatform = { _id: newId(), owner: 'platform', organization_id: null, name: 'Secret' };
    await ruleFor(scan, { secret_gains: 'It promises gains.' }, ofPlatform);
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://gains.example/']));
    server.around.behave = (asked) => (isRule(asked) ? { status: 400 } : { answers: USUAL });
    await work();
    await farm.rules.remove((await farm.rules.find(scan.organization_id, ofPlatform._id))!);
    const { error } = await farm.read(scan._id);
    assert.match(error, /an AI rule of the platform \(none\)/);
    assert.ok(!error.includes('Secret'));
  });

  it('§2.1.16 classifies the scan by the taxonomies of its organization', async () => {
    const scan = await farm.submit();
    const node = { parent_id: null, level: 1, description: '', is_default: false };
    const nodes = ['Games', 'Money'].map((name, position) => ({ ...node, id: `id-of-${name}`, name, position }));
    const own = { _id: 'verticals', organization_id: scan.organization_id, name: 'Verticals', slug: 'verticals' };
    const times = { created_at: new Date(), updated_at: new Date() };
    await farm.taxonomies.insert({ ...own, description: '', is_active: true, version: 3, nodes, ...times });
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://games.example/']));
    server.around.behave = () => ({ answers: { ...USUAL, custom: { taxonomy_1: 'n1' } } });
    await work();
    const [place, ...others] = (await farm.read(scan._id)).classification!.custom_taxonomies;
    assert.deepEqual([place!.leaf_node_id, place!.tier1, place!.taxonomy_version], ['id-of-Games', 'Games', 3]);
    assert.deepEqual(others, []);
    await farm.taxonomies.change(scan.organization_id, 'verticals', { is_active: false });
  });

  it('§2.1.17 sets labels for extraction that were not sent, also at a recheck', async () => {
    const keys = ['team', 'offer', 'price', 'rest'];
    const labels = keys.map((key) => ({ key, display_name: `The ${key}`, auto_extract: key !== 'rest' }));
    const organization = newOrganization({ _id: 'organization-with-labels', name: 'Ours' }, new Date());
    await organizationStore(farm.store).insert({ ...organization, labels });
    const scan = await farm.submit({ organization_id: organization._id, labels: { team: 'red' } });
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://shoes.example/']));
    const says = (offer: string) => () => ({ answers: { ...USUAL, labels: { offer, price: null } } });
    server.around.behave = says(' Running\nshoes ');
    await work();
    assert.deepEqual((await farm.read(scan._id)).labels, { team: 'red', offer: 'Running shoes' });
    assert.match(server.asked[0]!.system, /\noffer: "The offer"\nprice: "The price"$/);

    server.asked.length = 0;
    await farm.store.collection('model_answers').deleteMany({});
    const recheck = { type: 'recheck' as const, id: newId() };
    await changeScan(farm.scans, await farm.read(scan._id), recheck, new Date());
    server.around.behave = says('');
    await work();
    assert.deepEqual((await farm.read(scan._id)).labels, { team: 'red' });
    assert.match(server.asked[0]!.system, /\noffer: "The offer"\n/, 'what a model filled in is asked for again');
  });

  it('§2.8.62 adds labels to the alerts of the scan too, which are routed by them', async () => {
    const labels = [{ key: 'offer', display_name: 'Offer', auto_extract: true }];
    const organization = newOrganization({ _id: 'organization-with-routes', name: 'Ours' }, new Date());
    await organizationStore(farm.store).insert({ ...organization, labels });
    const gambling = { tier1: 'Gambling and betting', tier2: null, tier3: null, tier4: null };
    const entry = { rule_type: 'ai_category' as const, ai_category: gambling };
    const { campaignId: campaign_id } = await boundCampaign(farm.store, organization._id, [entry]);
    const scan = await farm.submit({ organization_id: organization._id, campaign_id, labels: { team: 'red' } });
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://slots.example/']));
    server.around.behave = () => ({ answers: { ...USUAL, labels: { offer: 'Slots' } } });
    await work();
    const alerts = (await farm.read(scan._id)).outbox.find(({ kind }) => kind === 'alerts');
    assert.equal(alerts?.kind, 'alerts');
    assert.deepEqual(alerts.scan.labels, { team: 'red', offer: 'Slots' });
  });

  it('delays no scan but those that wait for it, and these keep their claims', slow, async () => {
    const held = await Promise.all(Array.from({ length: 8 }, (_, at) => crawled(`https://hanging-${at}.example/`)));
    const { promise, resolve } = Promise.withResolvers<Behaviour>();
    server.around.behave = (asked) => (isAbout(asked, 'hanging-') ? promise : { answers: USUAL });
    const limits = { slots: 8, claimMs: 9_000, analysisMs: 120_000 };
    await working(limits, async (wake) => {
      await until('eight to wait', () => server.asked.length === 8, SECONDS);
      const claims = await Promise.all(held.map(({ _id }) => farm.read(_id)));
      const ninth = await crawled('https://ninth.example/');
      wake();
      await until('the ninth to end', () => hasStatus(ninth, 'completed'), SECONDS);
      const isRenewed = async ({ _id, checks_claimed_until: first }: ScanRecord) =>
        (await farm.read(_id)).checks_claimed_until! > first!;
      for (const claim of claims) await until('a claim to be renewed', () => isRenewed(claim), SECONDS);
      resolve({ answers: USUAL });
      for (const scan of held) await until('all to end', () => hasStatus(scan, 'completed'), SECONDS);
    });
    const ended = await Promise.all(held.map(({ _id }) => farm.read(_id)));
    assert.deepEqual(new Set(ended.map(({ checks_attempts }) => checks_attempts)), new Set([1]), 'no claim was lost');
    assert.equal(server.asked.length, 9, 'and nothing was asked twice');
  });

  it('has a limit for the scans that wait for it', async () => {
    const scans = await Promise.all([1, 2, 3].map((at) => crawled(`https://waiting-${at}.example/`)));
    const { promise, resolve } = Promise.withResolvers<Behaviour>();
    server.around.behave = () => promise;
    const states = async () => (await Promise.all(scans.map(({ _id }) => farm.read(_id)))).map(({ status }) => status);
    await working({ slots: 1, waiting: 2, claimMs: 60_000, analysisMs: 120_000 }, async () => {
      await until('two to wait', () => server.asked.length === 2, SECONDS);
      assert.deepEqual((await states()).sort(), ['checking', 'checking', 'crawled']);
      resolve({ answers: USUAL });
      await until('all to end', async () => (await states()).every((status) => status === 'completed'), SECONDS);
    });
  });

  it('is left to the next worker when this one stops', async () => {
    const scan = await crawled('https://left.example/');
    server.around.behave = () => 'hangs';
    const limits = { slots: 1, claimMs: 60_000, analysisMs: 120_000 };
    await working(limits, () => until('it to wait', () => server.asked.length === 1, SECONDS));
    assert.equal((await farm.read(scan._id)).status, 'checking');
    server.around.behave = () => ({ answers: USUAL });
    assert.equal(await work(new Date(Date.now() + 120_000)), 1);
    assert.equal((await farm.read(scan._id)).status, 'completed');
  });
});

const hasStatus = async ({ _id }: ScanRecord, status: string) => (await farm.read(_id)).status === status;

/** Runs a worker while `during` does. */
async function working(limits: WorkerLimits, during: (wake: () => void) => Promise<unknown>): Promise<void> {
  const crawledSignal = createWakeSignal();
  const worker = startWorker(farm.farm.dependencies, crawledSignal, limits);
  try {
    await during(() => crawledSignal.raise());
  } finally {
    await worker.stop();
  }
}
