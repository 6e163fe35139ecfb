import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { chromiumAccount, makeProfile, removeProfile } from '../../src/browser/chromium-profile.ts';
import { CHROMIUM_UID, chromiumEnvironment } from '../../src/config.ts';
import { chromiumOfRun } from './chromium-of-run.ts';

const TOKEN = 'secret-of-the-endpoint';

/** A Chromium with a DevTools port. */
class ServedChromium {
  readonly #child: ChildProcess;
  readonly #profile: string;
  /** Of its WebSocket. */
  readonly url: URL;

  private constructor(child: ChildProcess, profile: string, url: URL) {
    this.#child = child;
    this.#profile = profile;
    this.url = url;
  }

  static async start(args: string[]): Promise<ServedChromium> {
    const { path, account } = await chromiumOfRun();
    const profile = await makeProfile(`adsweep-test-remote-`, account ?? chromiumAccount(CHROMIUM_UID));
    const flags = ['--headless', '--remote-debugging-port=0', `--user-data-dir=${profile}`, ...args];
    const child = spawn(path, flags, {
      ...account,
      env: chromiumEnvironment(profile),
      cwd: profile,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    for await (const text of child.stderr!.setEncoding('utf8')) {
      said += text;
      const [, url] = /listening on (ws:\S+)/.exec(said) ?? [];
      if (url) return new ServedChromium(child, profile, new URL(url));
    }
    throw new Error(`Chromium did not start: ${said}`);
  }

  async end(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      process.kill(-(this.#child.pid as number), 'SIGKILL');
      await exited;
    }
    await removeProfile(this.#profile);
  }
}

/**
 * A service that offers Chromium over a WebSocket with a token in its URL. It starts one for each connection, with the flags that the
 * connection asks for, as browserless does; or offers the one that it was started with.
 */
export class RemoteEndpoint {
  readonly #server: Server = createServer(({ url }, response) => {
    const isNamed = url === `/json/version?token=${TOKEN}`;
    // The address that a service has for itself is often not the one it is reached by.
    response.writeHead(isNamed ? 200 : 404).end('{"webSocketDebuggerUrl":"ws://0.0.0.0:3000/"}');
  });
  readonly #sockets = new Set<Socket>();
  readonly #browsers = new Set<ServedChromium>();
  #only: ServedChromium | null = null;
  /** Whether it refuses connections. */
  isDown = false;

  private constructor() {
    this.#server.on('upgrade', (request, socket) => void this.#connect(request, socket as Socket));
  }

  /** `flags`: of the only browser; null: each connection gets one of its own. */
  static async start(flags: string[] | null = null): Promise<RemoteEndpoint> {
    const endpoint = new RemoteEndpoint();
    await new Promise<void>((resolve) => endpoint.#server.listen(0, '127.0.0.1', resolve));
    if (flags) endpoint.#only = await endpoint.#start(flags);
    return endpoint;
  }

  /** The endpoint, with this token. */
  url(token = TOKEN): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/chromium?token=${token}`;
  }

  /** The endpoint over HTTP, which names its WebSocket. */
  get tokenUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/?token=${TOKEN}`;
  }

  /** The only browser's own address. */
  get httpUrl(): string {
    return `http://${this.#only?.url.host}`;
  }

  /** How many browsers run. */
  get browsers(): number {
    return this.#browsers.size;
  }

  /** Ends all browsers, and with them their connections. */
  async endBrowsers(): Promise<void> {
    await Promise.all([...this.#browsers].map((browser) => this.#end(browser)));
  }

  async close(): Promise<void> {
    this.isDown = true;
    for (const socket of this.#sockets) socket.destroy();
    await this.endBrowsers();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #start(flags: string[]): Promise<ServedChromium> {
    const browser = await ServedChromium.start(flags);
    this.#browsers.add(browser);
    return browser;
  }

  async #end(browser: ServedChromium): Promise<void> {
    await browser.end();
    this.#browsers.delete(browser);
  }

  async #connect({ url = '', rawHeaders }: IncomingMessage, socket: Socket): Promise<void> {
    this.#sockets.add(socket.on('error', () => undefined));
    const { searchParams } = new URL(url, 'ws://endpoint');
    if (this.isDown) return void socket.end('HTTP/1.1 503 Down\r\n\r\n');
    if (searchParams.get('token') !== TOKEN) return void socket.end('HTTP/1.1 401 Who\r\n\r\n');
    const { args = [] } = JSON.parse(searchParams.get('launch') ?? '{}') as { args?: string[] };
    const browser = this.#only ?? (await this.#start(args));
    const onward = connect(Number(browser.url.port), '127.0.0.1', () => {
      const headers = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
      onward.write(`GET ${browser.url.pathname} HTTP/1.1\r\n${headers}\r\n`);
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    onward.on('close', () => socket.destroy());
    socket.on('close', () => {
      onward.destroy();
      if (browser !== this.#only) void this.#end(browser);
    });
  }
}
