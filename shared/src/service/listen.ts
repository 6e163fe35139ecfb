import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Logger } from './logger.ts';
import { OperatorError } from './operator-error.ts';
import { HEADER_BYTES_MAX, refuseRequest, refuseTunnel, refuseUnreadable } from './refuse-request.ts';
import { followTlsFiles, readTlsFiles, type TlsFiles } from './tls-files.ts';

/** A server that listens already; requests wait until `serve` sets their handler. */
export type Listening = {
  port: number;
  serve: (handler: RequestListener) => void;
  /**
   * From now on each answer closes its connection, so that clients make their next one elsewhere; all requests are
   * still answered.
   */
  drain: () => void;
  /** Accepts no more connections; closes idle ones at once and the others after `graceMs`. */
  close: (graceMs: number) => Promise<void>;
};

/** The longest time for a request's headers to arrive, from the connection on, and for the whole request. */
export type ArrivalLimits = { headersMs: number; requestMs: number };

const ARRIVAL: ArrivalLimits = { headersMs: 10_000, requestMs: 120_000 };
const KEEP_ALIVE_MS = 65_000;
/**
 * How often Node.js closes connections whose requests are late. Its default, 30 s, would leave them open for that long.
 */
const LOOK_EVERY_MS = 2_000;

/**
 * Listens on `host` and `port` (0: any free one). What does not arrive within `limits` is answered 408 and its
 * connection closed, two seconds later at most; a connection that sends nothing is such a request. Rejects with an
 * {@link OperatorError} when the port cannot be used; its message says what to do with the `setting` that chose it.
 * With `tls` it serves https, with new certificates from their change on.
 */
export async function listen(
  host: string,
  port: number,
  setting: string,
  limits: Partial<ArrivalLimits> = {},
  tls: { files: TlsFiles; logger: Logger } | null = null,
): Promise<Listening> {
  const { headersMs, requestMs } = { ...ARRIVAL, ...limits };
  const timeouts = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(LOOK_EVERY_MS, headersMs),
  };
  // We refuse a request without a host ourselves, with a body that explains it.
  const options = { ...timeouts, maxHeaderSize: HEADER_BYTES_MAX, requireHostHeader: false };
  const secure = tls && createTlsServer({ ...options, ...readTlsFiles(tls.files) });
  const server = secure ?? createServer(options);
  server
    .on('clientError', refuseUnreadable)
    .on('connect', refuseTunnel)
    .on('checkExpectation', (request, response) => server.emit('request', request, response));
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  const refused = (cause: Error) => reject(portProblem(host, port, setting, cause));
  server.once('error', refused).listen(port, host, resolve);
  await listening;
  server.off('error', refused);
  const unfollow = tls && followTlsFiles(tls.files, (pair) => secure?.setSecureContext(pair), tls.logger);
  const early: Parameters<RequestListener>[] = [];
  const keep: RequestListener = (...exchange) => void early.push(exchange);
  server.on('request', keep);
  const underWay = new Set<ServerResponse>();
  let draining = false;
  const drain = () => {
    draining = true;
    for (const response of underWay) closeAfter(response);
  };
  return {
    port: (server.address() as AddressInfo).port,
    serve: (handler) => {
      const answer: RequestListener = (request, response) => {
        underWay.add(response);
        response.once('close', () => underWay.delete(response));
        if (draining) closeAfter(response);
        if (!refuseRequest(request, response)) handler(request, response);
      };
      server.off('request', keep).on('request', answer);
      for (const exchange of early.splice(0)) answer(...exchange);
    },
    drain,
    close: (graceMs) => {
      drain();
      unfollow?.();
      return close(server, graceMs);
    },
  };
}

/**
 * Why a server cannot listen on a port, and what to do about it. `setting` names the port's setting, such as
 * `ADSWEEP_HTTP_PORT`, and `hostSetting` that of the address.
 */
export function portProblem(
  host: string,
  port: number,
  setting: string,
  cause: NodeJS.ErrnoException,
  hostSetting = setting.replace(/PORT$/, 'HOST'),
): OperatorError {
  const told = `port ${port} of ${host}`;
  switch (cause.code) {
    case 'EADDRINUSE':
      return new OperatorError(
        `${told} is taken by another program: stop that program, or set ${setting} to a free port (0: any)`,
        { cause },
      );
    case 'EACCES':
      return new OperatorError(`${told} is not open to this user: set ${setting} to a port above 1023`, { cause });
    default:
      return new OperatorError(`${told}: ${cause.message}; check ${setting} and ${hostSetting}`, {
        cause,
      });
  }
}

/** Has the connection end with this answer, unless its headers were sent already. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

async function close(server: Server, graceMs: number): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
