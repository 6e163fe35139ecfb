import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { HEADER_BYTES_MAX, refuseUnreadable } from '@adsweep/shared/service/refuse-request.ts';
import { followTlsFiles, readTlsFiles, type TlsFiles } from '@adsweep/shared/service/tls-files.ts';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { canonicalHost, hasNameLength } from '@adsweep/shared/urls/public-host.ts';
import { RequestError, Server } from 'proxy-chain';
import { ConnectionFailure } from '../providers/connection-failure.ts';
import type { Destination } from '../providers/provider.ts';
import type { ActiveTicket } from '../tickets/active-ticket.ts';
import { RELAYED_HEADER, type Replica, replicaOf, VerifiedTickets } from '../tickets/ticket.ts';
import type { TicketRegistry } from '../tickets/ticket-registry.ts';
import { connectUpstream, type UpstreamDependencies } from './connect-upstream.ts';
import { forwardRequest, forwardUpgrade } from './forward-request.ts';
import { forwardRequestToReplica, forwardStreamToReplica } from './relay.ts';
import { pipe, type UpstreamConnection } from './upstream-connection.ts';

export type GatewayDependencies = UpstreamDependencies & {
  host: string;
  port: number;
  tickets: TicketRegistry;
  ticketSecret: string;
  /** Connections of clients at the same time. */
  connectionsMax: number;
  /** How long the headers of a request may take. */
  headersMs: number;
  /** Requests of one ticket to one host, on average. */
  requestsPerSecond: number;
  /** URL of this replica's API, '' where there is only one. */
  ownApi: string;
  /** Its certificate; null: clients connect without TLS. */
  tls: TlsFiles | null;
  /** A URL without TLS under which the gateway of another replica is reached. */
  reach: (gateway: string) => Promise<string>;
};

const REALM = 'Adsweep';
/** How often Node.js checks the time limit for request headers. */
const CHECK_MS = 1_000;
const UNREADABLE: Record<string, string> = { [GATEWAY_OUTCOME_HEADER]: 'connection_failed' };

/** The ticket of a request, or the other replica that issued it and counts its traffic. */
type Bearer = { ticket: ActiveTicket } | { issuer: Replica };

/**
 * The three ways to handle a request: forward it to its target or to the gateway (URL) of another replica, or refuse
 * it.
 */
type Handling = {
  toTarget: (connection: UpstreamConnection, url: URL) => void;
  toReplica: (gateway: string) => void;
  refuse: (refusal: RequestError) => void;
};

/**
 * The forward proxy that browsers use. proxy-chain's server parses requests, asks for credentials and sends refusals.
 * Connections to targets are our own, because each must pass the address policy and be counted for its ticket. Each
 * request is authorized by its own credentials, never by those of an earlier request on the same connection.
 */
export class Gateway extends Server {
  readonly #dependencies: GatewayDependencies;
  readonly #verified: VerifiedTickets;
  #isDraining = false;
  readonly #unfollow: () => void;

  constructor(dependencies: GatewayDependencies) {
    const { host, port, metrics, idleMs, connectionsMax, headersMs, tls, logger } = dependencies;
    const plain = { host, port, authRealm: REALM };
    super(tls ? { ...plain, serverType: 'https', httpsOptions: readTlsFiles(tls) } : plain);
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
    // Longer than a target's limit, so that the client gets the response that the target was silent.
    this.server.timeout = 2 * idleMs;
    // A response is passed on as it comes, so its end is not known: a connection serves one request.
    this.server.maxRequestsPerSocket = 1;
    // Node.js reads these two when the server begins to listen.
    Object.assign(this.server, { maxHeaderSize: HEADER_BYTES_MAX, connectionsCheckingInterval: CHECK_MS });
    const use = (this.server as TlsServer).setSecureContext?.bind(this.server);
    this.#unfollow = tls && use ? followTlsFiles(tls, use, logger) : () => undefined;
  }

