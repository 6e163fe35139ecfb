import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that no scan may reach (`innerPort`; `reached` lists the paths that were requested), and a public one whose pages try to. */
export type Trap = {
  innerPort: number;
  reached: string[];
  /** Of the public server: `/page?to=...` requests each `to` in every way a page can, `/redirect?to=...` redirects there. */
  hosts: Record<string, string>;
  close(): Promise<unknown>;
};

export async function startTrap(): Promise<Trap> {
  const reached: string[] = [];
  const inner = createServer((request, response) => {
    reached.push(request.url ?? '');
    response.end('reached');
  });
  const outer = createServer((request, response) => {
    const to = new URL(request.url ?? '/', 'http://trap.example').searchParams.getAll('to');
    if (request.url?.startsWith('/redirect')) response.writeHead(302, { location: to[0] }).end();
    else response.setHeader('content-type', 'text/html').end(pageThatRequests(to));
  });
  await Promise.all([listening(inner), listening(outer)]);
  return {
    innerPort: portOf(inner),
    reached,
    hosts: { 'trap.example': `127.0.0.1:${portOf(outer)}` },
    close: () => Promise.all([closed(inner), closed(outer)]),
  };
}

const listening = (server: Server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}

function pageThatRequests(targets: string[]): string {
  const tries = targets.map(
    (url) => `<img src="${url}"><iframe src="${url}"></iframe><script src="${url}"></script>
      <script>fetch('${url}', { mode: 'no-cors' }).catch(() => {}); navigator.sendBeacon('${url}');
      try { new WebSocket('${url.replace('http', 'ws')}'); } catch {} window.open('${url}');</script>`,
  );
  return `<!doctype html><title>trap</title>${tries.join('')}`;
}
