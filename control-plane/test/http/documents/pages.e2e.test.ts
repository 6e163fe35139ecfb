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

  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const)
    test(`have no fault of accessibility and fit the window at ${width} pixels in ${colorScheme} colours`, async () => {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (line) => problems.push(line.text()));
      for (const path of PAGES) {
        await page.goto(`http://127.0.0.1:${api.port}${path}`);
        assert.deepEqual(await faultsOf(page), [], path);
        const pictures = process.env.ADSWEEP_TEST_PICTURES;
        if (pictures)
          await page.screenshot({ path: `${pictures}/${path.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}.png` });
      }
      assert.deepEqual(problems, []);
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
