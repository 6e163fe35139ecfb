import type { Logger } from '@adsweep/shared/service/logger.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Browser, Page } from 'playwright-core';
import { remoteFlags } from './chromium-flags.ts';
import { LiveBrowser } from './live-browser.ts';
import type { OwnCommands } from './own-commands.ts';
import type { RemoteChromium } from './remote-chromium.ts';

const CHECK_MS = 15_000;
const COMMAND_MS = 5_000;
/** A proxy that no machine has, as that of our flags. */
const NO_PROXY = 'http://127.0.0.1:1';
/** A host that does not exist (RFC 6761, 6.4). */
const NO_HOST = 'adsweep.invalid';

/** What a remote browser lacks of what this machine's would do: a name, and what follows from it. */
export const REMOTE_LACKS = {
  own_browsers:
    'all connections get the same browser: a scan that must not share its browser waits until it is alone on this node; no other node may use this browser',
  hidden_automation: 'pages can see that the browser is automated (navigator.webdriver)',
  screens: 'frames of other sites see the screen of the browser and not that of the device',
  memory_limits: 'no limit for the memory of one page: set one where the browser runs',
  cpu_priorities: 'pages that use much CPU are not slowed down',
  sandbox_check: 'whether Chromium runs in its sandbox is not checked',
  process_end: 'a browser that hangs is left and not killed: the service must end it',
} as const;
export type RemoteLack = keyof typeof REMOTE_LACKS;

/** Nothing of a process on another machine can be seen or done. */
const ALWAYS: RemoteLack[] = ['memory_limits', 'cpu_priorities', 'sandbox_check', 'process_end'];

/** A remote browser that can be used; `version` such as `156.0.8078.79`. */
export type TriedRemote = { remote: RemoteChromium; version: string; lacks: RemoteLack[] };

/**
 * Connects to a remote Chromium and tries what scans need. Throws OperatorError where it cannot be used: it cannot be
 * reached, or its traffic would not leave by the exits.
 */
export async function tryRemote(
  { cdpUrl, gatewayHosts }: Pick<RemoteChromium, 'cdpUrl' | 'gatewayHosts'>,
  logger: Logger,
): Promise<TriedRemote> {
  const remote = { cdpUrl, gatewayHosts, isShared: false };
  const browsers: LiveBrowser[] = [];
  const connect = async () => {
    const browser = await LiveBrowser.launch(remote, logger);
    browsers.push(browser);
    return browser;
  };
  try {
    const [first, second] = [await connect(), await connect()];
    const isShared = await areSame(first, second);
    const seen = await first.inspect((browser, own) =>
      withDeadline(lacksOf(browser, own, gatewayHosts), CHECK_MS, 'the check'),
    );
    const lacks: RemoteLack[] = [...(isShared ? ['own_browsers' as const] : []), ...seen, ...ALWAYS];
    return { remote: { ...remote, isShared }, version: first.version, lacks };
  } catch (error) {
    throw new OperatorError(`BROWSER_CDP_URL names a browser that cannot be used: ${(error as Error).message}`);
  } finally {
    await Promise.all(browsers.map((browser) => browser.kill()));
  }
}

/** Whether two connections reached one browser: a context that the one makes is there for the other. */
async function areSame(first: LiveBrowser, second: LiveBrowser): Promise<boolean> {
  const { browserContextId } = await first.inspect((_, own) =>
    own.command('Target.createBrowserContext', { disposeOnDetach: true }, COMMAND_MS),
  );
  const { browserContextIds } = await second.inspect((_, own) =>
    own.command('Target.getBrowserContexts', {}, COMMAND_MS),
  );
  await first.inspect((_, own) => own.command('Target.disposeBrowserContext', { browserContextId }, COMMAND_MS));
  return (browserContextIds as unknown[]).includes(browserContextId);
}

async function lacksOf(browser: Browser, own: OwnCommands, gatewayHosts: readonly string[]): Promise<RemoteLack[]> {
  const context = await browser.newContext({ proxy: { server: NO_PROXY, bypass: NO_HOST } });
  const page = await context.newPage();
  if (await sendsDatagrams(page)) throw new Error(`WebRTC bypasses its proxy: start it with ${flagsFor(gatewayHosts)}`);
  const isAutomated = await page.evaluate(() => navigator.webdriver);
  const ownEnd = await endOf(page);
  await context.close();
  const bare = await browser.newContext();
  const bareEnd = await endOf(await bare.newPage());
  await bare.close();
  if (bareEnd !== 'ERR_PROXY_CONNECTION_FAILED')
    throw new Error(`it runs without Adsweep's flags: start it with ${flagsFor(gatewayHosts)}`);
  // The flags send everything to a proxy: only a context with a setting of its own looks the name up.
  if (ownEnd !== 'ERR_NAME_NOT_RESOLVED') throw new Error(`its contexts do not use their own proxies (${ownEnd})`);
  const screen = { left: 1_000, top: 0, width: 500, height: 500 };
  const hasScreens = await own.command('Emulation.addScreen', screen, COMMAND_MS).then(
    () => true,
    () => false,
  );
  const lacks: [RemoteLack, boolean][] = [
    ['hidden_automation', isAutomated],
    ['screens', !hasScreens],
  ];
  return lacks.filter(([, isLacking]) => isLacking).map(([name]) => name);
}

/** As words of a shell's command. */
const flagsFor = (gatewayHosts: readonly string[]): string =>
  remoteFlags(gatewayHosts)
    .map((flag) => (/^[\w=:/.,-]+$/.test(flag) ? flag : `'${flag}'`))
    .join(' ');

/** How a visit of {@link NO_HOST} ends: Chromium's error. */
const endOf = (page: Page): Promise<string> =>
  page.goto(`http://${NO_HOST}/`, { timeout: COMMAND_MS }).then(
    () => 'a page',
    (error: Error) => /net::(\w+)/.exec(error.message)?.[1] ?? error.name,
  );

/** Whether WebRTC would send datagrams from the browser's own addresses. */
const sendsDatagrams = (page: Page): Promise<boolean> =>
  page.evaluate(async () => {
    const connection = new RTCPeerConnection();
    let candidates = 0;
    connection.onicecandidate = ({ candidate }) => {
      if (candidate?.candidate) candidates += 1;
    };
    connection.createDataChannel('x');
    await connection.setLocalDescription(await connection.createOffer());
    while (connection.iceGatheringState !== 'complete')
      await new Promise((resolve) => connection.addEventListener('icegatheringstatechange', resolve, { once: true }));
    connection.close();
    return candidates > 0;
  });
