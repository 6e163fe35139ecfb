import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ExitRequest, ExitTicket, TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { Conditions } from './conditions.ts';
import { ticketFor } from './ticket.ts';

const TRAFFIC: TicketTraffic = {
  ticket_id: 'ticket-1',
  bytes_sent: 11,
  bytes_received: 22,
  open_streams: 0,
  connecting_streams: 0,
  quiet_ms: 60_000,
  hosts: [],
  requests: [],
};

/** The proxy-router's API: gives one ticket, or refuses with the code in `refusal`. */
export class FakeRouter extends Conditions {
  ticket: ExitTicket = ticketFor('http://127.0.0.1:1');
  refusal: { status: number; code: string } | null = null;
  /** Whether it says that it issues tickets. */
  isReady = true;
  /** The traffic [sent, received] that the gateway reports, one pair per query, null: it does not answer; the last one is repeated. */
  carried: ([sent: number, received: number] | null)[] = [[TRAFFIC.bytes_sent, TRAFFIC.bytes_received]];
  /** How far its clock is ahead, in ms. */
  aheadMs = 0;
  /** When it carried requests, by the clock of the test. */
  carriedAt: number[] = [];
  readonly calls: string[] = [];
  /** The bodies of requests for exits. */
  readonly requests: unknown[] = [];
  readonly #server: Server;

  constructor() {
    super();
    this.#server = createServer((request, response) => {
      this.calls.push(`${request.method} ${request.url}`);
      this.changed();
      void text(request).then((sent) => {
        if (request.method === 'POST') this.requests.push(JSON.parse(sent));
        const [status, body] = this.#answer(request.method ?? '', request.url ?? '');
        response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
      });
    });
  }

  static async start(): Promise<FakeRouter> {
    const fake = new FakeRouter();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #traffic(): [number, object] {
    const [carried = [0, 0]] = this.carried;
    if (this.carried.length > 1) this.carried.shift();
    if (!carried) return [503, { detail: 'away', code: 'replica_unreachable' }];
    const [bytes_sent, bytes_received] = carried;
    const requests = this.carriedAt.map((at) => ({
      method: 'GET',
      url: 'http://a.example/',
      at_ms: at + this.aheadMs,
    }));
    return [200, { ...TRAFFIC, bytes_sent, bytes_received, requests }];
  }

  #answer(method: string, url: string): [number, object | undefined] {
    if (url === '/readyz') return [this.isReady ? 200 : 503, {}];
    if (method === 'GET') return this.#traffic();
    if (method === 'DELETE') return [204, undefined];
    if (this.refusal) return [this.refusal.status, { detail: 'refused', code: this.refusal.code }];
    if (this.aheadMs === 0) return [201, this.ticket];
    const { ttl_seconds } = this.requests.at(-1) as ExitRequest;
    const expires_at = new Date(Date.now() + this.aheadMs + ttl_seconds * 1_000).toISOString();
    return [201, { ...this.ticket, expires_at }];
  }
}
