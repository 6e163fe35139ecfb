import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems give to those who ask for any (Linux: from 32768), of whom one could get the port before it is used. */
const [PORTS_FROM, PORTS_UNTIL] = [20_000, 30_000];
const given = new Set<number>();

/** A port of this machine on which nobody listens, another one at each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS_FROM, PORTS_UNTIL);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
