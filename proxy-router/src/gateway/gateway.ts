import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { canonicalHost, hasNameLength } from '@adsweep/shared/urls/public-host.ts';
import { RequestError, Server } from 'proxy-chain';
import { ConnectionFailure } from '../providers/connection-failure.ts';
import type { ActiveTicket } from '../tickets/active-ticket.ts';
import { verifyTicket } from '../tickets/ticket.ts';
import type { TicketRegistry } from '../tickets/ticket-registry.ts';
import { connectUpstream, type UpstreamDependencies } from './connect-upstream.ts';
import { forwardRequest, forwardUpgrade } from './forward-request.ts';
import { pipe } from './pipe.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

export type GatewayDependencies = UpstreamDependencies & {
  host: string;
  port: number;
  tickets: TicketRegistry;
  ticketSecret: string;
};

/**
 * The forward proxy that browsers use. proxy-chain's server parses requests, asks for credentials and sends refusals. Connections to
 * targets are our own, because each must pass the address policy and be counted for its ticket. Each request is judged by its own
 * credentials: the ticket of an earlier request on the same connection does not count.
 */
export class Gateway extends Server {
  readonly #dependencies: GatewayDependencies;

  constructor(dependencies: GatewayDependencies) {
    const { host, port, tickets, ticketSecret, metrics, idleMs } = dependencies;
    super({ host, port, authRealm: 'Adsweep' });
    this.#dependencies = dependencies;
    this.prepareRequestFunction = ({ username, password }) => {
      const claims = verifyTicket({ username, password }, ticketSecret, Date.now());
      const ticket = claims && tickets.open(claims);
      if (ticket === null) metrics.refusedCredentials.inc();
      return ticket === null ? { requestAuthentication: true } : { customTag: ticket };
    };
    this.server.on('upgrade', (request, socket: Socket, head) => void this.#onUpgrade(request, socket, head));
    // Longer than a target's limit, so that the client can be told that the target was silent.
    this.server.timeout = 2 * idleMs;
  }

  override async onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#handle(request, (connection, url) => forwardRequest(request, response, url, connection));
  }

  override async onConnect(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    await this.#handle(request, (connection) => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      if (head.length > 0) socket.unshift(head);
      pipe(socket, connection);
    });
  }

  async #onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    await this.#handle(request, (connection, url) => forwardUpgrade(request, socket, head, url, connection));
  }

  /** Checks a request, connects to its target and calls `use`; answers the refusal where either fails. */
  async #handle(request: IncomingMessage, use: (connection: UpstreamConnection, url: URL) => void): Promise<void> {
    try {
      const { trgParsed: url, customTag } = await this.prepareRequestHandling(request);
      if (url === null) throw new RequestError('The request names no target.', 400);
      const ticket = customTag as ActiveTicket;
      const host = targetHost(url);
      ticket.recordRequest(request.method ?? '', recordedUrl(request, url), Date.now());
      const destination = { host, port: Number(url.port || 80) };
      use(await connectUpstream(this.#dependencies, ticket, destination, request.socket), url);
    } catch (error) {
      this.failRequest(request, this.#asRefusal(error));
    }
  }

  #asRefusal(error: unknown): RequestError {
    if (error instanceof RequestError) return error;
    if (error instanceof ConnectionFailure) return refusal(error.outcome);
    this.#dependencies.logger.error({ cause: error }, 'the gateway failed on a request');
    return refusal('upstream_failed');
  }
}

/** The target's host in its canonical spelling. Refused before anything is recorded: a page can make up endless long names. */
function targetHost(url: URL): string {
  const host = canonicalHost(url.hostname);
  if (host === null) throw new RequestError('The request names no valid host.', 400);
  if (!hasNameLength(host)) throw new ConnectionFailure('dns', 'the name is too long to be resolved');
  return host;
}

/** A request's URL without credentials and fragment; a tunnel's is `https://host:port/`, which is all that can be known of it. */
function recordedUrl(request: IncomingMessage, url: URL): string {
  if (request.method === 'CONNECT') return `https://${url.hostname}:${url.port}/`;
  return `${url.origin}${url.pathname}${url.search}`;
}

function refusal(outcome: ConnectionFailure['outcome']): RequestError {
  return new RequestError(`gateway: ${outcome}`, GATEWAY_STATUS[outcome], { [GATEWAY_OUTCOME_HEADER]: outcome });
}
