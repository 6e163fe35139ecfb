import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { launchOptions, MiddlePages, ownFolder, takePicture, VIEWPORT } from './page-loop.ts';

/**
 * Crawlee's crawler over the same pages, with the same browser, flags, viewport and screenshot as a scan. Runs as a separate process, with an IPC
 * channel: `crawlee-loop.ts <folder that Crawlee is installed in> <address of the ad world> <pages at once> <pages before> <pages> <url> ...`
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

const middle = new MiddlePages(Number(before), Number(pages));
const crawler = new PlaywrightCrawler(
  {
    minConcurrency: Number(atOnce),
    maxConcurrency: Number(atOnce),
    maxRequestRetries: 0,
    launchContext: {
      launcher: chromium,
      // One context for each page, as in a scan.
      useIncognitoPages: true,
      launchOptions: launchOptions(address),
    },
    browserPoolOptions: { useFingerprints: false },
    preNavigationHooks: [
      async ({ page }: { page: Page }, options: { waitUntil?: string }) => {
        options.waitUntil = 'load';
        await page.setViewportSize(VIEWPORT);
      },
    ],
    requestHandler: async ({ page }: { page: Page }) => {
      await takePicture(page);
      middle.ended();
    },
  },
  new Configuration({
    persistStorage: false,
    storageClientOptions: { localDataDirectory: ownFolder('crawlee') },
    logLevel: 2,
  }),
);

const { requestsFinished } = await crawler.run(urls.map((url, at) => ({ url, uniqueKey: `${at} ${url}` })));
if (requestsFinished !== urls.length) throw new Error(`${requestsFinished} of ${urls.length} pages were crawled`);
if (process.connected) process.disconnect();
