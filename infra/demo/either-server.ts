import { createServer as createHttp, type RequestListener, type ServerOptions } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer, type Socket } from 'node:net';

/** First byte of a TLS handshake record (RFC 8446 5.1); no HTTP method begins with it. */
const TLS_HANDSHAKE = 22;

export type EitherServer = { port: number; close: () => Promise<void> };

/**
 * Serves http and https on one port, distinguished by a connection's first byte, so that one host mapping covers both schemes.
 * `close` destroys open connections.
 */
export async function listenEither(
  where: { host: string; port: number },
  certificate: { key: string; cert: string },
  listener: RequestListener,
  options: ServerOptions = {},
): Promise<EitherServer> {
  const http = createHttp(options, listener);
  const https = createHttps({ ...options, ...certificate }, listener);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // A client that disconnects early is not an error here.
    socket.on('error', () => socket.destroy());
    socket.once('data', (first) => {
      socket.pause();
      socket.unshift(first);
      (first[0] === TLS_HANDSHAKE ? https : http).emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where.port, where.host, resolve);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
  return { port: (server.address() as { port: number }).port, close };
}
