import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { locateChromium } from '../../src/browser/chromium-path.ts';
import type { BrowserPool, OpenContext, OpenOptions } from '../../src/browser/open-context.ts';

const FLAGS = [
  '--site-per-process',
  '--proxy-server=http://127.0.0.1:1',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--disable-quic',
  '--disable-blink-features=AutomationControlled',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A Chromium with flags of a test's own, and undressed contexts in place of a pool's. */
export class TestChromium implements BrowserPool {
  readonly #browser: Browser;
  readonly #debuggingUrl: string;
  readonly #folder: string;

  constructor(browser: Browser, debuggingUrl: string, folder: string) {
    this.#browser = browser;
    this.#debuggingUrl = debuggingUrl;
    this.#folder = folder;
  }

  static async start(...flags: string[]): Promise<TestChromium> {
    const folder = await mkdtemp(join(tmpdir(), 'adsweep-chromium-'));
    const { path } = await locateChromium('');
    const port = await freePort();
    const browser = await chromium.launch({
      executablePath: path,
      chromiumSandbox: false,
      env: { ...process.env, HOME: folder } as Record<string, string>,
      args: [...FLAGS, `--remote-debugging-port=${port}`, ...flags],
    });
    return new TestChromium(browser, await debuggingUrlOf(port), folder);
  }

  async open({ ticket, emulator }: OpenOptions): Promise<OpenContext> {
    const context = await this.#browser.newContext({
      proxy: { server: ticket.server, username: ticket.username, password: ticket.password },
      ignoreHTTPSErrors: true,
      acceptDownloads: false,
      viewport: emulator.device.viewport,
    });
    return {
      context,
      browser: this.#browser,
      browserName: 'chromium',
      browserVersion: this.#browser.version(),
      debuggingUrl: this.#debuggingUrl,
      browserContextId: await contextIdOf(context),
      close: () => context.close(),
    };
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function contextIdOf(context: BrowserContext): Promise<string | null> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  await page.close();
  return targetInfo.browserContextId ?? null;
}

/** A port nobody listens on just now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function debuggingUrlOf(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/json/version`);
  return ((await answer.json()) as { webSocketDebuggerUrl: string }).webSocketDebuggerUrl;
}
