import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { chromiumOfRun } from '../../../../browser-node/test/support/chromium-of-run.ts';
import { faultsOf } from '../../support/page-faults.ts';
import { type RunningApi, runningApi } from '../../support/running-api.ts';

const contents: Record<string, string[]> = JSON.parse(
  readFileSync(new URL('../../../../infra/docs/contents.json', import.meta.url), 'utf8'),
);
/** All documents, and the results of a search. */
const PAGES = [
  '/docs/search?q=webhook',
  ...Object.values(contents)
    .flat()
    .map((name) => (name === 'index' ? '/docs' : `/docs/${name}`)),
];
/** Widths in pixels, and colours. */
const LOOKS = [
  [1440, 'light'],
  [390, 'dark'],
] as const;

describe('the documents in a browser', () => {
  let api: RunningApi;
  let browser: Browser;
  before(async () => {
    api = await runningApi();
    const { path } = await chromiumOfRun();
    browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
  });
  after(async () => {
    await browser.close();
    await api.stop();
  });

  for (const [width, colorScheme] of LOOKS)
    test(`have no fault of accessibility and fit the window at ${width} pixels in ${colorScheme} colours`, async () => {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (line) => problems.push(line.text()));
      for (const path of PAGES) {
        await page.goto(`http://127.0.0.1:${api.port}${path}`);
        assert.deepEqual(await faultsOf(page), [], path);
      }
      assert.deepEqual(problems, []);
      await context.close();
    });

  for (const [width, colorScheme] of LOOKS)
    test(`of which the API reference has no fault of accessibility at ${width} pixels in ${colorScheme} colours, with operations to try and with the form for the key`, async () => {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${api.port}/docs/api`);
      // A script draws it once it has read the OpenAPI document.
      await page.locator('.opblock').first().waitFor();
      // What is opened moves what is below it, and Swagger UI gives the choices of several operations one id.
      const faults = async (within?: string) =>
        (await faultsOf(page, within)).filter((fault) => !/^(shifted|several elements have the id)/.test(fault));
      assert.deepEqual(await faults(), []);
      for (const method of ['get', 'post']) {
        const operation = page.locator(`.opblock-${method}`).first();
        await operation.locator('.opblock-summary-control').click();
        await operation.locator('.try-out__btn').click();
        await operation.locator('.execute').waitFor();
      }
      assert.deepEqual(await faults('.opblock.is-open'), []);
      await page.locator('.btn.authorize').first().click();
      await page.locator('.modal-ux input').first().waitFor();
      assert.deepEqual(await faults('.modal-ux'), []);
      await context.close();
    });

  test('are searched and read by keyboard', async () => {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${api.port}/docs`);
    await page.keyboard.press('Tab');
    await page.keyboard.type('idempotency');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/search?q=idempotency');
    const first = page.locator('.found a').first();
    await first.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/*');
    assert.match(await page.locator('article').innerText(), /Idempotency-Key/);
    await page.close();
  });
});
