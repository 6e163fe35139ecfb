import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CATALOGUE } from './running-api.ts';

/** A stand-in for the proxy-router: its catalogue, for those who have the token. */
export async function startCatalogueServer(nodeToken: string): Promise<{ url: string; stop(): void }> {
  const server = createServer((request, answer) => {
    const isNode = request.headers.authorization === `Bearer ${nodeToken}`;
    answer.writeHead(isNode ? 200 : 401).end(JSON.stringify(CATALOGUE));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}
