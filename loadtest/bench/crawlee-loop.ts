import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { benchConfig } from './config.ts';
import { exchange } from './measure-process.ts';

/**
 * Crawlee's crawler over the same pages, with the same browser, viewport and screenshot as a scan. The first pages are
 * a warm-up, and further pages are still queued when the measurement ends. Runs as a separate process: `crawlee-loop.ts <folder that Crawlee is installed in> <address
 * of the ad world> <pages at once> <pages before> <pages> <url> ...`, with an IPC channel.
 */
const [folder = '', address = '', atOnce = '1', before = '0', pages = '0', ...urls] = process.argv.slice(2);

/** The part of Crawlee that is used here; its types are missing because it is installed only for this benchmark. */
type Crawlee = {
  Configuration: new (options: object) => object;
  PlaywrightCrawler: new (
    options: object,
    configuration: object,
  ) => { run(requests: object[]): Promise<{ requestsFinished: number }> };
};
const { Configuration, PlaywrightCrawler } = createRequire(join(folder, 'package.json'))(
  '@crawlee/playwright',
) as Crawlee;

let began = 0;
let finished = 0;
const storage = mkdtempSync(join(tmpdir(), 'crawlee-'));
const crawler = new PlaywrightCrawler(
  {
    minConcurrency: Number(atOnce),
    maxConcurrency: Number(atOnce),
    launchContext: {
      launcher: chromium,
      // One context for each page, as in a scan.
      useIncognitoPages: true,
      launchOptions: {
        executablePath: benchConfig().CHROMIUM_PATH,
        args: ['--site-per-process', '--no-sandbox', '--disable-quic', `--host-resolver-rules=MAP * ${address}`],
      },
    },
    browserPoolOptions: { useFingerprints: false },
    preNavigationHooks: [
      async ({ page }: { page: Page }, options: { waitUntil?: string }) => {
        options.waitUntil = 'load';
        await page.setViewportSize({ width: 1920, height: 1080 });
      },
    ],
    requestHandler: async ({ page }: { page: Page }) => {
      await page.screenshot({ type: 'webp', quality: 80, fullPage: true });
      finished += 1;
      if (finished === Number(before)) {
        began = performance.now();
        void exchange({});
      }
      if (finished === Number(before) + Number(pages)) void exchange({ seconds: (performance.now() - began) / 1000 });
    },
  },
  new Configuration({ persistStorage: false, storageClientOptions: { localDataDirectory: storage }, logLevel: 2 }),
);

const { requestsFinished } = await crawler.run(urls.map((url, at) => ({ url, uniqueKey: `${at} ${url}` })));
if (requestsFinished !== urls.length) throw new Error(`${requestsFinished} of ${urls.length} pages were crawled`);
rmSync(storage, { recursive: true, force: true });
if (process.connected) process.disconnect();
