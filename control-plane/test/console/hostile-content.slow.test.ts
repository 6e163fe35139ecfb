import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Parser } from 'htmlparser2';
import { formQueryOf } from '../../src/console/pages/scans/scan-form.ts';
import { consoleBrowser } from '../support/console-browser.ts';
import { type ConsoleWorld, consoleWorld, hostileWords, pagesOf } from '../support/console-world.ts';
import { KEYS, type RunningApi, runningApi } from '../support/running-api.ts';

/** Elements that no page has: they run, load or frame something, or change what other elements mean. */
const NEVER = [
  'iframe',
  'object',
  'embed',
  'base',
  'style',
  'applet',
  'template',
  'math',
  'audio',
  'video',
  'noscript',
];
/** Characters that are invisible or change the direction of text. */
const INVISIBLE = /(?![\n\r\t\u200c\u200d])[\p{Cc}\p{Cf}]/u;

/** What is wrong in a page, as a browser's parser sees it. */
function faultsOf(page: string): string[] {
  const faults: string[] = [];
  let scripts = 0;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (NEVER.includes(name)) faults.push(`<${name}>`);
      if (name === 'script' && scripts++ > 0) faults.push('a second script');
      if (name === 'meta' && attributes['http-equiv'] !== undefined) faults.push('<meta http-equiv>');
      for (const [attribute, value] of Object.entries(attributes)) {
        if (/^on/i.test(attribute) || attribute === 'style' || attribute === 'srcdoc')
          faults.push(`${name} ${attribute}`);
        if (['src', 'href', 'action', 'formaction', 'data-events'].includes(attribute) && !isOurs(value))
          faults.push(`${attribute}=${value.slice(0, 80)}`);
      }
    },
  });
  parser.end(page);
  if (INVISIBLE.test(page)) faults.push('an invisible character');
  return faults;
}

/** An address of the console, of the document about an error, of a public report, or relative to a scan's page. */
const isOurs = (address: string): boolean =>
  /^(\/console(?![\w-])[^\\]*|\/docs\/errors#[a-z_-]+|https:\/\/adsweep\.example\/r\/[\w-]+|#[a-z-]*|[0-9a-f-]{36}(\/[a-z0-9/-]+(\?w=\d+(&whole=yes)?)?)?)$/.test(
    address,
  );

