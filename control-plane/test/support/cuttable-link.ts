import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';

/** Where a link leads: a port of this machine, or a socket file. */
export type LinkTarget = { port: number } | { path: string };

/** A wire between two processes that can be cut: then nothing passes, and nobody is told. */
export class CuttableLink {
  readonly #server: net.Server;
  readonly #pairs = new Set<[Socket, Socket]>();
  #isCut = false;

  private constructor(target: () => LinkTarget) {
    this.#server = net.createServer((near) => this.#join(near, net.connect(target() as net.NetConnectOpts)));
  }

  /** `target` is asked for each connection. */
  static async open(target: () => LinkTarget): Promise<CuttableLink> {
    const link = new CuttableLink(target);
    link.#server.listen(0, '127.0.0.1');
    await once(link.#server, 'listening');
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** What was sent meanwhile arrives, or, where the connections are given up (`isReset`), never does. */
  restore(isReset: boolean): void {
    this.#isCut = false;
    for (const pair of this.#pairs) for (const socket of pair) isReset ? socket.destroy() : socket.resume();
  }

  async close(): Promise<void> {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, far: Socket): void {
    const pair: [Socket, Socket] = [near, far];
    this.#pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => to.write(bytes));
      from.on('end', () => to.end());
      from.on('error', () => undefined);
      from.on('close', () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
      if (this.#isCut) from.pause();
    }
  }
}
