import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Catalogue, CatalogueTimes } from '@adsweep/shared/targeting/catalogue.ts';
import { CATALOGUE } from './sample-catalogue.ts';

/**
 * A server with the proxy-router's catalogue, for those who have the token; null: it answers 503. `serve` replaces what
 * it has, `serveLists` its lists for one request, as another replica may have others; `listsRead` counts these
 * requests.
 */
export async function startCatalogueServer(nodeToken: string, catalogue: Catalogue | null = CATALOGUE) {
  let served = catalogue;
  let otherLists: Catalogue | null = null;
  let listsRead = 0;
  const server = createServer((request, answer) => {
    const isNode = request.headers.authorization === `Bearer ${nodeToken}`;
    const status = isNode ? (served ? 200 : 503) : 401;
    if (request.url === '/catalogue/times') return void answer.writeHead(status).end(JSON.stringify(timesOf(served)));
    listsRead += 1;
    const lists = otherLists ?? served;
    otherLists = null;
    if (lists) answer.setHeader('ETag', JSON.stringify(versionOf(lists)));
    answer.writeHead(status).end(JSON.stringify(lists));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    listsRead: (): number => listsRead,
    serve: (other: Catalogue | null): void => {
      served = other;
    },
    serveLists: (other: Catalogue): void => {
      otherLists = other;
    },
    stop(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

function versionOf({ pools }: Catalogue): string {
  const lists = pools.map(({ refreshed_at: _, ...rest }) => rest);
  return createHash('sha256').update(JSON.stringify(lists)).digest('base64url');
}

function timesOf(catalogue: Catalogue | null): CatalogueTimes | null {
  if (!catalogue) return null;
  const countries = Object.fromEntries(catalogue.pools.map((pool) => [pool.country_code, pool.refreshed_at]));
  return { version: versionOf(catalogue), refreshed_at: catalogue.refreshed_at, countries };
}
