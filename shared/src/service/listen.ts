import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperatorError } from './operator-error.ts';
import { HEADER_BYTES_MAX, refuseRequest, refuseTunnel, refuseUnreadable } from './refuse-request.ts';

/** A server that listens already; requests wait for the handler it is given with `serve`. */
export type Listening = {
  port: number;
  serve: (handler: RequestListener) => void;
  /** Takes no more connections and ends: at once what is idle, after `graceMs` the rest. */
  close: (graceMs: number) => Promise<void>;
};

const TIMEOUTS = { requestTimeout: 120_000, headersTimeout: 15_000, keepAliveTimeout: 65_000 };
/** Listens on `host` and `port` (0: any free one). Rejects with an {@link OperatorError} when the port cannot be had. */
export async function listen(host: string, port: number): Promise<Listening> {
  // A request without a host is refused with a body that says so.
  const server = createServer({ ...TIMEOUTS, maxHeaderSize: HEADER_BYTES_MAX, requireHostHeader: false })
    .on('clientError', refuseUnreadable)
    .on('connect', refuseTunnel)
    .on('checkExpectation', (request, response) => server.emit('request', request, response));
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  const refused = (cause: Error) => reject(new OperatorError(`port ${port} of ${host}: ${cause.message}`, { cause }));
  server.once('error', refused).listen(port, host, resolve);
  await listening;
  server.off('error', refused);
  return {
    port: (server.address() as AddressInfo).port,
    serve: (handler) =>
      void server.on('request', (request, response) => {
        if (!refuseRequest(request, response)) handler(request, response);
      }),
    close: (graceMs) => close(server, graceMs),
  };
}

async function close(server: Server, graceMs: number): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
