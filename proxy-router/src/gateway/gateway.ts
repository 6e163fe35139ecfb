import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HEADER_BYTES_MAX, refuseUnreadable } from '@adsweep/shared/service/refuse-request.ts';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { canonicalHost, hasNameLength } from '@adsweep/shared/urls/public-host.ts';
import { RequestError, Server } from 'proxy-chain';
import { ConnectionFailure } from '../providers/connection-failure.ts';
import type { ActiveTicket } from '../tickets/active-ticket.ts';
import { RELAYED_HEADER, type Replica, replicaOf } from '../tickets/ticket-id.ts';
import type { TicketRegistry } from '../tickets/ticket-registry.ts';
import { VerifiedTickets } from '../tickets/verified-tickets.ts';
import { connectUpstream, type UpstreamDependencies } from './connect-upstream.ts';
import { forwardRequest, forwardUpgrade } from './forward-request.ts';
import { pipe } from './pipe.ts';
import { relayRequest, relayStream } from './relay.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

export type GatewayDependencies = UpstreamDependencies & {
  host: string;
  port: number;
  tickets: TicketRegistry;
  ticketSecret: string;
  /** Connections of clients at the same time. */
  connectionsMax: number;
  /** How long the headers of a request may take. */
  headersMs: number;
  /** URL of this replica's API, '' where there is only one. */
  ownApi: string;
};

const REALM = 'Adsweep';
/** How often it is looked at whether the headers of a request take too long. */
const CHECK_MS = 1_000;
const UNREADABLE: Record<string, string> = { [GATEWAY_OUTCOME_HEADER]: 'connection_failed' };

/** The bearer of a request: a ticket whose account this replica keeps, or the other replica that keeps it. */
type Bearer = { ticket: ActiveTicket } | { keeper: Replica };

/** What is done with a request: it goes to its target, or to the gateway (URL) of the replica that keeps its ticket's account. */
type Handling = {
  use: (connection: UpstreamConnection, url: URL) => void;
  relay: (gateway: string) => void;
  refuse: (refusal: RequestError) => void;
};

/**
 * The forward proxy that browsers use. proxy-chain's server parses requests, asks for credentials and sends refusals. Connections to
 * targets are our own, because each must pass the address policy and be counted for its ticket. Each request is judged by its own
 * credentials: the ticket of an earlier request on the same connection does not count.
 */
export class Gateway extends Server {
  readonly #dependencies: GatewayDependencies;
  readonly #verified: VerifiedTickets;
  #isDraining = false;

  constructor(dependencies: GatewayDependencies) {
    const { host, port, metrics, idleMs, connectionsMax, headersMs } = dependencies;
    super({ host, port, authRealm: REALM });
    this.#dependencies = dependencies;
    this.#verified = new VerifiedTickets(dependencies.ticketSecret);
    this.prepareRequestFunction = ({ username, password }) => {
      const bearer = this.#bearerOf(username, password);
      if (bearer === null) metrics.refusedCredentials.inc();
      return bearer === null ? { requestAuthentication: true } : { customTag: bearer };
    };
    this.server.on('upgrade', (request, socket: Socket, head) => void this.#onUpgrade(request, socket, head));
    this.server.maxConnections = connectionsMax;
    this.server.headersTimeout = headersMs;
    // Longer than a target's limit, so that the client can be told that the target was silent.
    this.server.timeout = 2 * idleMs;
    // Node.js reads these two when the server begins to listen.
    Object.assign(this.server, { maxHeaderSize: HEADER_BYTES_MAX, connectionsCheckingInterval: CHECK_MS });
  }

  /** Takes no more connections and requests; ends when all tunnels have, or after `ms` milliseconds with those that are left. */
  async drain(ms: number): Promise<void> {
    this.#isDraining = true;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.server.close(() => resolve());
    this.server.closeIdleConnections();
    const timer = setTimeout(() => this.closeConnections(), ms);
    await ended;
    clearTimeout(timer);
  }

  override onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    refuseUnreadable(error, socket, UNREADABLE);
  }

