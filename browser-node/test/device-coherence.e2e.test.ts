import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { BrowserContext, Page } from 'playwright-core';
import { ChromiumPool } from '../src/browser/chromium-pool.ts';
import { userAgentOf } from '../src/browser/client-hints.ts';
import { chromiumOfRun } from './support/chromium-of-run.ts';
import { CredentialProxy } from './support/credential-proxy.ts';
import { type DeviceReport, DeviceSite, HINTS } from './support/device-site.ts';

const WORKERS = ['worker', 'nested worker', 'worker at depth three', 'shared worker', 'service worker'];
const REPORTS = ['page', 'frame', ...WORKERS].length;

/** The requests whose headers must be those of the device. */
const PATHS = [
  '/',
  '/frame',
  '/popup',
  ...['worker', 'nested', 'deep', 'shared', 'service', 'by-service', 'by-nested', 'fetched-by-nested'].map(
    (name) => `/${name}.js`,
  ),
];

let site: DeviceSite;
let proxy: CredentialProxy;
let pool: ChromiumPool;

before(async () => {
  site = await DeviceSite.start();
  proxy = await CredentialProxy.start(site.port);
  pool = new ChromiumPool(await chromiumOfRun(), createLogger('test', 'silent'), () => undefined);
});
after(async () => {
  await pool.close();
  await proxy.close();
  await site.close();
});

/** One device of each category and browser: other differences are in the table of devices, which has its own tests. */
const KINDS = [...Map.groupBy(EMULATORS, ({ category, browser }) => `${category} ${browser}`).values()];

for (const [emulator] of KINDS) {
  if (!emulator) continue;
  test(`${emulator.id} is consistent in pages, frames, popups, workers and headers`, async () => {
    site.headers.clear();
    const open = await pool.open({ emulator, countryCode: 'DE', ticket: proxy.ticket, isolated: false });
    try {
      const said = await deviceReports(open.context, emulator);
      const userAgent = userAgentOf(emulator.device, open.browserVersion);
      for (const report of said) assertDevice(report, emulator, userAgent);
      for (const report of said) if (report.window) assertWindow(report.where, report.window, emulator);
      for (const report of said) assert.deepEqual(report.textWidths, said[0]?.textWidths, report.where);
      // Including the first request of a popup and of a cross-site frame.
      for (const path of PATHS) assertHeaders(path, emulator, userAgent);
      assertAskedHints('/popup', emulator, said[0]?.memory);
      for (const path of ['/nested.js', '/deep.js'])
        assert.deepEqual(site.headerNames.get(path), site.headerNames.get('/worker.js'), path);
      for (const [path, headers] of site.headers) assert.doesNotMatch(headers['user-agent'] ?? '', /Headless/, path);
    } finally {
      await open.close();
    }
  });
}

/** The reports of everything that runs in a page and in a popup that it opens. */
async function deviceReports(context: BrowserContext, { device }: Emulator): Promise<DeviceReport[]> {
  const page = await context.newPage();
  // *.localhost is a secure context without a certificate: client hints and service workers are there.
  await page.goto('http://shop.localhost/');
  await page.waitForFunction(`heard.length >= ${REPORTS}`, undefined, { timeout: 15_000 });
  const heard = await page.evaluate<DeviceReport[]>('heard');
  await page.mouse.click(5, 5);
  assert.deepEqual(await page.evaluate('clicks'), [[0, contentTop(device)]]);
  const madeUp = "new MouseEvent('click', { screenX: 9_999, screenY: 7 })";
  assert.deepEqual(await page.evaluate(`[${madeUp}.screenX, ${madeUp}.screenY]`), [9_999, 7]);
  if (device.maxTouchPoints > 0) await assertTouches(page, device);
  const [popup] = await Promise.all([context.waitForEvent('page'), page.evaluate('void open("/popup")')]);
  const said = await popup.waitForFunction<DeviceReport>('window.said');
  return [...heard, (await said.jsonValue()) as DeviceReport];
}

/** A finger is where it touches the screen, and a touch that a page makes where the page says. */
async function assertTouches(page: Page, device: Emulator['device']): Promise<void> {
  await page.evaluate(`globalThis.touches = [];
    addEventListener('touchstart', ({ touches: { 0: one } }) => touches.push([one.screenX - one.clientX, one.screenY - one.clientY]))`);
  await page.touchscreen.tap(5, 5);
  assert.deepEqual(await page.evaluate('touches'), [[0, contentTop(device)]]);
  const madeUp = 'new Touch({ identifier: 1, target: document.body, screenX: 50, screenY: 7 })';
  assert.deepEqual(await page.evaluate(`[${madeUp}.screenX, ${madeUp}.screenY]`), [50, 7]);
}

