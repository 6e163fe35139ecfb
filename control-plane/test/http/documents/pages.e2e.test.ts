import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { chromiumOfRun } from '../../../../browser-node/test/support/chromium-of-run.ts';
import { faultsInLooks, LOOKS, shiftsOf } from '../../support/page-faults.ts';
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

  test('have no fault of accessibility, fit the window at both widths and in both colours, and do not shift on a phone', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 900 }, colorScheme: 'dark' });
    const problems: string[] = [];
    page.on('console', (line) => problems.push(line.text()));
    for (const path of PAGES) {
      await page.goto(`http://127.0.0.1:${api.port}${path}`);
      assert.deepEqual(await shiftsOf(page), [], path);
      assert.deepEqual(await faultsInLooks(page), [], path);
    }
    assert.deepEqual(problems, []);
    await page.close();
  });

  test('of which the API reference has no fault of accessibility at both widths and in both colours, with operations to try and with the form for the key', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, bypassCSP: true });
    await page.goto(`http://127.0.0.1:${api.port}/docs/api`);
    // Colours that are on their way would be taken for faults.
    await page.addStyleTag({ content: '* { transition: none !important }' });
    // A script draws it once it has read the OpenAPI document.
    await page.locator('.opblock').first().waitFor();
    // Swagger UI gives the choices of several operations one id.
    const faults = async (within?: string) =>
      (await faultsInLooks(page, LOOKS, within)).filter((fault) => !fault.includes('several elements have the id'));
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
    await page.close();
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
