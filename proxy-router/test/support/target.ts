import http, { type IncomingMessage, type RequestListener, type Server } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A local web server that a test aims at. `address` is `127.0.0.1:port`; `seen` what it was asked. */
export async function startTarget(t: TestContext, answer: RequestListener = (_, response) => response.end('a page')) {
  const seen: IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  const { address, connections } = await listen(t, server);
  return { server, address, seen, connections };
}

/** A server that speaks no HTTP: what it does with a connection is the test's affair. */
export async function startRawTarget(t: TestContext, onConnection: (socket: Socket) => void) {
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  return listen(t, server);
}

async function listen(t: TestContext, server: Server | net.Server) {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of connections) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
}
