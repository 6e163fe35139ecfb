import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumOfRun } from '../../../../browser-node/test/support/chromium-of-run.ts';
import { type RunningApi, runningApi } from '../../support/running-api.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** One of each kind: a table of links, code and text, long tables, many headings, results. */
const PAGES = ['/docs', '/docs/quickstart-api', '/docs/settings', '/docs/errors', '/docs/search?q=webhook'];

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

  /** What axe finds, by how many pixels the page is wider than the window, and how far its parts moved after they were shown. */
  const faultsOf = async (page: Page): Promise<unknown[]> => {
    await page.evaluate(AXE);
    return page.evaluate(async () => {
      // @ts-expect-error axe is a global of the page
      const { violations } = await axe.run();
      const wider = document.documentElement.scrollWidth - innerWidth;
      const shifts = await new Promise<number>((resolve) => {
        new PerformanceObserver((list) =>
          resolve(list.getEntries().reduce((sum, one) => sum + (one as unknown as { value: number }).value, 0)),
        ).observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => resolve(0), 50);
      });
      return [
        ...violations.map(({ id }: { id: string }) => id),
        ...(wider > 0 ? [`${wider} px wider`] : []),
        ...(shifts > 0 ? [`moved by ${shifts}`] : []),
      ];
    });
  };

  for (const width of [1440, 390])
    for (const colorScheme of ['light', 'dark'] as const)
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
