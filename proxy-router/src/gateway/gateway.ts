import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { canonicalHost, hasNameLength } from '@adsweep/shared/urls/public-host.ts';
import { RequestError, Server } from 'proxy-chain';
import { verifyTicket } from '../tickets/ticket.ts';
import type { TicketAccount } from '../tickets/ticket-account.ts';
import { GatewayFailure } from './gateway-failure.ts';
import { join } from './join.ts';
import { openPassage, type PassageParts } from './open-passage.ts';
import type { Passage } from './passage.ts';
import { relay, relayUpgrade } from './relay.ts';

export type GatewayParts = PassageParts & { host: string; port: number; ticketSecret: string; logger: Logger };

const SWEEP_MS = 1_000;

/**
 * The forward proxy that browsers use. proxy-chain's server reads requests, asks for credentials and refuses; what an accepted
 * request is carried by is ours, because every connection must pass the guard and stand on a ticket's account. Each request is judged by
 * its own credentials: nothing of a connection's earlier ticket counts.
 */
export class Gateway extends Server {
  readonly #parts: GatewayParts;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(parts: GatewayParts) {
    super({ host: parts.host, port: parts.port, authRealm: 'Adsweep' });
    this.#parts = parts;
    this.prepareRequestFunction = ({ username, password }) => {
      const ticket = verifyTicket({ username, password }, parts.ticketSecret, Date.now());
      const account = ticket && parts.accounts.of(ticket);
      if (account === null) parts.metrics.refusedCredentials.inc();
      return account === null ? { requestAuthentication: true } : { customTag: account };
    };
    this.server.on('upgrade', (request, socket: Socket, head) => void this.#onUpgrade(request, socket, head));
    // A client is waited for longer than a target, so that it can be told that the target was silent.
    this.server.timeout = 2 * parts.idleMs;
  }

  override async listen(): Promise<void> {
    await super.listen();
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  override async close(closeConnections = false): Promise<void> {
    clearInterval(this.#sweeping);
    await super.close(closeConnections);
  }

  override async onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#carry(request, (passage, url) => relay(request, response, url, passage));
  }

  override async onConnect(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    await this.#carry(request, (passage) => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      if (head.length > 0) socket.unshift(head);
      join(socket, passage);
    });
  }

  async #onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    await this.#carry(request, (passage, url) => relayUpgrade(request, socket, head, url, passage));
  }

  async #carry(request: IncomingMessage, use: (passage: Passage, url: URL) => void): Promise<void> {
    try {
      const { trgParsed: url, customTag } = await this.prepareRequestHandling(request);
      if (url === null) throw new RequestError('The request names no target.', 400);
      const account = customTag as TicketAccount;
      const host = canonicalHost(url.hostname);
      if (host === null) throw new RequestError('The request names no host.', 400);
      // Before it is recorded: a page may make up thousands of these, each of many kilobytes.
      if (!hasNameLength(host)) throw new GatewayFailure('dns', 'the name is too long to resolve');
      account.noteRequest(request.method ?? '', recordedUrl(request, url), Date.now());
      const destination = { host, port: Number(url.port || 80) };
      use(await openPassage(this.#parts, account, destination, request.socket), url);
    } catch (error) {
      this.failRequest(request, this.#asRefusal(error));
    }
  }

  #sweep(): void {
    try {
      this.#parts.accounts.sweep(Date.now());
    } catch (cause) {
      this.#parts.logger.error({ cause }, 'the journal of tickets cannot be written');
    }
  }

  #asRefusal(error: unknown): RequestError {
    if (error instanceof RequestError) return error;
    if (error instanceof GatewayFailure) return refusal(error.outcome);
    this.#parts.logger.error({ cause: error }, 'the gateway broke on a request');
    return refusal('upstream_failed');
  }
}

/** A request's URL without credentials and fragment; a tunnel's is `https://host:port/`, which is all that can be known of it. */
function recordedUrl(request: IncomingMessage, url: URL): string {
  if (request.method === 'CONNECT') return `https://${url.hostname}:${url.port}/`;
  return `${url.origin}${url.pathname}${url.search}`;
}

function refusal(outcome: GatewayFailure['outcome']): RequestError {
  return new RequestError(`gateway: ${outcome}`, GATEWAY_STATUS[outcome], { [GATEWAY_OUTCOME_HEADER]: outcome });
}
