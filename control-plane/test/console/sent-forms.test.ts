import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { openConsole } from '../../src/console/console.ts';
import { weekOf } from '../../src/console/pages/campaign-form.ts';
import { labelsOf } from '../../src/console/pages/scans/scan-form.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { consoleBrowser } from '../support/console-browser.ts';
import { fieldsIn } from '../support/form-fields.ts';
import { ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';

describe('a form that was sent to the console', () => {
  let api: RunningApi;
  let browser: ReturnType<typeof consoleBrowser>;
  let cookie: string;
  before(async () => {
    api = await runningApi();
    browser = consoleBrowser(api);
    cookie = await browser.signIn();
  });
  after(() => api.stop());

  const countOf = async (path: string): Promise<number> => (await api.get(`/api/v1/${path}`)).body.total;
  const scanForm = { intent: 'create', kind: 'url', country_code: PAGE.country_code, emulator_id: PAGE.emulator_id };

  test('creates and charges once, also if its answer was lost and the browser sends it again', async () => {
    const token = await browser.tokenOf('/scans/new', cookie);
    const form = { ...scanForm, token, target: 'https://lost.example/' };
    const [first, meanwhile] = await Promise.all([
      browser.post('/scans/new', form, cookie),
      browser.post('/scans/new', form, cookie),
    ]);
    const again = await browser.post('/scans/new', form, cookie);
    const pageOf = ({ to }: { to: string | null }) => new URL(to ?? '', 'https://adsweep.example').pathname;
    assert.deepEqual([pageOf(meanwhile), pageOf(again)], [pageOf(first), pageOf(first)]);
    assert.equal(await countOf('scans?url=lost.example'), 1);
    assert.match(again.to ?? '', /\?done=already$/);
    assert.match((await browser.get(again.to!.replace('/console', ''), cookie)).text, /had been sent before/);
    // The person went back to it, changed it, or means to do it once more.
    await browser.post('/scans/new', { ...form, labels: 'team=red' }, cookie);
    await browser.post('/scans/new', { ...form, again: '1' }, cookie);
    assert.equal(await countOf('scans?url=lost.example'), 3);
  });

  test('with equal lines creates a scan of each, and none of them again', async () => {
    const token = await browser.tokenOf('/scans/bulk', cookie);
    const form = { ...scanForm, token, target: 'https://line.example/\nhttps://line.example/' };
    for (let times = 0; times < 2; times++) {
      const { status, text } = await browser.post('/scans/bulk', form, cookie);
      assert.deepEqual([status, /2 scans created/.test(text)], [200, true]);
      assert.equal(await countOf('scans?url=line.example'), 2);
    }
  });

  test('of a rule says that its configuration is no JSON, and keeps what was written', async () => {
    const token = await browser.tokenOf('/rules/new', cookie);
    const rule = { token, name: 'Cures', rule_type: 'stopword_content', target: 'page', tag_slug: 'cures' };
    const wrong = await browser.post(
      '/rules/new',
      { ...rule, intent: 'save', config: '{ "contains": ["a",] }' },
      cookie,
    );
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /<p class="wrong" id="config-problem">This is not valid JSON: Unexpected token/);
    assert.match(wrong.text, /&quot;a&quot;,\] \}<\/textarea>/);
  });

  test('of a campaign says what is no day of its week, and at which day there is no such hour', async () => {
    const token = await browser.tokenOf('/campaigns/new', cookie);
    const own = { name: 'Week', target: PAGE.url, countries: 'US', devices: PAGE.emulator_id };
    const week = { schedule_type: 'weekly', schedule_timezone: 'UTC', weekly: 'Mon-Fri 8\ntue 25' };
    const { status, text } = await browser.post('/campaigns/new', { token, kind: 'url', ...own, ...week }, cookie);
    assert.equal(status, 422);
    const [, wrong] = /<p class="wrong" id="weekly-problem">([^<]+)</.exec(text) ?? [];
    assert.match(wrong ?? '', /^Mon-Fri is no day: .+ Tuesday: Must be an integer from 0 to 23\.$/);
  });

  test('of a policy set says which of its entries is refused', async () => {
    const token = await browser.tokenOf('/policies/new', cookie);
    const entries = 'tag: auto_redirect\n\nwhatever';
    const { status, text } = await browser.post('/policies/new', { token, name: 'Safety', entries }, cookie);
    assert.equal(status, 422);
    assert.match(text, /<p class="wrong" id="entries-problem">Entry 2: Must be one of/);
  });

  test('of a key that may write, but not read, says that it was saved', async () => {
    const writes = await browser.signIn(await api.keyThatMay('custom_rules.manage', 'policies.manage'));
    const forms = {
      '/rules/new': {
        name: 'Unseen',
        rule_type: 'stopword_content',
        target: 'page',
        tag_slug: 'unseen',
        intent: 'save',
      },
      '/policies/new': { name: 'Unseen', entries: 'tag: auto_redirect' },
    };
    for (const [path, form] of Object.entries(forms)) {
      const { to } = await browser.post(path, { ...form, token: await browser.tokenOf(path, writes) }, writes);
      const { status, text } = await browser.get(to!.replace('/console', ''), writes);
      assert.deepEqual([path, status, /role="status">Created\./.test(text)], [path, 200, true]);
    }
  });

  test('of a destination shows, where it is refused, no secret of it among the calls of the API', async () => {
    const token = await browser.tokenOf('/destinations', cookie);
    const forms: Record<string, string>[] = [
      { channel: 'slack', webhook_url: 'ftp://slack.example/secret-path' },
      { channel: 'telegram', bot_token: 'secret-token', chat_id: '' },
    ];
    for (const form of forms) {
      const { status, text } = await browser.post('/destinations', { token, name: 'Team', ...form }, cookie);
      assert.equal(status, 422);
      assert.match(text, /&quot;channel&quot;/);
      assert.doesNotMatch(text, /secret-/);
      // It was not ticked, and is not ticked again by the refusal.
      assert.doesNotMatch(text, /name="is_default_target" value="yes" checked/);
    }
    assert.match((await browser.get('/destinations', cookie)).text, /name="is_default_target" value="yes" checked/);
  });

  test('shows the same secret where it is sent again', async () => {
    const token = await browser.tokenOf('/settings', cookie);
    const secretIn = async () =>
      /class="secret"[^>]*><code>([^<]+)/.exec(
        (await browser.post('/settings', { token, what: 'key', name: 'Twice' }, cookie)).text,
      )?.[1];
    const secret = await secretIn();
    assert.ok(secret);
    assert.equal(await secretIn(), secret);
  });

  test('without a session is not lost without a word: its page is where the sign-in leads', async () => {
    const referer = 'https://adsweep.example/console/campaigns/new?name=Spring';
    const lost = await browser.post('/campaigns/new', { name: 'Spring' }, '', { referer });
    const to = '/console/campaigns/new?name=Spring';
    assert.deepEqual([lost.status, lost.to], [303, `/console/sign-in?${new URLSearchParams({ to, unsaved: 'yes' })}`]);
    const { text } = await browser.get(lost.to!.replace('/console', ''));
    assert.match(text, /role="alert">You are no longer signed in, so what you sent was not done/);
    assert.match(text, /name="to" value="\/console\/campaigns\/new\?name=Spring"/);
    assert.doesNotMatch(text, /aria-invalid/);
    const elsewhere = await browser.post('/act', {}, '', { referer: 'https://evil.example/console/../x' });
    assert.equal(elsewhere.to, '/console/sign-in?to=%2Fconsole&unsaved=yes');
  });

  test('is refused where a quota is no number: it does not become no limit', async () => {
    const operator = await browser.signIn(await api.keyThatMay('organizations.manage'));
    const page = `/organizations/${ORGANIZATIONS.theirs}`;
    const token = await browser.tokenOf(page, operator);
    const form = { token, name: 'Theirs', status: 'active', checks_per_month: '1e', concurrent_leases: '' };
    const { status, text } = await browser.post(page, form, operator);
    assert.equal(status, 422);
    assert.match(text, /id="checks_per_month-problem"/);
    assert.equal(fieldsIn(text).checks_per_month, '1e');
  });

  const lost = /Somebody else has changed this meanwhile/;

  test('changes only what was changed in it, although somebody else has changed the rest since it was loaded', async () => {
    const operator = await api.keyThatMay('organizations.manage');
    const session = await browser.signIn(operator);
    const page = `/organizations/${ORGANIZATIONS.theirs}`;
    const change = (body: object) => api.call('PATCH', `/api/v1${page}`, { key: operator, body });
    const [before] = [fieldsIn((await browser.get(page, session)).text)];
    await change({ status: 'suspended', checks_per_month: 7 });
    const refused = await browser.post(page, { ...before, name: 'Renamed', concurrent_leases: 'many' }, session);
    assert.equal(refused.status, 422);
    const saved = await browser.post(page, { ...fieldsIn(refused.text), concurrent_leases: '3' }, session);
    assert.equal(saved.status, 303);
    const { body } = await change({ requests_per_minute: null });
    const expected = { name: 'Renamed', status: 'suspended', checks_per_month: 7, concurrent_leases: 3 };
    assert.partialDeepStrictEqual(body, expected);
    await change({ status: 'active', checks_per_month: null, concurrent_leases: null });

    const settings = fieldsIn((await browser.get('/settings', cookie)).text);
    const account = { token: settings.token!, what: 'account', loaded: settings.loaded!, organization_name: 'Ours' };
    await api.call('PATCH', '/api/v1/account', { body: { contact_emails: ['new@ours.example'] } });
    await browser.post('/settings', { ...account, contact_emails: settings.contact_emails ?? '' }, cookie);
    const own = { name: 'Ours', contact_emails: ['new@ours.example'] };
    assert.partialDeepStrictEqual((await api.get('/api/v1/account')).body, own);
  });

  test('of a campaign leaves alone what somebody else has changed since it was loaded', async () => {
    const made = await api.post('/api/v1/campaigns', {
      name: 'Spring',
      url: PAGE.url,
      country_codes: ['US'],
      emulator_specific_ids: ['windows_chrome'],
    });
    const path = `/campaigns/${made.body.id}`;
    const form = fieldsIn((await browser.get(`${path}/edit`, cookie)).text);
    const meanwhile = { country_codes: ['PT'], schedule_type: 'interval', schedule_interval_seconds: 3_600 };
    await api.call('PATCH', `/api/v1${path}`, { body: meanwhile });
    const saved = await browser.post(`${path}/edit`, { ...form, name: 'Summer', weekly: '' }, cookie);
    assert.equal(saved.status, 303);
    assert.partialDeepStrictEqual((await api.get(`/api/v1${path}`)).body, { ...meanwhile, name: 'Summer' });
    const unchanged = fieldsIn((await browser.get(`${path}/edit`, cookie)).text);
    assert.equal((await browser.post(`${path}/edit`, unchanged, cookie)).status, 303);
    const both = await browser.post(`${path}/edit`, { ...form, countries: 'US, DE' }, cookie);
    assert.equal(both.status, 422);
    assert.match(both.text, lost);
    assert.deepEqual((await api.get(`/api/v1${path}`)).body.country_codes, ['PT']);
    // What is sent without saying what it was loaded with is all meant.
    const { loaded: _, ...all } = form;
    await browser.post(`${path}/edit`, { ...all, token: await browser.tokenOf('/scans', cookie) }, cookie);
    const own = { name: 'Spring', country_codes: ['US'], schedule_type: null };
    assert.partialDeepStrictEqual((await api.get(`/api/v1${path}`)).body, own);
  });

  test('of a campaign whose markup has the line ends of Windows leaves it as it is', async () => {
    const ad_tag = '<b>\r\nan ad</b>\r<i>of ours</i>';
    const campaign = { name: 'Tag', campaign_type: 'ad_tag', country_codes: ['US'], ad_tag };
    const path = `/campaigns/${(await api.post('/api/v1/campaigns', campaign)).body.id}`;
    const form = fieldsIn((await browser.get(`${path}/edit`, cookie)).text);
    // As browsers send it.
    const target = form.target!.replaceAll(/\r\n?/g, '\n').replaceAll('\n', '\r\n');
    assert.equal((await browser.post(`${path}/edit`, { ...form, target, name: 'Renamed' }, cookie)).status, 303);
    assert.partialDeepStrictEqual((await api.get(`/api/v1${path}`)).body, { name: 'Renamed', ad_tag });
  });

  test('of a rule saves only what was changed in it, and says so where somebody else has changed the same', async () => {
    const made = await api.post('/api/v1/custom-rules', {
      ...{ name: 'Casino', rule_type: 'stopword_content', tag_slug: 'casino', config: { contains: ['casino'] } },
    });
    const path = `/rules/${made.body.id}`;
    const change = (body: object) => api.call('PUT', `/api/v1/custom-rules/${made.body.id}`, { body });
    const rule = async () => (await api.get(`/api/v1/custom-rules/${made.body.id}`)).body;
    const form = fieldsIn((await browser.get(path, cookie)).text);
    await change({ config: { contains: ['casino', 'roulette'] } });
    assert.equal((await browser.post(path, { ...form, intent: 'save', name: 'Games' }, cookie)).status, 303);
    assert.partialDeepStrictEqual(await rule(), { name: 'Games', config: { contains: ['casino', 'roulette'] } });

    const own = { ...form, intent: 'save', config: '{"contains":["poker"]}' };
    const refused = await browser.post(path, own, cookie);
    assert.equal(refused.status, 422);
    assert.match(refused.text, lost);
    assert.deepEqual((await rule()).config, { contains: ['casino', 'roulette'] });
    // Now the person knows.
    const again = fieldsIn(refused.text);
    assert.deepEqual([again.config, again.name], [own.config, 'Casino']);
    assert.equal((await browser.post(path, { ...again, intent: 'save' }, cookie)).status, 303);
    assert.partialDeepStrictEqual(await rule(), { name: 'Games', config: { contains: ['poker'] } });
  });

  test('of a policy set saves only what was changed in it, and an unchanged one is not replaced', async () => {
    const entries = [{ tag_slug: 'autosound' }];
    const description = 'Of two\nlines';
    const { body: made } = await api.post('/api/v1/policy-sets', { name: 'Safety', description, entries });
    const path = `/policies/${made.id}`;
    const set = async () => (await api.get(`/api/v1/policy-sets/${made.id}`)).body;
    const page = (await browser.get(path, cookie)).text;
    const form = fieldsIn(page);
    assert.match(page, /<textarea id="description"/, 'a field of one line would lose the ends of lines');
    assert.equal((await browser.post(path, form, cookie)).status, 303);
    assert.equal((await set()).version, made.version);
    const theirs = { name: 'Safety', description, entries: [...entries, { rule_type: 'brand', brand: 'Acme' }] };
    await api.call('PUT', `/api/v1/policy-sets/${made.id}`, { body: theirs });
    assert.equal((await browser.post(path, { ...form, name: 'Safer' }, cookie)).status, 303);
    const saved = await set();
    assert.deepEqual([saved.name, saved.description, saved.entries.length], ['Safer', description, 2]);
    const refused = await browser.post(path, { ...form, entries: 'tag: back_button' }, cookie);
    assert.equal(refused.status, 422);
    assert.match(refused.text, lost);
    assert.equal((await set()).entries.length, 2);
    // What both have changed to the same is no conflict.
    assert.equal((await browser.post(path, { ...form, name: 'Safer' }, cookie)).status, 303);
  });

  test('of the labels undoes nothing that somebody else has saved since it was loaded', async () => {
    const page = (await browser.get('/settings', cookie)).text;
    const form = fieldsIn(page.slice(page.indexOf('value="labels"')));
    const labels = [{ key: 'team', display_name: 'Team', auto_extract: true }];
    await api.call('PUT', '/api/v1/account/labels', { body: { labels } });
    const { token = '' } = fieldsIn(page);
    const sent = { token, loaded: form.loaded!, what: 'labels', labels: 'shop = Shop' };
    const refused = await browser.post('/settings', sent, cookie);
    assert.equal(refused.status, 422);
    assert.match(refused.text, lost);
    assert.partialDeepStrictEqual((await api.get('/api/v1/account/labels')).body, labels);
    const again = fieldsIn(refused.text.slice(refused.text.indexOf('value="labels"')));
    const replaced = { ...sent, token: fieldsIn(refused.text).token!, loaded: again.loaded! };
    assert.equal((await browser.post('/settings', replaced, cookie)).status, 303);
    assert.partialDeepStrictEqual((await api.get('/api/v1/account/labels')).body, [{ key: 'shop' }]);
  });

  test('of the labels keeps one that was not changed, although its name ends like a mark of the form', async () => {
    const car = { key: 'car', display_name: 'Car (auto)', auto_extract: false };
    await api.call('PUT', '/api/v1/account/labels', { body: { labels: [car] } });
    const page = (await browser.get('/settings', cookie)).text;
    const { loaded = '' } = fieldsIn(page.slice(page.indexOf('value="labels"')));
    const labels = 'car = Car (auto)\nteam = Team (auto)';
    const sent = { token: fieldsIn(page).token!, loaded, what: 'labels', labels };
    assert.equal((await browser.post('/settings', sent, cookie)).status, 303);
    const team = { key: 'team', display_name: 'Team', auto_extract: true };
    assert.partialDeepStrictEqual((await api.get('/api/v1/account/labels')).body, [car, team]);
  });

  test('says what the API says where storage is full, and which request failed where something else is wrong', async () => {
    const failures: unknown[] = [];
    const answerTo = (error: Error) =>
      openConsole({
        store: api.platform.store,
        api: { call: () => Promise.reject(error), operationOf: () => null },
        publicUrl: 'https://adsweep.example',
        countSignIn: async () => {},
        counted: (credential) => credential,
        endOAuthSession: async () => {},
        ownUrl: '',
        clientId: 'console',
        failed: (cause, id) => failures.push([cause, id]),
      }).answer({
        method: 'GET',
        path: '/scans',
        query: new URLSearchParams(),
        headers: { cookie },
        requestId: 'request-7',
        stream: {} as IncomingMessage,
        readForm: async () => new URLSearchParams(),
      });
    const full = await answerTo(Object.assign(new Error('write'), { code: 'ENOSPC' }));
    assert.deepEqual([full.status, failures], [503, []]);
    assert.match(String(full.body), /The storage takes nothing at the moment/);
    const fault = new TypeError('a fault');
    const failed = await answerTo(fault);
    assert.deepEqual([failed.status, failures], [500, [[fault, 'request-7']]]);
    assert.match(String(failed.body), /Tell the operator the id of this request: request-7/);
  });
});

test('a day of a schedule may have several lines, and no hour of them is lost', () => {
  assert.deepEqual(weekOf('Monday 8\ntue 7:00\nmonday 20 8'), { 0: [8, 20], 1: [7] });
  assert.deepEqual(weekOf('Someday 8'), { Someday: [8] });
});

test('a schedule for several days in one word is refused: it would run on the first of them alone', () => {
  assert.deepEqual(weekOf('Mon-Fri 8'), { 'Mon-Fri': [8] });
  assert.deepEqual(weekOf('sat/sun 8'), { 'sat/sun': [8] });
  assert.deepEqual(weekOf('s 8\nth 9'), { s: [8], 3: [9] });
});

test('a label with two values is refused: only one of them could be kept', () => {
  assert.deepEqual(labelsOf('team=red\n note = a=b \nteam=red'), { team: 'red', note: 'a=b' });
  assert.throws(
    () => labelsOf('team=red\nteam=blue'),
    (error) => error instanceof ApiError && error.status === 422,
  );
});