  override async onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#handle(request, {
      use: (connection, url) => forwardRequest(request, response, url, connection),
      relay: (gateway) => relayRequest(request, response, gateway),
      refuse: (refusal) => sendRefusal(response, refusal),
    });
  }

  override async onConnect(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    await this.#handle(request, {
      use: (connection) => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        if (head.length > 0) socket.unshift(head);
        pipe(socket, connection);
      },
      relay: (gateway) => relayStream(request, socket, head, gateway, this.#dependencies.idleMs),
      refuse: (refusal) => this.failRequest(request, refusal),
    });
  }

  async #onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    await this.#handle(request, {
      use: (connection, url) => forwardUpgrade(request, socket, head, url, connection),
      relay: (gateway) => relayStream(request, socket, head, gateway, this.#dependencies.idleMs),
      refuse: (refusal) => this.failRequest(request, refusal),
    });
  }

  /** The bearer of a ticket, null for one that is not valid. */
  #bearerOf(username: string, password: string): Bearer | null {
    const { tickets, ticketSecret, ownApi } = this.#dependencies;
    const claims = this.#verified.verify({ username, password }, Date.now());
    if (claims === null) return null;
    const keeper = ownApi === '' ? null : replicaOf(claims.id, ticketSecret);
    if (keeper && keeper.api !== ownApi) return { keeper };
    const ticket = tickets.open(claims);
    return ticket && { ticket };
  }

  /** Checks a request, connects to its target and hands it over; answers the refusal where either fails. */
  async #handle(request: IncomingMessage, { use, relay, refuse }: Handling): Promise<void> {
    try {
      if (this.#isDraining) throw refusal('upstream_failed');
      const { trgParsed: url, customTag } = await this.prepareRequestHandling(request);
      if (url === null || !isTarget(request, url)) throw new RequestError('The request names no target.', 400);
      const bearer = customTag as Bearer;
      if ('keeper' in bearer) {
        // A replica that is named by two URLs would pass it on to itself without end.
        if (request.headers[RELAYED_HEADER] !== undefined) throw refusal('upstream_failed');
        return relay(bearer.keeper.gateway);
      }
      const { ticket } = bearer;
      const host = targetHost(url);
      ticket.recordRequest(request.method ?? '', recordedUrl(request, url), Date.now());
      const destination = { host, port: Number(url.port || 80) };
      use(await connectUpstream(this.#dependencies, ticket, destination, request.socket), url);
    } catch (error) {
      refuse(this.#asRefusal(error));
    }
  }

  #asRefusal(error: unknown): RequestError {
    if (error instanceof RequestError) return error;
    if (error instanceof ConnectionFailure) return refusal(error.outcome);
    this.#dependencies.logger.error({ cause: error }, 'the gateway failed on a request');
    return refusal('upstream_failed');
  }
}

/** Whether a CONNECT has a host and a port and nothing else (RFC 9110 9.3.6); a plain request may have any URL. */
const isTarget = ({ method }: IncomingMessage, { username, password, pathname, search, hash }: URL): boolean =>
  method !== 'CONNECT' || `${username}${password}${pathname}${search}${hash}` === '';

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

/** The connection ends with it: what is left of the request's body is not read. */
function sendRefusal(response: ServerResponse, { statusCode, message, headers }: RequestError): void {
  const challenge = statusCode === 407 ? { 'proxy-authenticate': `Basic realm="${REALM}"` } : {};
  const own = { connection: 'close', 'content-type': 'text/plain; charset=utf-8', ...challenge };
  response.writeHead(statusCode, { ...own, ...headers }).end(message);
}

function refusal(outcome: ConnectionFailure['outcome']): RequestError {
  return new RequestError(`gateway: ${outcome}`, GATEWAY_STATUS[outcome], { [GATEWAY_OUTCOME_HEADER]: outcome });
}
