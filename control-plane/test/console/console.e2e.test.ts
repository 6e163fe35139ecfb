import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { chromiumOfRun } from '../../../browser-node/test/support/chromium-of-run.ts';
import { nodes } from '../../src/crawling/fleet/nodes.ts';
import { testAlertKeys } from '../support/alert-keys.ts';
import { type ConsoleWorld, consoleWorld, hostileWords, OPERATOR_PAGES, pagesOf } from '../support/console-world.ts';
import { faultsInLooks, faultsOf, LOOKS, shiftsOf } from '../support/page-faults.ts';
import { type PiecewiseProxy, piecewiseProxy } from '../support/piecewise-proxy.ts';
import { KEYS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';

const ORIGIN = 'http://adsweep.example';

describe('the console in a browser', () => {
  let api: RunningApi;
  let inPieces: PiecewiseProxy;
  let browser: Browser;
  let world: ConsoleWorld;
  let hostile: ConsoleWorld;
  before(async () => {
    api = await runningApi({ settings: { publicUrl: ORIGIN } });
    world = await consoleWorld(api);
    hostile = await consoleWorld(api, { words: hostileWords, who: 'theirs' });
    // Pages that arrive slowly must not shift either.
    inPieces = await piecewiseProxy(api.port, { bytes: 700, pauseMs: 10 });
    const { path } = await chromiumOfRun();
    const toApi = `--host-resolver-rules=MAP adsweep.example:80 127.0.0.1:${inPieces.port}`;
    browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox', toApi] });
  });
  after(async () => {
    await browser.close();
    inPieces.close();
    await api.stop();
  });

  /** The cookies of those who have signed in, by their keys. */
  const sessions = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();
  /**
   * A context that is signed in: by the form, with the keyboard alone, where that is not yet done with the same key, or
   * is to be done `anew`.
   */
  const signedIn = async (
    options: Parameters<Browser['newContext']>[0],
    { key = KEYS.ours, anew = false }: { key?: string; anew?: boolean } = {},
  ): Promise<BrowserContext> => {
    const known = anew ? undefined : sessions.get(key);
    const context = await browser.newContext({ ...options, ...(known && { storageState: known }) });
    context.setDefaultTimeout(15_000);
    if (known) return context;
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/console`);
    await page.locator('#key:focus').waitFor();
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await page.close();
    if (!anew) sessions.set(key, await context.storageState());
    return context;
  };

  test('has no faults that axe finds or errors on any page, at both widths and in both colours, and no shifts', async () => {
    const context = await signedIn({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (line) => problems.push(`${page.url()}: ${line.text()}`));
    page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
    for (const path of pagesOf(world)) {
      await page.goto(`${ORIGIN}/console${path}`);
      assert.deepEqual(await shiftsOf(page), [], path);
      assert.deepEqual(await faultsInLooks(page, LOOKS.toReversed()), [], path);
    }
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('asks for what the chosen channel of a destination needs', async () => {
    const context = await signedIn({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/console/destinations`);
    for (const [channel, fields] of [
      ['Slack', ['webhook_url']],
      ['Telegram', ['bot_token', 'chat_id']],
      ['Mail', ['address']],
    ] as const) {
      await page.getByRole('radio', { name: channel }).check();
      const shown = page.locator('[data-channel] input:visible');
      assert.deepEqual(await shown.evaluateAll((all) => all.map((one) => one.getAttribute('name'))), [...fields]);
    }
    await context.close();
  });

  test('asks in sight before it deletes, also in the last row of a list', async () => {
    for (const width of [390, 1440]) {
      const context = await signedIn({ viewport: { width, height: 900 } });
      const page = await context.newPage();
      for (const path of ['/destinations', '/settings', '/campaigns']) {
        await page.goto(`${ORIGIN}/console${path}`);
        // A question that is open already would be answered in place of the next one.
        const all = page.locator('.asks > summary');
        if ((await all.count()) > 1) await all.first().click();
        await page.locator('td .asks > summary').last().click();
        assert.equal(await page.locator('.asks[open]').count(), 1);
        const yes = page.getByRole('button', { name: 'Yes' }).last();
        const { x, y, width: wide, height } = (await yes.boundingBox())!;
        const isSeen = ([x, y]: number[]) =>
          document.elementFromPoint(x!, y!)?.textContent?.startsWith('Yes ') ?? false;
        assert.ok(await page.evaluate(isSeen, [x + wide / 2, y + height / 2]), `${path} at ${width}`);
        await page.keyboard.press('Escape');
        assert.equal(await page.locator('.asks[open]').count(), 0, 'Escape takes the question back');
        assert.ok(await page.evaluate(() => document.activeElement?.matches('td .asks > summary')), path);
      }
      await context.close();
    }
  });

  test('fills a form in again that was sent after its session had ended, but for passwords', async () => {
    const context = await signedIn({ viewport: { width: 1440, height: 900 } }, { anew: true });
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/console/destinations`);
    const isDefault = page.getByLabel('of all campaigns that inherit');
    await page.fill('#name', 'Typed');
    await page.fill('#webhook_url', 'https://hooks.slack.com/services/typed');
    await isDefault.uncheck();
    await context.clearCookies();
    await page.getByRole('button', { name: 'Create the destination' }).click();
    await page.getByText('You are no longer signed in').waitFor();
    // Also after a key that is none.
    for (const key of ['mistyped', KEYS.ours]) {
      await page.fill('#key', key);
      await page.keyboard.press('Enter');
      await page.getByText(key === KEYS.ours ? 'It was not done yet' : 'not a valid API key').waitFor();
    }
    const filled = async () => [await page.inputValue('#name'), await page.inputValue('#webhook_url')];
    assert.deepEqual([...(await filled()), await isDefault.isChecked()], ['Typed', '', false]);
    await page.reload();
    assert.deepEqual([...(await filled()), await isDefault.isChecked()], ['', '', true]);
    await context.close();
  });

  test('asks for nothing that a form would not send: the ads of a page without a sweep, or the plan of another schedule', async () => {
    const context = await signedIn({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const shown = async (...names: string[]) =>
      Promise.all(names.map((name) => page.locator(`[name="${name}"]`).first().isVisible()));
    const ads = () => shown('ad_discovery', 'max_discovered_ads', 'ad_formats');
    await page.goto(`${ORIGIN}/console/scans/new`);
    assert.deepEqual(await ads(), [true, false, false]);
    await page.getByLabel('Find the ads on the page').check();
    assert.deepEqual(await ads(), [true, true, true]);
    await page.getByRole('radio', { name: 'Ad tag', exact: true }).check();
    assert.deepEqual(await ads(), [false, false, false]);
    await page.goto(`${ORIGIN}/console/campaigns/new`);
    for (const [schedule, fields] of [
      ['Only when started', [false, false, false]],
      ['At hours of the week', [true, true, false]],
      ['Again and again', [false, false, true]],
    ] as const) {
      await page.getByRole('radio', { name: schedule }).check();
      assert.deepEqual(await shown('weekly', 'schedule_timezone', 'schedule_interval_seconds'), fields, schedule);
    }
    await context.close();
  });

  test('shows an operator the fleet and the organizations at both widths, and drains a node', async () => {
    const report = { slots: 10, busy: 4, draining: false, adsweep_version: '0.1.0', browser_version: 'Chrome/140.0.1' };
    await nodes(api.platform.redis).report({ nodeId: 'node-1', instance: 'EWuvf7jkJjgt' }, report);
    const key = await api.keyThatMay('scans.read', 'fleet.read', 'fleet.manage', 'organizations.manage');
    const context = await signedIn({ viewport: { width: 1440, height: 900 } }, { key });
    const page = await context.newPage();
    for (const path of OPERATOR_PAGES) {
      await page.goto(`${ORIGIN}/console${path}`);
      assert.deepEqual(await faultsOf(page), [], path);
      await page.setViewportSize({ width: 390, height: 844 });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, path);
      await page.setViewportSize({ width: 1440, height: 900 });
    }
    await page.goto(`${ORIGIN}/console/fleet`);
    await page.getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('status').filter({ hasText: 'takes no more' }).waitFor();
    await page.getByRole('button', { name: 'Take work again' }).waitFor();
    await context.close();
  });

  test('keeps hostile content in its place, runs nothing of it, and does not shift, on any page of a phone', async () => {
    const context = await signedIn({ viewport: { width: 390, height: 800 } }, { key: KEYS.theirs });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('dialog', (dialog) => problems.push(dialog.message()));
    page.on('console', (line) => problems.push(`${page.url()}: ${line.text()}`));
    page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
    for (const path of pagesOf(hostile)) {
      await page.goto(`${ORIGIN}/console${path}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, path);
      assert.equal(await page.evaluate(() => document.querySelectorAll('script').length), 1, path);
      assert.deepEqual(await shiftsOf(page), [], path);
    }
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('can be read, and used, with scripts off', async () => {
    const context = await signedIn(
      { viewport: { width: 1280, height: 900 }, javaScriptEnabled: false },
      { anew: true },
    );
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/console/scans/new`);
    await page.getByLabel('Address or markup').fill('https://noscript.example/');
    await page.getByLabel('Country').selectOption('US');
    await page.getByLabel('Device').selectOption('windows_chrome');
    await page.getByRole('button', { name: 'Price it' }).click();
    await page.getByText('0.01').waitFor();
    await page.getByRole('button', { name: 'Create the scan' }).click();
    await page.getByRole('heading', { name: 'noscript.example' }).waitFor();
    await page.getByText('Waiting for a browser').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${ORIGIN}/console/scans`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await context.close();
  });

  test('saves what a form was loaded with as it was, whatever characters it has', async () => {
    const named = {
      name: 'ads \u{1f469}\u200d\u{1f467} \u200fعرض مَجَّانِيّ\u200f \u2067x\u2069',
      description: 'one\u00ad\ufeff',
    };
    const { body: set } = await api.post('/api/v1/policy-sets', {
      ...named,
      entries: [{ rule_type: 'tag', tag_slug: 'auto_redirect' }],
    });
    const context = await signedIn({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/console/policies/${set.id}`);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
    assert.partialDeepStrictEqual((await api.get(`/api/v1/policy-sets/${set.id}`)).body, named);
    await context.close();
  });

  test('says when a schedule would fire while it is written, and keeps the devices of a campaign', async () => {
    const before = (await api.get(`/api/v1/campaigns/${world.campaign}`)).body;
    const context = await signedIn({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/console/campaigns/${world.campaign}/edit`);
    await page
      .getByRole('cell', { name: /^Mon .*08:00/ })
      .first()
      .waitFor();
    await page.getByRole('textbox', { name: 'Hours of the week' }).fill('Tuesday 17');
    await page
      .getByRole('cell', { name: /^Tue .*17:00/ })
      .nth(4)
      .waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
    const { emulator_selection, schedule_weekly } = (await api.get(`/api/v1/campaigns/${world.campaign}`)).body;
    assert.deepEqual(emulator_selection, before.emulator_selection);
    assert.deepEqual(schedule_weekly['1'], [17]);
    await context.close();
  });

  test('says the price while a scan is filled in', async () => {
    const context = await signedIn({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/console/scans/new`);
    await page.getByLabel('Address or markup').fill('https://priced.example/');
    await page.getByLabel('Country').selectOption('US');
    await page.getByLabel('Region').waitFor();
    await page.getByLabel('Device').selectOption('windows_chrome');
    await page.locator('.price').waitFor();
    await page.getByLabel('Address or markup').fill('not an address');
    await page.locator('.price').waitFor({ state: 'detached' });
    await context.close();
  });

  testAlertKeys(() => ({
    api,
    world,
    origin: ORIGIN,
    newPage: async () => (await signedIn({ viewport: { width: 1280, height: 900 } })).newPage(),
  }));

  test('says that a page shows what was there before, while it cannot be read again', async () => {
    const context = await signedIn({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(`${ORIGIN}/console/scans`);
    await page.route('**/console/scans', (route) => route.abort());
    const failed = () => page.waitForEvent('requestfailed');
    for (let times = 0; times < 2; times++) await Promise.all([failed(), page.clock.runFor(30_000)]);
    const note = page.getByRole('status').filter({ hasText: 'cannot be updated' });
    await note.waitFor();
    assert.deepEqual(await faultsOf(page), []);
    await page.unroute('**/console/scans');
    await page.clock.runFor(30_000);
    await note.waitFor({ state: 'detached' });
    await context.close();
  });

  test('creates one scan, however often its button is pressed before the answer is there', async () => {
    const context = await signedIn({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    const sent: string[] = [];
    await page.route('**/scans/new', async (route) => {
      if (route.request().method() === 'POST' && route.request().isNavigationRequest()) {
        sent.push(route.request().url());
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
      await route.continue();
    });
    await page.goto(`${ORIGIN}/console/scans/new`);
    await page.getByLabel('Address or markup').fill('https://twice.example/');
    await page.getByLabel('Country').selectOption('US');
    await page.getByLabel('Device').selectOption('windows_chrome');
    await page.getByRole('button', { name: 'Create the scan' }).evaluate(async (button: HTMLButtonElement) => {
      button.click();
      await new Promise((resolve) => setTimeout(resolve, 200));
      button.click();
    });
    await page.getByRole('heading', { name: 'twice.example' }).waitFor();
    assert.equal(sent.length, 1);
    assert.equal((await api.get('/api/v1/scans?url=twice.example')).body.total, 1);
    await context.close();
  });

  test('has no list that scrolls sideways in windows of any width', async () => {
    const context = await signedIn({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const scrolling: string[] = [];
    for (const path of ['', '/scans', '/alerts', '/campaigns', '/rules', '/policies', '/webhooks', '/destinations']) {
      await page.goto(`${ORIGIN}/console${path}`);
      for (const width of [861, 900, 1_000, 1_140, 1_141, 1_280]) {
        await page.setViewportSize({ width, height: 900 });
        const wider = await page
          .locator('.table')
          .evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth));
        if (Math.max(0, ...wider) > 0) scrolling.push(`${path} at ${width}: ${wider}`);
      }
    }
    assert.deepEqual(scrolling, []);
    await context.close();
  });

  test('shows what becomes of a scan to those who have unfolded a part of it, and leaves that unfolded', async () => {
    const url = `https://unfolded.example/${'long-path/'.repeat(30)}`;
    const { id } = (await api.post('/api/v1/scans', { ...PAGE, url })).body;
    const context = await signedIn({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/console/scans/${id}`);
    const unfold = page.locator('.facts summary');
    await unfold.click();
    await page.locator('.facts details[open]').waitFor();
    await api.post(`/api/v1/scans/${id}/cancel`);
    await page.getByText('The scan was cancelled').waitFor();
    await page.locator('.facts details[open]').waitFor();
    assert.equal(await unfold.evaluate((one) => one === document.activeElement), true);
    // What can be done with it is that of its new state.
    await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Compare' }).waitFor();
    await context.close();
  });

  test('goes on showing what is new after a browser went back to a page that it kept', async () => {
    const { id } = (await api.post('/api/v1/scans', { ...PAGE, url: 'https://kept.example/' })).body;
    const context = await signedIn({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/console/scans/${id}`);
    await page.getByText('Waiting for a browser').waitFor();
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })));
    await api.post(`/api/v1/scans/${id}/cancel`);
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await page.getByText('The scan was cancelled').waitFor();
    // What is sent from such a page is meant to be done once more.
    await page.locator('.who form [name="again"]').waitFor({ state: 'attached' });
    await context.close();
  });

  test('shows a scan that ends without being loaded again', async () => {
    const context = await signedIn({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/console/scans/${world.pending}`);
    await page.getByText('Waiting for a browser').waitFor();
    await api.post(`/api/v1/scans/${world.pending}/cancel`);
    await page.getByText('The scan was cancelled').waitFor();
    await context.close();
  });
});
