import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumOfRun } from '../../../browser-node/test/support/chromium-of-run.ts';
import { ForwardProxy } from '../../../browser-node/test/support/forward-proxy.ts';
import type { Site } from '../../../browser-node/test/support/site.ts';
import { ticketFor } from '../../../browser-node/test/support/ticket.ts';
import type { Box } from './block-facts.ts';
import { type ExpectedAd, type PublisherPage, urlOf } from './publisher-page.ts';

const WAIT_MS = 15_000;
const STEP_PX = 400;
/** Even a short page is read for a while: what loads late makes it longer. */
const STEPS_MIN = 6;
const STEPS_MAX = 80;
const STEP_MS = 60;

/** A plain browser that measures where pages show their ads: the truth that scans are compared with. */
export class Measure {
  readonly #browser: Browser;
  readonly #proxy: ForwardProxy;

  constructor(browser: Browser, proxy: ForwardProxy) {
    this.#browser = browser;
    this.#proxy = proxy;
  }

  static async start(site: Site): Promise<Measure> {
    const { path } = await chromiumOfRun();
    return new Measure(
      await chromium.launch({ executablePath: path, args: ['--no-sandbox'] }),
      await ForwardProxy.start(site),
    );
  }

  /**
   * The places of a page's ads at first sight, after a reader has scrolled through it; null for pops. Throws if an ad is not shown, or not at
   * the size that its page declares.
   */
  async boxesOf(page: PublisherPage): Promise<(Box | null)[]> {
    if (page.ads.every(({ at }) => at === '')) return page.ads.map(() => null);
    const emulator = findEmulator(page.emulator ?? 'windows_edge');
    if (!emulator) throw new Error(`no emulator ${page.emulator}`);
    const { server, username, password } = ticketFor(this.#proxy.server);
    const context = await this.#browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: emulator.device.viewport,
      isMobile: emulator.device.mobile,
      hasTouch: emulator.device.mobile,
      proxy: { server, username, password },
    });
    try {
      await context.addInitScript(openShadowRoots);
      const tab = await context.newPage();
      await tab.goto(urlOf(page));
      await readThrough(tab);
      for (const { at } of page.ads) if (at) await tab.locator(at).waitFor({ timeout: WAIT_MS });
      await tab.evaluate(() => scrollTo(0, 0));
      const boxes: (Box | null)[] = [];
      for (const ad of page.ads) boxes.push(await boxOf(tab, page.name, ad));
      return boxes;
    } finally {
      await context.close();
    }
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.#proxy.close();
  }
}

/** Makes every shadow root open: selectors see into these only. Runs in the page. */
function openShadowRoots(): void {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    return attach.call(this, { ...options, mode: 'open' });
  };
}

/** Scrolls to the end as a reader does, so that what is lazy loads. */
async function readThrough(tab: Page): Promise<void> {
  for (let at = 0; at < STEPS_MAX; at++) {
    const isEnd = await tab.evaluate((step) => {
      scrollBy(0, step);
      return scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
    }, STEP_PX);
    await tab.waitForTimeout(STEP_MS);
    if (isEnd && at > STEPS_MIN) return;
  }
}

async function boxOf(tab: Page, name: string, { at, size }: ExpectedAd): Promise<Box | null> {
  if (!size) return null;
  const box = await tab.locator(at).evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x: x + scrollX, y: y + scrollY, width, height };
  });
  if (Math.abs(box.width - size[0]) > 1 || Math.abs(box.height - size[1]) > 1)
    throw new Error(`${name}: ${at} is ${box.width}x${box.height}, not ${size.join('x')}`);
  return box;
}
