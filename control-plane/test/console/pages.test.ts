import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { addOrganization } from '../../src/accounts/add-organization.ts';
import type { LookChange } from '../../src/scan/look.ts';
import type { CampaignRecord } from '../../src/scanning/campaigns/campaign.ts';
import type { RunRecord } from '../../src/scanning/runs/run.ts';
import { newScan } from '../../src/scanning/scans/request/new-scan.ts';
import { raiseAlert } from '../support/alert-doubles.ts';
import { consoleBrowser } from '../support/console-browser.ts';
import { fieldsIn } from '../support/form-fields.ts';
import { PRICE_MICROS } from '../support/open-plane.ts';
import { type Json, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';
import { CATALOGUE } from '../support/sample-catalogue.ts';

const DAY_MS = 86_400_000;

describe('a page of the console', () => {
  let api: RunningApi;
  let browser: ReturnType<typeof consoleBrowser>;
  let cookie: string;
  before(async () => {
    api = await runningApi();
    browser = consoleBrowser(api);
    cookie = await browser.signIn();
  });
  after(() => api.stop());

  const made = async (path: string, body: unknown): Promise<Json> => {
    const answer = await api.post(`/api/v1/${path}`, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const read = async (path: string): Promise<Json> => (await api.get(`/api/v1/${path}`)).body;
  const campaignOf = (more: object = {}): Promise<Json> =>
    made('campaigns', {
      name: 'Spring',
      url: PAGE.url,
      country_codes: ['US'],
      emulator_specific_ids: ['windows_chrome'],
      ...more,
    });

  test('of a campaign names its policy set, and keeps it when it is saved with a key that may not read policy sets', async () => {
    const { id: policy_set_id } = await made('policy-sets', { name: 'Safety', entries: [{ tag_slug: 'autosound' }] });
    const campaign = await campaignOf({ policy_set_id });
    assert.match((await browser.get(`/campaigns/${campaign.id}`, cookie)).text, />Policy set<[\s\S]{0,200}>Safety</);
    const key = await api.keyThatMay('campaigns.read', 'campaigns.write', 'scans.read');
    const other = await browser.signIn(key);
    assert.match((await browser.get(`/campaigns/${campaign.id}`, other)).text, /one that this key may not read/);
    const fields = fieldsIn((await browser.get(`/campaigns/${campaign.id}/edit`, other)).text);
    const saved = await browser.post(
      `/campaigns/${campaign.id}/edit`,
      { ...fields, devices: 'windows_chrome', name: 'Summer' },
      other,
    );
    assert.equal(saved.status, 303);
    assert.partialDeepStrictEqual(await read(`campaigns/${campaign.id}`), { name: 'Summer', policy_set_id });
  });

  test('with a form that the person may not send is not shown, and says which permission is missing', async () => {
    const { id } = await campaignOf();
    const reader = await browser.signIn(
      await api.keyThatMay('scans.read', 'campaigns.read', 'policies.read', 'alerts.read'),
    );
    for (const [path, permission] of [
      ['/scans/new', 'scans.write'],
      ['/scans/bulk', 'scans.write'],
      ['/campaigns/new', 'campaigns.write'],
      [`/campaigns/${id}/edit`, 'campaigns.write'],
      ['/rules/new', 'custom_rules.manage'],
      ['/policies/new', 'policies.manage'],
      ['/webhooks/new', 'webhooks.manage'],
    ]) {
      const { status, text } = await browser.get(path!, reader);
      assert.equal(status, 403, path);
      assert.ok(text.includes(`lacks the permission ${permission}`), path);
      assert.doesNotMatch(text, /<form class="form"/, path);
      assert.equal((await browser.get(path!, cookie)).status, 200, path);
    }
  });

  test('of a new campaign shows when it would run, and not for an interval that the API would refuse', async () => {
    const shown = async (seconds: string) => {
      const query = new URLSearchParams({ schedule_type: 'interval', schedule_interval_seconds: seconds });
      const { status, text } = await browser.get(`/campaigns/new?${query}`, cookie);
      return [status, /Next firings/.test(text), /does not fire/.test(text)];
    };
    assert.deepEqual(await shown('3600'), [200, true, false]);
    for (const refused of ['999999999999999', '61', '0', 'often'])
      assert.deepEqual(await shown(refused), [200, false, true], refused);
  });

  test('of what happens now says that nothing needs a person only of what the person may read', async () => {
    const reader = await browser.signIn(await api.keyThatMay('scans.read'));
    assert.doesNotMatch((await browser.get('', reader)).text, /Needs a person/);
    const scheduler = await browser.signIn(await api.keyThatMay('scans.read', 'campaigns.read'));
    assert.match((await browser.get('', scheduler)).text, /Needs a person[\s\S]*There is no skipped schedule\./);
  });

  test('that does not exist, or says what became of an action, is none of the navigation', async () => {
    const { status, text } = await browser.get('/nothing', cookie);
    assert.deepEqual([status, /aria-current/.test(text)], [404, false]);
    assert.match((await browser.get('', cookie)).text, /aria-current="page"/);
  });

  test('has the same address with and without a slash at its end', async () => {
    assert.equal((await browser.get('/', cookie)).to, '/console');
    assert.equal((await browser.get('/scans/?country_code=US', cookie)).to, '/console/scans?country_code=US');
  });

  test('of settings offers a new key what the key of the person may, and a role what any organization may', async () => {
    const keeper = await browser.signIn(await api.keyThatMay('account.manage', 'fleet.read'));
    const { text } = await browser.get('/settings', keeper);
    const [, keys = '', others = ''] = /(<summary>New key[\s\S]*?)(<summary>New OAuth client[\s\S]*)/.exec(text) ?? [];
    const offered = (part: string) => ['account.manage', 'fleet.read'].map((one) => part.includes(`value="${one}"`));
    assert.deepEqual(
      [offered(keys), offered(others)],
      [
        [true, true],
        [true, false],
      ],
    );
  });

  test('of what happens now says that scans beyond the quota are refused, and until when', async () => {
    const limit = (checks_per_month: number | null) =>
      api.accounts.organizations.change(ORGANIZATIONS.ours, { quotas: { checks_per_month } });
    await made('scans', { ...PAGE, repeat_count: 10 });
    const { checks_used, period_end } = await read('billing');
    const day = period_end.slice(0, 10);
    await limit(checks_used + 1);
    const ending = await browser.get('', cookie);
    await limit(checks_used);
    const ended = await browser.get('', cookie);
    await limit(null);
    assert.match(ending.text, new RegExp(`further ones are refused until ${day}`));
    assert.match(ended.text, new RegExp(`No scan can be created[\\s\\S]*there are new ones on ${day}`));
  });

  test('of a policy set saves what it was loaded with: four tiers of a taxonomy, and values with the signs of its lines', async () => {
    const nodes = ['Health', 'Pills', 'Diet', 'Miracle'].map((name, at, all) => ({
      client_id: name,
      name,
      parent_client_id: all[at - 1] ?? null,
    }));
    const taxonomy = await made('custom-taxonomies', { name: 'Ours', nodes });
    const tiers = { tier1: 'Health', tier2: 'Pills', tier3: 'Diet', tier4: 'Miracle' };
    const set = await made('policy-sets', {
      name: 'Deep',
      entries: [
        {
          rule_type: 'custom_taxonomy',
          custom_taxonomy: { taxonomy_id: taxonomy.id, ...tiers },
          country_codes: ['DE'],
        },
        { rule_type: 'brand', brand: 'Coins@DE: now' },
        { rule_type: 'brand', brand: 'me@shop', country_codes: ['US', 'PT'] },
      ],
    });
    const loaded = fieldsIn((await browser.get(`/policies/${set.id}`, cookie)).text);
    const saved = await browser.post(`/policies/${set.id}`, { ...loaded, description: 'Changed' }, cookie);
    assert.equal(saved.status, 303);
    const changed = await read(`policy-sets/${set.id}`);
    assert.deepEqual([changed.description, changed.entries], ['Changed', set.entries]);
    const deeper = {
      entries: `custom_taxonomy: ${taxonomy.id} > Health > Pills > Diet > Miracle > Deeper`,
      name: 'Deep',
    };
    const token = await browser.tokenOf(`/policies/${set.id}`, cookie);
    await browser.post(`/policies/${set.id}`, { token, ...deeper }, cookie);
    const [entry] = (await read(`policy-sets/${set.id}`)).entries;
    assert.equal(entry.custom_taxonomy.tier4, 'Miracle > Deeper');
  });

  test('says why a test of an endpoint failed, and which campaigns of a group could not be run', async () => {
    const act = async (path: string, more: object) => {
      const token = await browser.tokenOf('/scans', cookie);
      const form = { token, method: 'POST', path: `/api/v1/${path}`, back: '/console/webhooks', ...more };
      return browser.post('/act', form, cookie);
    };
    const { webhook } = await made('webhooks', { url: 'https://nobody.invalid/hook' });
    const tried = await act(`webhooks/${webhook.id}/test`, {
      body: '{"event_type":"scanning.scan.completed"}',
      done: 'tried',
    });
    assert.equal(tried.status, 200);
    assert.match(tried.text, /<h1>The test failed<\/h1>[\s\S]*no such host[\s\S]*href="\/console\/webhooks"/);

    const group = await made('campaign-groups', { name: 'Both' });
    await campaignOf({ group_id: group.id, name: 'Cannot run' });
    const operator = await api.keyThatMay('organizations.manage');
    const quotas = (checks_per_month: number | null) =>
      api.call('PATCH', `/api/v1/organizations/${ORGANIZATIONS.ours}`, { key: operator, body: { checks_per_month } });
    await quotas(0);
    const refused = await act(`campaign-groups/${group.id}/run`, { done: 'started' });
    await quotas(null);
    assert.equal(refused.status, 200);
    assert.match(refused.text, /<h1>1 campaign could not be run<\/h1>[\s\S]*No run was started[\s\S]*Cannot run/);
    assert.match((await act(`campaign-groups/${group.id}/run`, { done: 'started' })).to ?? '', /done=started/);
  });

  test('of an organization gives the operator a further key of it, once', async () => {
    const operator = await api.keyThatMay('organizations.manage');
    const session = await browser.signIn(operator);
    const page = `/organizations/${ORGANIZATIONS.theirs}`;
    const form = { token: await browser.tokenOf(page, session), key_name: 'Lost the others' };
    const keyIn = async (): Promise<string | undefined> =>
      /<pre class="secret"[^>]*><code>([^<]+)</.exec((await browser.post(`${page}/keys`, form, session)).text)?.[1];
    const key = await keyIn();
    assert.equal((await api.get('/api/v1/account', { key: key ?? '' })).body.id, ORGANIZATIONS.theirs);
    assert.equal(await keyIn(), key);
    const refused = await browser.post(`${page}/keys`, { ...form, key_name: '' }, session);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /id="key_name-problem"/);
    assert.doesNotMatch(refused.text, /id="name-problem"/);
    assert.equal((await browser.post(`${page}/keys`, form, cookie)).status, 403);
  });

  test('of the operator leads to every organization and every policy set, however many there are', async () => {
    for (let at = 0; at < 210; at++)
      await addOrganization(
        api.accounts,
        { _id: `organization-${at}`, name: `Number ${at}` },
        `key-${at}`,
        new Date(Date.now() + at),
      );
    const operator = await api.keyThatMay('organizations.manage');
    const session = await browser.signIn(operator);
    const last = (await api.get('/api/v1/organizations?limit=200&page=2', { key: operator })).body.items.at(-1);
    assert.match(
      (await browser.get('/organizations', session)).text,
      /rel="next" href="\/console\/organizations\?page=2"/,
    );
    assert.match((await browser.get('/organizations?page=5', session)).text, new RegExp(last.name));
    assert.match((await browser.get(`/organizations/${last.id}`, session)).text, new RegExp(`<h1>${last.name}</h1>`));
    assert.equal((await browser.get('/organizations/none', session)).status, 404);
    for (let at = 0; at < 50; at++)
      await made('policy-sets', { name: `Set ${at}`, entries: [{ tag_slug: 'autosound' }] });
    assert.match((await browser.get('/policies', cookie)).text, /rel="next" href="\/console\/policies\?page=2"/);
  });

  test('of alerts shows the same view after decisions, and takes back only those about open alerts', async () => {
    const campaign = await campaignOf({ name: 'Alerted' });
    const country = { country_code: 'PT' };
    const ids: string[] = [];
    for (let at = 0; at < 51; at++) ids.push(await raiseAlert(api, campaign.id, country, { entry_id: `entry-${at}` }));
    const escalated = ids[50]!;
    await api.call('PATCH', `/api/v1/alerts/${escalated}/status`, { body: { status: 'escalated' } });
    const view = `/alerts?campaign_id=${campaign.id}&status=open,escalated`;
    const form = fieldsIn((await browser.get(view, cookie)).text);
    assert.equal(form.back, `/console/alerts?campaign_id=${campaign.id}&status=open%2Cescalated`);
    const open = form.open!.split(',', 1)[0]!;
    const sent = new URLSearchParams(['token', 'back', 'open'].map((name) => [name, form[name]!]));
    for (const id of [open, escalated]) sent.append('ids', id);
    const answer = await fetch(`http://127.0.0.1:${api.port}/console/alerts/selected`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams([...sent, ['status', 'resolved']]),
      headers: { cookie, origin: 'https://adsweep.example' },
    });
    assert.equal(answer.headers.get('location'), `${form.back}&done=resolved&undo=${open}`);
    assert.equal((await read(`alerts/${escalated}`)).status, 'resolved');
    // 49 alerts are left: the second page is gone.
    const beyond = await browser.get(`/alerts?campaign_id=${campaign.id}&page=2&done=resolved`, cookie);
    assert.equal(beyond.to, `/console/alerts?campaign_id=${campaign.id}&page=1&done=resolved`);
    // The API filters a decision by one status.
    for (const id of ids.slice(0, 3))
      await api.call('PATCH', `/api/v1/alerts/${id}/status`, { body: { status: id === open ? 'open' : 'escalated' } });
    const several = await browser.get(`/alerts/all?campaign_id=${campaign.id}&status=open,escalated`, cookie);
    const counts = (await read(`alerts/stats?campaign_id=${campaign.id}`)) as Record<string, number>;
    assert.match(
      several.text,
      new RegExp(`Escalate all ${counts.open}<[\\s\\S]*Resolve all ${counts.open! + counts.escalated!}<`),
    );
    const resolved = await browser.post('/alerts/all', { ...fieldsIn(several.text), next: 'resolved' }, cookie);
    assert.equal(resolved.to, `/console/alerts?campaign_id=${campaign.id}&status=open%2Cescalated&done=resolved`);
    assert.partialDeepStrictEqual(await read(`alerts/stats?campaign_id=${campaign.id}`), { open: 0, escalated: 0 });
    for (const id of ids.slice(0, 2))
      await api.call('PATCH', `/api/v1/alerts/${id}/status`, { body: { status: 'open' } });
    const all = await browser.get(`/alerts/all?campaign_id=${campaign.id}`, cookie);
    const decided = await browser.post('/alerts/all', { ...fieldsIn(all.text), next: 'dismissed' }, cookie);
    assert.equal(decided.to, `/console/alerts?campaign_id=${campaign.id}&status=open&done=dismissed`);
    const ofAnyStatus = await browser.get(`/alerts?campaign_id=${campaign.id}&status=`, cookie);
    const [, path = ''] = /href="\/console(\/alerts\/all[^"]*)">Decide all 51</.exec(ofAnyStatus.text) ?? [];
    assert.match((await browser.get(path.replaceAll('&amp;', '&'), cookie)).text, />51 alerts match</);
  });

  test('of the fleet names the service that a node waits for', async () => {
    const report = { slots: 4, busy: 0, draining: false, adsweep_version: '1', browser_version: '1' };
    const { nodes } = api.domains.crawling.dependencies;
    await nodes.report({ nodeId: 'stuck', instance: 'one' }, { ...report, waits_for: ['exits'] });
    await nodes.report({ nodeId: 'older', instance: 'one' }, report);
    const operator = await browser.signIn(await api.keyThatMay('fleet.read'));
    const { text } = await browser.get('/fleet', operator);
    assert.match(text, /<bdi>waiting<\/bdi><\/span><span class="meta">for the proxy-router<\/span>/);
    assert.match(text, /<span class="tile-value[^"]*">1<\/span><span class="tile-label">node in service/);
  });

  test('of a campaign counts the runs of each day of its calendar, whatever page of its runs it shows', async () => {
    const { id: campaign_id } = await campaignOf();
    const run = (at: number): RunRecord => ({
      _id: `run-${at}`,
      organization_id: ORGANIZATIONS.ours,
      campaign_id,
      label: `${at}`,
      trigger: 'manual',
      cancelled_at: null,
      created_at: new Date(Date.now() - (at % 2) * DAY_MS),
    });
    await api.store.collection<RunRecord>('runs').insertMany(Array.from({ length: 60 }, (_, at) => run(at)));
    const { text } = await browser.get(`/campaigns/${campaign_id}?page=3`, cookie);
    const counts = [...text.matchAll(/<td class="day has"><span class="unseen">([\d-]+): <\/span>([^<]*)</g)];
    assert.deepEqual(
      counts.map(([, , count]) => count),
      ['30', '30'],
    );
  });

  test('of a run shows what changed in it, however much changed in later runs', async () => {
    const { id: campaign_id } = await campaignOf();
    const insert = async (run_id: string, created_at: Date) => {
      const change: LookChange = {
        kind: 'landing',
        what: ['domain'],
        before: '',
        after: '',
        previous_scan_id: newId(),
        previous_run_id: newId(),
      };
      const options = { organizationId: ORGANIZATIONS.ours, priceMicros: PRICE_MICROS };
      const scan = newScan(PAGE, { id: newId(), country: 'US' }, CATALOGUE, options, created_at);
      await api.scans.insertUnlessExists({ ...scan, campaign_id, run_id, status: 'completed', changes: [change] });
    };
    const at = new Date(Date.now() - DAY_MS);
    const run = { organization_id: ORGANIZATIONS.ours, campaign_id, label: '', cancelled_at: null };
    await api.store
      .collection<RunRecord>('runs')
      .insertOne({ ...run, _id: 'old-run', trigger: 'manual', created_at: at });
    await insert('old-run', at);
    for (let n = 0; n < 201; n++) await insert('later-run', new Date());
    const { text } = await browser.get('/runs/old-run', cookie);
    assert.match(text, /<span class="tile-value medium-text">1<\/span><span class="tile-label">changed since/);
  });

  test('of a list is its last one where the address names one beyond it, and says in which time zone its times are', async () => {
    await made('scans', PAGE);
    const beyond = await browser.get('/scans?country_code=US&page=99', cookie);
    assert.equal(beyond.status, 303);
    assert.match(beyond.to ?? '', /^\/console\/scans\?country_code=US&page=\d$/);
    const { text } = await browser.get('/scans', cookie);
    assert.match(text, /<time [^>]*>\d\d:\d\d\u00a0UTC<\/time>/);
    assert.match(text, /<label for="date_from">From \(UTC\)/);
    assert.match((await browser.get('/scans?timezone=Asia/Tokyo', cookie)).text, /From \(Asia\/Tokyo\)/);
  });

  test('keeps what was typed where the API refuses it, and else leads back to where the person was', async () => {
    const token = await browser.tokenOf('/rules', cookie);
    const twice = { token, name: 'Twice'.repeat(100), text: 'Health\n    Too deep' };
    const refused = await browser.post('/rules/taxonomies', twice, cookie);
    assert.equal(refused.status, 422);
    assert.match(
      refused.text,
      /<details class="fold inner" open>[\s\S]*value="TwiceTwice[\s\S]*\nHealth\n {4}Too deep<\/textarea>/,
    );
    const usage = await browser.get('/usage?date_from=2026-02-03&date_to=2026-02-01', cookie);
    assert.equal(usage.status, 200);
    assert.match(usage.text, /name="date_from"[^>]*value="2026-02-03"/);
    assert.match(usage.text, /role="alert"/);
    const { webhook } = await made('webhooks', { url: 'https://nobody.invalid/other' });
    const page = `/console/webhooks/${webhook.id}`;
    const range = { token, from_ts: '2026-02-03T00:00', to_ts: '2026-02-01T00:00' };
    const referer = `https://adsweep.example${page}`;
    const replay = await browser.post(`/webhooks/${webhook.id}/replay`, range, cookie, { referer });
    assert.equal(replay.status, 422);
    assert.match(replay.text, new RegExp(`<a href="${page}">Go back`));
  });

  test('that needs a person names a skipped schedule, however many campaigns there are', async () => {
    const campaigns = api.store.collection<CampaignRecord>('campaigns');
    const { id } = await campaignOf({ name: 'The skipped one' });
    const last_schedule_problem = { code: 'overlap', detail: 'The run before has not ended.', at: new Date() };
    await campaigns.updateOne({ _id: id }, { $set: { last_schedule_problem, created_at: new Date(0) } });
    const skipped = await campaigns.findOne({ _id: id });
    await campaigns.insertMany(
      Array.from({ length: 201 }, (_, at) => ({
        ...skipped!,
        _id: `other-${at}`,
        name: `Other ${at}`,
        created_at: new Date(),
        last_schedule_problem: null,
      })),
    );
    assert.match((await browser.get('', cookie)).text, /A schedule was skipped: The skipped one/);
  });

  test('of campaigns offers the way out of filters that match none', async () => {
    const { text } = await browser.get('/campaigns?q=nothing-has-this-name', cookie);
    assert.match(text, /No campaign matches[\s\S]*href="\/console\/campaigns">All campaigns/);
  });

  test('says that a key without chosen permissions gets all those of its maker', async () => {
    assert.match((await browser.get('/settings', cookie)).text, /None chosen: the new key gets all permissions/);
  });
});
