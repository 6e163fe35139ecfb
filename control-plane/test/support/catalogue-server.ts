import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { CATALOGUE } from './sample-catalogue.ts';

/** A server with the proxy-router's catalogue, for those who have the token; null: it answers 503. `serve` replaces what it has. */
export async function startCatalogueServer(nodeToken: string, catalogue: Catalogue | null = CATALOGUE) {
  let served = catalogue;
  const server = createServer((request, answer) => {
    const isNode = request.headers.authorization === `Bearer ${nodeToken}`;
    const status = isNode ? (served ? 200 : 503) : 401;
    answer.writeHead(status).end(JSON.stringify(served));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (other: Catalogue | null): void => {
      served = other;
    },
    stop(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
