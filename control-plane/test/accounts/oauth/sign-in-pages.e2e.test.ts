import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { chromiumOfRun } from '../../../../browser-node/test/support/chromium-of-run.ts';
import { CALLBACK } from '../../support/oauth-client.ts';
import { faultsOf } from '../../support/page-faults.ts';
import { KEYS, type RunningApi, runningApi } from '../../support/running-api.ts';

const ORIGIN = 'http://adsweep.example';
/** The challenge of RFC 7636, appendix B. */
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('the sign-in pages in a browser', () => {
  let api: RunningApi;
  let browser: Browser;
  let begin: string;
  before(async () => {
    api = await runningApi({ settings: { publicUrl: ORIGIN } });
    const { path } = await chromiumOfRun();
    const toApi = `--host-resolver-rules=MAP adsweep.example:80 127.0.0.1:${api.port}`;
    browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox', toApi] });
    const { body: client } = await api.post('/api/v1/account/oauth-clients', {
      name: 'Nightly creative checks',
      permissions: ['scans.read', 'billing.read'],
      redirect_uris: [CALLBACK],
    });
    const request = { client_id: client.id, response_type: 'code', redirect_uri: CALLBACK, state: 'state' };
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    begin = `${ORIGIN}/oauth/authorize?${new URLSearchParams({ ...request, ...pkce })}`;
  });
  after(async () => {
    await browser.close();
    await api.stop();
  });

  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const)
    test(`§5.32 lead from the request to the client, by keyboard, at ${width} pixels in ${colorScheme} colours`, async () => {
      const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (line) => problems.push(line.text()));
      let returned = '';
      page.on('request', (request) => {
        if (request.url().startsWith(CALLBACK)) returned = request.url();
      });

      await page.goto(begin);
      assert.deepEqual(await faultsOf(page), []);
      await page.locator('input:focus').waitFor();
      await page.keyboard.type('wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      assert.deepEqual(await faultsOf(page), []);
      await page.locator('input:focus').waitFor();
      await page.keyboard.type(KEYS.ours);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Allow' }).waitFor();
      assert.deepEqual(await faultsOf(page), []);
      await page.keyboard.press('Tab');
      const arrived = page.waitForRequest((request) => request.url().startsWith(CALLBACK));
      await page.keyboard.press('Enter');
      await arrived;
      const parameters = new URL(returned).searchParams;
      assert.equal(parameters.get('state'), 'state');
      assert.ok(parameters.get('code'));
      assert.deepEqual(problems, []);
      await context.close();
    });
});
