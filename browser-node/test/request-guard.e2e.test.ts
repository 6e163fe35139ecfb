import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { ChromiumPool } from '../src/browser/chromium-pool.ts';
import type { OpenContext } from '../src/browser/open-context.ts';
import { targetIdOf } from '../src/capture/devtools/devtools.ts';
import { chromiumOfRun } from './support/chromium-of-run.ts';
import { CredentialProxy } from './support/credential-proxy.ts';
import { DeviceSite } from './support/device-site.ts';

const INNER = [
  'file:///etc/passwd',
  'FILE:///etc/',
  'view-source:http://shop.localhost/popup',
  'chrome://version/',
  'chrome://gpu/',
  'devtools://devtools/bundled/inspector.html',
];

let open: OpenContext;
let asked: readonly string[];
let end: () => Promise<void>;
before(async () => {
  const site = await DeviceSite.start();
  const proxy = await CredentialProxy.start(site.port);
  asked = proxy.asked;
  const pool = new ChromiumPool(await chromiumOfRun(), createLogger('test', 'silent'), () => undefined);
  const emulator = findEmulator('windows_chrome');
  assert.ok(emulator);
  open = await pool.open({ emulator, countryCode: 'DE', ticket: proxy.ticket, isolated: false });
  end = async () => {
    await pool.close();
    await proxy.close();
    await site.close();
  };
});
after(() => end());

for (const url of INNER)
  test(`${url} is refused for pages and browser navigations`, async () => {
    const page = await open.context.newPage();
    await assert.rejects(page.goto(url), /invalid URL|ERR_/i);
    const opener = await open.context.newPage();
    await opener.goto('http://shop.localhost/popup');
    await opener.evaluate((inner) => void window.open(inner), url);
    await opener.evaluate(
      (inner) => void document.body.append(Object.assign(document.createElement('iframe'), { src: inner })),
      url,
    );
    // As from the address bar, which pages cannot use: the request itself is refused.
    const session = await open.context.newCDPSession(opener);
    await session.send('Page.navigate', { url }).catch(() => undefined);
    const shown = await Promise.all(
      open.context.pages().map((each) => each.evaluate('document.documentElement.outerHTML')),
    );
    assert.doesNotMatch(shown.join(), /root:.*:0:0|Chromium|Index of|line-number/);
    await Promise.all(open.context.pages().map((each) => each.close()));
  });

test('tabs that open while new ones load nothing ask no server, although nothing else intercepts them; a tab that was open before does', async () => {
  const opener = await open.context.newPage();
  await opener.goto('http://shop.localhost/popup');
  const before = asked.length;
  open.letNewTabsLoad(false);
  await opener.evaluate(() => {
    window.open('/popup?1');
    window.open('/popup?2', '_blank', 'noopener');
    Object.assign(window.open('about:blank') ?? {}, { location: '/popup?3' });
  });
  await opener.goto('http://shop.localhost/popup?4');
  open.letNewTabsLoad(true);
  const opening = open.context.waitForEvent('page', (page) => page.url().endsWith('?5'));
  await opener.evaluate(() => void window.open('/popup?5'));
  await (await opening).waitForLoadState();
  const pages = asked.slice(before).filter((url) => url.includes('/popup?'));
  assert.deepEqual(pages, ['http://shop.localhost/popup?4', 'http://shop.localhost/popup?5']);
  await Promise.all(open.context.pages().map((each) => each.close()));
});

test('a tab whose loads are stopped asks no server for a page, nor do its frames of other sites; it still asks for other things, and other tabs for pages', async () => {
  const [stopped, other] = [await open.context.newPage(), await open.context.newPage()];
  for (const page of [stopped, other]) await page.goto('http://shop.localhost/popup');
  const framed = (url: string) => {
    const frame = Object.assign(document.createElement('iframe'), { src: url });
    return new Promise((resolve) => {
      frame.onload = resolve;
      document.body.append(frame);
    });
  };
  await stopped.evaluate(framed, 'http://ads.localhost/popup');
  const [, frame] = stopped.frames();
  const targetId = await targetIdOf(stopped);
  const before = asked.length;
  open.stopLoads(targetId);
  await frame?.evaluate(() => void Object.assign(location, { href: '/popup?frame' }));
  await stopped.evaluate(async () => {
    await fetch('/popup?fetched');
    location.href = '/popup?own';
  });
  await other.goto('http://shop.localhost/popup?other');
  const pages = asked.slice(before).filter((url) => url.includes('/popup?'));
  assert.deepEqual(pages, ['http://shop.localhost/popup?fetched', 'http://shop.localhost/popup?other']);
  await Promise.all(open.context.pages().map((each) => each.close()));
});

test('the browser creates no tab for a file', async () => {
  const session = await open.browser.newBrowserCDPSession();
  const create = (url: string) => session.send('Target.createTarget', { url, browserContextId: open.browserContextId });
  const { targetId } = await create('about:blank');
  await session.send('Target.closeTarget', { targetId });
  await assert.rejects(create('file:///etc/passwd'));
});

test('Chromium listens on no port', async () => {
  const session = await open.browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const pid = processInfo.find(({ type }) => type === 'browser')?.id;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  assert.match(command, /--remote-debugging-pipe/);
  assert.doesNotMatch(command, /--remote-debugging-(port|address)/);
});
