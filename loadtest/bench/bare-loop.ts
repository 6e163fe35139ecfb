import { chromium } from 'playwright-core';
import { benchConfig } from './config.ts';
import { exchange } from './measure-process.ts';

/**
 * The baseline for a scan: loads the same pages in the same browser, with one context per page and a whole-page screenshot, and nothing
 * else. Runs as a separate process: `bare-loop.ts <address of the ad world> <pages at once> <url> ...`, with an IPC channel.
 */
const [address = '', atOnce = '1', ...urls] = process.argv.slice(2);

const browser = await chromium.launch({
  executablePath: benchConfig().CHROMIUM_PATH,
  args: ['--site-per-process', '--no-sandbox', '--disable-quic', `--host-resolver-rules=MAP * ${address}`],
});
// The start of the browser is not measured.
await exchange({});
const began = performance.now();
const waiting = [...urls];

async function loadOneAfterAnother(): Promise<void> {
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    const context = await browser.newContext({ viewport: { width: 1920, height: 1080 }, ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'load' });
    await page.screenshot({ type: 'webp', quality: 80, fullPage: true });
    await context.close();
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, loadOneAfterAnother));
const seconds = (performance.now() - began) / 1000;
await exchange({ seconds });
await browser.close();
if (process.connected) process.disconnect();
