import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Catalogue, CatalogueTimes } from '@adsweep/shared/targeting/catalogue.ts';
import { CATALOGUE } from './sample-catalogue.ts';

/**
 * A server with the proxy-router's catalogue, for those who have the token; null: it answers 503. `serve` replaces what it has; `listsRead`
 * counts the requests for it.
 */
export async function startCatalogueServer(nodeToken: string, catalogue: Catalogue | null = CATALOGUE) {
  let served = catalogue;
  let listsRead = 0;
  const server = createServer((request, answer) => {
    const isNode = request.headers.authorization === `Bearer ${nodeToken}`;
    const status = isNode ? (served ? 200 : 503) : 401;
    const isTimes = request.url === '/catalogue/times';
    if (!isTimes) listsRead += 1;
    answer.writeHead(status).end(JSON.stringify(isTimes && served ? timesOf(served) : served));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    listsRead: (): number => listsRead,
    serve: (other: Catalogue | null): void => {
      served = other;
    },
    stop(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

function timesOf({ refreshed_at, pools }: Catalogue): CatalogueTimes {
  const lists = pools.map(({ refreshed_at: _, ...rest }) => rest);
  const countries = Object.fromEntries(pools.map((pool) => [pool.country_code, pool.refreshed_at]));
  return { version: JSON.stringify(lists), refreshed_at, countries };
}