  /**
   * Accepts no more connections and requests. Resolves when all tunnels have ended; those left after `ms` milliseconds
   * are closed.
   */
  async drain(ms: number): Promise<void> {
    this.#isDraining = true;
    this.#unfollow();
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
      toTarget: (connection, url) => forwardRequest(request, response, url, connection),
      toReplica: (gateway) => forwardRequestToReplica(request, gateway, this.#dependencies),
      refuse: (refusal) => sendRefusal(response, refusal),
    });
  }

  override async onConnect(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    await this.#handle(request, {
      toTarget: (connection) => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        if (head.length > 0) socket.unshift(head);
        pipe(socket, connection);
      },
      toReplica: (gateway) => forwardStreamToReplica(request, socket, head, gateway, this.#dependencies),
      refuse: (refusal) => this.failRequest(request, refusal),
    });
  }

  async #onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    await this.#handle(request, {
      toTarget: (connection, url) => forwardUpgrade(request, socket, head, url, connection),
      toReplica: (gateway) => forwardStreamToReplica(request, socket, head, gateway, this.#dependencies),
      refuse: (refusal) => this.failRequest(request, refusal),
    });
  }

  /** The bearer of valid credentials, null for others. */
  #bearerOf(username: string, password: string): Bearer | null {
    const { tickets, ticketSecret, ownApi } = this.#dependencies;
    const claims = this.#verified.verify({ username, password }, Date.now());
    if (claims === null) return null;
    const issuer = ownApi === '' ? null : replicaOf(claims.id, ticketSecret);
    if (issuer && issuer.api !== ownApi) return { issuer };
    const ticket = tickets.open(claims);
    return ticket && { ticket };
  }

  /** Validates a request, connects to its target and forwards it; refuses it where either fails. */
  async #handle(request: IncomingMessage, { toTarget, toReplica, refuse }: Handling): Promise<void> {
    try {
      if (this.#isDraining) throw refusal('upstream_failed');
      const { trgParsed: url, customTag } = await this.prepareRequestHandling(request);
      if (url === null || !isTarget(request, url)) throw new RequestError('The request names no target.', 400);
      const bearer = customTag as Bearer;
      if ('issuer' in bearer) {
        // A replica that has two URLs would forward the request to itself forever.
        if (request.headers[RELAYED_HEADER] !== undefined) throw refusal('upstream_failed');
        return toReplica(await this.#dependencies.reach(bearer.issuer.gateway));
      }
      const { ticket } = bearer;
      const host = targetHost(url);
      const destination = { host, port: Number(url.port || 80) };
      this.#admit(ticket, destination);
      ticket.recordRequest(request.method ?? '', recordedUrl(request, url), Date.now());
      toTarget(await connectUpstream(this.#dependencies, ticket, destination, request.socket), url);
    } catch (error) {
      refuse(this.#asRefusal(error));
    }
  }

  /**
   * Refuses a request that would exceed the rate of its ticket. Only the first one inside of a tunnel is seen: its
   * CONNECT.
   */
  #admit(ticket: ActiveTicket, destination: Destination): void {
    const { requestsPerSecond, metrics } = this.#dependencies;
    if (ticket.requestRate.admits(destination.host, requestsPerSecond, performance.now())) return;
    ticket.recordOutcome(destination, 'too_many_requests');
    metrics.connections.inc({ outcome: 'too_many_requests' });
    throw refusal('too_many_requests');
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

/**
 * The target's host in its canonical spelling. Throws before anything is recorded: a page can invent any number of long
 * names.
 */
function targetHost(url: URL): string {
  const host = canonicalHost(url.hostname);
  if (host === null) throw new RequestError('The request names no valid host.', 400);
  if (!hasNameLength(host)) throw new ConnectionFailure('dns', 'the name is too long to be resolved');
  return host;
}

/** A request's URL without credentials and fragment; of a tunnel only `https://host:port/` is known. */
function recordedUrl(request: IncomingMessage, url: URL): string {
  if (request.method === 'CONNECT') return `https://${url.hostname}:${url.port}/`;
  return `${url.origin}${url.pathname}${url.search}`;
}

/** Also closes the connection: the rest of the request's body is not read. */
function sendRefusal(response: ServerResponse, { statusCode, message, headers }: RequestError): void {
  const challenge = statusCode === 407 ? { 'proxy-authenticate': `Basic realm="${REALM}"` } : {};
  const own = { connection: 'close', 'content-type': 'text/plain; charset=utf-8', ...challenge };
  response.writeHead(statusCode, { ...own, ...headers }).end(message);
}

function refusal(outcome: ConnectionFailure['outcome']): RequestError {
  return new RequestError(`gateway: ${outcome}`, GATEWAY_STATUS[outcome], { [GATEWAY_OUTCOME_HEADER]: outcome });
}
