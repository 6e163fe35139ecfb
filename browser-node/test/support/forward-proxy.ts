import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import type { Site } from './site.ts';
import { CHALLENGE, challenge, hasTicket } from './ticket.ts';

type Fault = keyof typeof GATEWAY_STATUS;

/** Names that tell of the fault the stand-in gateway makes for them. */
const FAULTS: [RegExp, Fault][] = [
  [/^(127\.|169\.254\.|10\.|\[|localhost$)/, 'private_address'],
  [/(^|\.)dns-fault\.example$/, 'dns'],
  [/(^|\.)refused\.example$/, 'connection_refused'],
  [/(^|\.)upstream\.example$/, 'upstream_failed'],
];

/** A stand-in for the gateway: it asks for a ticket, every public name is the site, faults are made by name, and it keeps a ticket's traffic. */
export class ForwardProxy {
  readonly #site: Site;
  readonly #server: http.Server;
  readonly #sockets = new Set<Duplex>();
  readonly #streams = new Set<Duplex | ServerResponse>();
  #traffic: TicketTraffic = emptyTraffic();
  #activeAt: number | null = null;

  constructor(site: Site) {
    this.#site = site;
    this.#server = http.createServer((request, response) => this.#forward(request, response));
    this.#server.on('connect', (request, socket: Duplex) => this.#tunnel(request, socket));
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
  }

  static async start(site: Site): Promise<ForwardProxy> {
    const proxy = new ForwardProxy(site);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get server(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  traffic = async (): Promise<TicketTraffic> => {
    const quiet_ms = this.#activeAt === null ? this.#traffic.quiet_ms : Math.floor(performance.now() - this.#activeAt);
    return structuredClone({ ...this.#traffic, open_streams: this.#streams.size, quiet_ms });
  };

  reset(): void {
    this.#traffic = emptyTraffic();
    this.#activeAt = null;
  }

  /** Takes no more connections; those that are open go on. */
  refuse(): void {
    this.#server.close();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    if (!hasTicket(request)) return void response.writeHead(407, CHALLENGE).end();
    this.#open(response);
    const url = new URL(request.url ?? '');
    // As the gateway: nothing is written down of names that no host can have.
    if (url.hostname.length > 253) {
      response.writeHead(GATEWAY_STATUS.dns, { [GATEWAY_OUTCOME_HEADER]: 'dns' }).end();
      return;
    }
    this.#traffic.requests.push({ method: request.method ?? '', url: url.href, at_ms: Date.now() });
    const fault = this.#note(url.hostname, Number(url.port || 80));
    if (fault) {
      const told = { 'content-type': 'text/plain', [GATEWAY_OUTCOME_HEADER]: fault };
      response.writeHead(GATEWAY_STATUS[fault], told).end('the gateway could not do that');
      return;
    }
    const { 'proxy-connection': _, 'proxy-authorization': __, ...headers } = request.headers;
    const onward = http.request(
      { port: this.#site.httpPort, method: request.method, path: url.pathname + url.search, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response).on('error', () => answer.destroy());
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  }

  #tunnel(request: IncomingMessage, socket: Duplex): void {
    if (!hasTicket(request)) return void challenge(socket);
    this.#open(socket);
    const [host = '', port = ''] = (request.url ?? '').split(/:(?=\d+$)/);
    this.#traffic.requests.push({ method: 'CONNECT', url: `https://${host}:${port}/`, at_ms: Date.now() });
    const fault = this.#note(host, Number(port));
    if (fault) {
      socket.end(`HTTP/1.1 ${GATEWAY_STATUS[fault]} fault\r\n\r\n`);
      return;
    }
    const onward = net.connect(port === '443' ? this.#site.httpsPort : this.#site.httpPort, '127.0.0.1');
    this.#keep(onward);
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
    onward.on('connect', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
  }

  /** Writes the connection down; the fault to refuse it with, null = let it through. */
  #note(host: string, port: number): Fault | null {
    const fault = FAULTS.find(([pattern]) => pattern.test(host))?.[1] ?? null;
    const known = this.#traffic.hosts.find((entry) => entry.host === host && entry.port === port);
    if (known) known.connections += 1;
    else this.#traffic.hosts.push({ host, port, address: null, outcome: fault ?? 'ok', connections: 1 });
    return fault;
  }

  /** Counts a request or a tunnel while it is open. */
  #open(stream: Duplex | ServerResponse): void {
    this.#active();
    this.#streams.add(stream);
    stream.on('close', () => {
      this.#active();
      this.#streams.delete(stream);
    });
  }

  #active = (): void => {
    this.#activeAt = performance.now();
  };

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('data', this.#active);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => this.#sockets.delete(socket));
  }
}

const emptyTraffic = (): TicketTraffic => ({
  ticket_id: 'ticket',
  bytes_sent: 0,
  bytes_received: 0,
  open_streams: 0,
  connecting_streams: 0,
  quiet_ms: Number.MAX_SAFE_INTEGER,
  hosts: [],
  requests: [],
});
