import { chromium } from 'playwright-core';
import { launchOptions, MiddlePages, takePicture, VIEWPORT } from './page-loop.ts';

/**
 * The baseline for a scan: loads the same pages in the same browser, with one context per page and a whole-page screenshot, and nothing
 * else. Runs as a separate process, with an IPC channel: `bare-loop.ts <address of the ad world> <pages at once> <pages before> <pages> <url> ...`
 */
const [address = '', atOnce = '1', before = '0', pages = '0', ...urls] = process.argv.slice(2);

const browser = await chromium.launch(launchOptions(address));
const middle = new MiddlePages(Number(before), Number(pages));

async function loadOneAfterAnother(): Promise<void> {
  for (let url = urls.shift(); url !== undefined; url = urls.shift()) {
    const context = await browser.newContext({ viewport: VIEWPORT, ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'load' });
    await takePicture(page);
    await context.close();
    middle.ended();
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, loadOneAfterAnother));
await browser.close();
if (process.connected) process.disconnect();