/** The distance of a page from the upper edge of the screen. */
const contentTop = ({ mobile, workArea, viewport }: Emulator['device']): number =>
  mobile ? 0 : workArea.top + workArea.height - viewport.height;

function assertDevice(said: DeviceReport, { device }: Emulator, userAgent: string): void {
  assert.equal(said.userAgent, userAgent, said.where);
  assert.equal(said.platform, device.platform, said.where);
  assert.deepEqual(said.languages, ['de-DE', 'de', 'en-US', 'en'], said.where);
  assert.equal(said.timezone, 'Europe/Berlin', said.where);
  assert.equal(said.locale, 'de-DE', said.where);
  assert.equal(said.cores, device.cores, said.where);
  assert.equal(said.webgl, device.gpu.renderer, said.where);
  assert.deepEqual(said.unlikeNative, [], said.where);
  // On desktops it is the machine's.
  if (device.clientHints && !device.mobile) assert.ok(said.memory !== null && said.memory >= 1, said.where);
  else assert.equal(said.memory, device.clientHints ? 8 : null, said.where);
  if (!device.clientHints) {
    assert.equal(said.clientHints, null, said.where);
    assert.deepEqual(said.unlikeSafari, [], said.where);
    return;
  }
  const { brand, mobile, model, platform } = device.clientHints;
  assert.ok(
    said.clientHints?.brands.some((each) => each.brand === brand),
    said.where,
  );
  assert.ok(!JSON.stringify(said.clientHints).includes('Headless'), said.where);
  assert.match(String(said.clientHints?.uaFullVersion), /^\d+(\.\d+){3}$/, said.where);
  assert.deepEqual(
    { mobile: said.clientHints?.mobile, model: said.clientHints?.model, platform: said.clientHints?.platform },
    { mobile, model, platform },
    said.where,
  );
}

function assertWindow(where: string, said: NonNullable<DeviceReport['window']>, { device }: Emulator): void {
  // The width of a frame is set by its page.
  const { width, notifications, ...rest } = said;
  if (where !== 'frame') assert.deepEqual(notifications, ['default', 'prompt'], where);
  if (where !== 'frame' && device.mobile) assert.equal(width, device.viewport.width, where);
  assert.deepEqual(
    rest,
    {
      vendor: device.vendor,
      touchPoints: device.maxTouchPoints,
      webdriver: false,
      screenWidth: device.screen.width,
      pixelRatio: device.deviceScaleFactor,
      styled: true,
      available: device.workArea.height,
      outer: device.mobile
        ? [device.viewport.width, device.viewport.height]
        : [device.screen.width, device.workArea.height],
      corner: [0, device.workArea.top, 0, device.workArea.top],
      extended: false,
      plugins: device.mobile ? 0 : 5,
      addedFrame: { platform: device.platform, language: 'de-DE' },
      removedFrame: { platform: device.platform, language: 'de-DE' },
      chrome: device.clientHints !== null,
      chromeSource: device.clientHints && 'function () { [native code] }',
      hover: !device.mobile,
      vibrates: device.clientHints !== null,
      addresses: [],
    },
    where,
  );
}

function assertHeaders(path: string, { device }: Emulator, userAgent: string): void {
  const headers = site.headers.get(path) ?? {};
  assert.equal(headers['user-agent'], userAgent, path);
  assert.equal(headers['accept-language'], 'de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', path);
  const hints = headers['sec-ch-ua'];
  // Requests for worker scripts have no client hints.
  if (!device.clientHints || path.endsWith('.js')) {
    assert.equal(hints, undefined, path);
    return;
  }
  assert.match(String(hints), new RegExp(`"${device.clientHints.brand}"`), path);
  assert.equal(headers['sec-ch-ua-mobile'], device.clientHints.mobile ? '?1' : '?0', path);
  assert.equal(headers['sec-ch-ua-platform'], `"${device.clientHints.platform}"`, path);
}

/** What the site asked for with its first document is told with the request for another one. */
function assertAskedHints(path: string, { device }: Emulator, memory: number | null | undefined): void {
  const headers = site.headers.get(path) ?? {};
  const ratio = String(device.deviceScaleFactor);
  const form = device.clientHints?.mobile ? '"Mobile"' : device.mobile ? '"Tablet"' : '"Desktop"';
  const values = [ratio, String(memory), ratio, String(memory), form];
  assert.deepEqual(
    HINTS.map((name) => headers[name]),
    device.clientHints ? values : HINTS.map(() => undefined),
    path,
  );
}