describe('the pages of the console with hostile content', () => {
  let api: RunningApi;
  let world: ConsoleWorld;
  let cookie: string;
  let browser: ReturnType<typeof consoleBrowser>;
  before(async () => {
    api = await runningApi();
    world = await consoleWorld(api, { words: hostileWords });
    browser = consoleBrowser(api);
    cookie = await browser.signIn();
  });
  after(() => api.stop());

  test('have no element, attribute or address of anybody else, and no character that is not seen', async () => {
    let shown = 0;
    for (const path of pagesOf(world)) {
      const { status, text } = await browser.get(path, cookie);
      assert.equal(status, 200, path);
      assert.deepEqual(faultsOf(text), [], path);
      assert.ok(text.length < 1_500_000, `${path}: ${text.length}`);
      if (text.includes('[U+202E]gnp.exe')) shown++;
    }
    // Forms of what is new, and pages without names, have none of it.
    assert.ok(shown > 20, `${shown} pages`);
  });

  test('repeat what an address or a form says without letting it out of its place', async () => {
    const hostile = hostileWords('x', 900);
    const query = (names: string[]) => new URLSearchParams(names.map((name) => [name, hostile])).toString();
    const asked = [
      `/scans?${query(['url', 'status', 'country_code', 'tag', 'date_from', 'label_a', 'nonsense'])}`,
      `/alerts?${query(['status', 'tag', 'campaign_id', 'undo', 'done'])}`,
      `/scans/new?${query(['target', 'kind', 'country_code', 'labels', 'city'])}`,
      `/campaigns?${query(['q'])}`,
      `/rules/new?${query(['name', 'config', 'tag_slug'])}`,
      `/scans/${encodeURIComponent(hostile.slice(0, 200))}`,
      `/nowhere/${encodeURIComponent(hostile.slice(0, 200))}`,
      `/sign-in?${query(['to'])}`,
    ];
    for (const path of asked) assert.deepEqual(faultsOf((await browser.get(path, cookie)).text), [], path.slice(0, 60));
    const token = await browser.tokenOf('/scans', cookie);
    const form = {
      token,
      intent: 'create',
      kind: 'url',
      target: hostile,
      country_code: hostile,
      emulator_id: hostile,
      region: hostile,
      labels: hostile,
    };
    const refused = await browser.post('/scans/new', form, cookie);
    assert.equal(refused.status, 422);
    assert.deepEqual(faultsOf(refused.text), []);
    assert.deepEqual(faultsOf((await browser.post('/scans/bulk', form, cookie)).text), []);
    assert.deepEqual(faultsOf((await browser.post('/sign-in', { key: hostile })).text), []);
  });

  test('offer hostile files for download only, and without a place where they could run', async () => {
    for (const file of ['creative-html', 'vast-xml', 'creative-video']) {
      const { status, headers } = await browser.get(`/scans/${world.adTag}/${file}`, cookie);
      if (status === 404) continue;
      assert.match(headers.get('content-disposition') ?? '', /^attachment/);
      assert.match(headers.get('content-security-policy') ?? '', /sandbox/);
    }
    const picture = await browser.get(`/scans/${world.page}/screenshot?w=160`, cookie);
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/webp']);
    assert.equal((await browser.get(`/scans/${world.page}/screenshot?w=160`)).status, 303);
    assert.deepEqual(formQueryOf({ id: 'x' }), { from: 'x' });
  });

  test('of another organization are not found, and nothing of it is shown', async () => {
    const theirs = await browser.signIn(KEYS.theirs);
    const ids = [
      `/scans/${world.page}`,
      `/scans/${world.page}/screenshot`,
      `/campaigns/${world.campaign}`,
      `/runs/${world.runId}`,
      `/rules/${world.rule}`,
      `/policies/${world.policySet}`,
      `/webhooks/${world.webhook}`,
      `/scans/new?from=${world.page}`,
    ];
    for (const path of ids) assert.equal((await browser.get(path, theirs)).status, 404, path);
    for (const path of [
      '/scans',
      '/alerts',
      '/campaigns',
      '/rules',
      '/policies',
      '/webhooks',
      '/destinations',
      '/settings',
    ])
      assert.doesNotMatch((await browser.get(path, theirs)).text, /gnp\.exe/, path);
    const token = await browser.tokenOf('/scans', theirs);
    for (const path of [
      `/api/v1/campaigns/${world.campaign}/run`,
      `/api/v1/scans/${world.pending}/cancel`,
      `/api/v1/campaigns/${world.campaign}/archive`,
    ])
      assert.equal((await browser.post('/act', { token, method: 'POST', path }, theirs)).status, 404, path);
  });

  test('show a narrowed key only what it may do, and do nothing that the API refuses', async () => {
    const reader = await browser.signIn(await api.keyThatMay('scans.read', 'alerts.read'));
    const { text } = await browser.get('', reader);
    const linked = [...text.matchAll(/<li><a href="\/console(\/\w+)?"/g)].map(([, path = '']) => path);
    assert.deepEqual(linked, ['', '/scans', '/alerts', '/rules']);
    for (const path of [
      '/scans',
      `/scans/${world.page}`,
      `/scans/${world.pending}`,
      '/alerts',
      '/rules',
      `/rules/${world.rule}`,
    ]) {
      const page = await browser.get(path, reader);
      assert.equal(page.status, 200, path);
      const posts = [...page.text.matchAll(/<form[^>]*method="post" action="([^"]+)"/g)].map(([, action]) => action);
      const allowed = path.startsWith('/rules/') ? ['/console/sign-out', `/console${path}`] : ['/console/sign-out'];
      assert.deepEqual(posts, allowed, path);
    }
    for (const path of [
      '/campaigns',
      '/settings',
      '/webhooks',
      '/usage',
      '/fleet',
      '/organizations',
      '/policies',
      '/destinations',
    ])
      assert.equal((await browser.get(path, reader)).status, 403, path);
    const token = await browser.tokenOf('/scans', reader);
    const refused = await browser.post(
      '/act',
      { token, method: 'POST', path: `/api/v1/scans/${world.pending}/cancel` },
      reader,
    );
    assert.equal(refused.status, 403);
    assert.match(refused.text, /lacks the permission scans\.write/);
    const billing = await browser.signIn(await api.keyThatMay('billing.read'));
    assert.equal((await browser.get('', billing)).to, '/console/usage');
    const nothing = await browser.signIn(await api.keyThatMay());
    assert.match((await browser.get('', nothing)).text, /may not read anything/);
  });

  test('have the problems of the API at their fields, each of them', async () => {
    const token = await browser.tokenOf('/scans', cookie);
    const form = {
      token,
      intent: 'create',
      kind: 'url',
      target: 'ftp://x',
      country_code: 'XX',
      emulator_id: 'none',
      repeat_count: '99',
      retry_max_attempts: 'many',
    };
    const { status, text } = await browser.post('/scans/new', form, cookie);
    assert.equal(status, 422);
    for (const field of ['target', 'country_code', 'emulator_id', 'repeat_count', 'retry_max_attempts']) {
      assert.match(text, new RegExp(`name="${field}" aria-invalid="true" aria-describedby="${field}-problem`), field);
      assert.match(text, new RegExp(`id="${field}-problem">[^<]{5,}`), field);
    }
  });

  test('create, price and repeat scans as the API does', async () => {
    const token = await browser.tokenOf('/scans', cookie);
    const form = {
      token,
      kind: 'url',
      target: 'https://new.example/',
      country_code: 'US',
      emulator_id: 'windows_chrome',
    };
    const priced = await browser.post('/scans/new', { ...form, intent: 'price' }, cookie);
    assert.match(priced.text, /<b class="price">0\.01<\/b> for 1 check/);
    const created = await browser.post('/scans/new', { ...form, intent: 'create' }, cookie);
    assert.match(created.to ?? '', /^\/console\/scans\/[0-9a-f-]{36}\?done=created$/);
    const page = await browser.get(created.to!.slice('/console'.length), cookie);
    assert.match(page.text, /role="status">Created\./);
    assert.match(page.text, /await api\.getScan\(&#39;[0-9a-f-]{36}&#39;\);/);
    assert.match(page.text, /curl &#39;https:\/\/adsweep\.example\/api\/v1\/scans\/[0-9a-f-]{36}&#39;/);
    assert.match(page.text, /Bearer \$ADSWEEP_API_KEY/);
  });
});
