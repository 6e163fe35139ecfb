import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import { CHALLENGE, challenge, hasTicket, ticketFor } from './ticket.ts';

/** A forward proxy that asks for a ticket's credentials and takes every name to one local port. */
export class CredentialProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #sockets = new Set<Duplex>();
  /** The http: URLs that were asked for with the ticket. */
  readonly asked: string[] = [];

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((request, response) => this.#forward(request, response));
    this.#server.on('connect', (request: IncomingMessage, socket: Duplex) => this.#tunnel(request, socket));
  }

  static async start(targetPort: number): Promise<CredentialProxy> {
    const proxy = new CredentialProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** A ticket for this proxy. */
  get ticket(): ExitTicket {
    const { port } = this.#server.address() as AddressInfo;
    return ticketFor(`http://127.0.0.1:${port}`);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    if (!hasTicket(request)) return void response.writeHead(407, CHALLENGE).end();
    this.asked.push(request.url ?? '');
    const { pathname, search } = new URL(request.url ?? '');
    const headers = Object.fromEntries(pairs(request.rawHeaders).filter(([name]) => !/^proxy-/i.test(name)));
    const onward = httpRequest(
      { host: '127.0.0.1', port: this.#target, method: request.method, path: pathname + search, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  }

  #tunnel(request: IncomingMessage, socket: Duplex): void {
    this.#sockets.add(socket.on('error', () => undefined));
    if (!hasTicket(request)) return void challenge(socket);
    const onward = connect(this.#target, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 \r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    this.#sockets.add(onward.on('error', () => socket.destroy()));
  }
}

/** Headers as they came: names in their letter case, in their order. */
const pairs = (raw: string[]): [string, string][] =>
  raw.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []));
