import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type PiecewiseProxy = { port: number; close: () => void };

/**
 * A TCP proxy to a port of this host that passes what the server sends on in pieces of at most `bytes`, with a pause
 * after each.
 */
export async function piecewiseProxy(
  to: number,
  { bytes, pauseMs }: { bytes: number; pauseMs: number },
): Promise<PiecewiseProxy> {
  const proxy = createServer(async (client) => {
    const server = connect(to, '127.0.0.1');
    client.on('error', () => server.destroy());
    client.pipe(server);
    try {
      for await (const chunk of server)
        for (let at = 0; at < chunk.length; at += bytes) {
          client.write(chunk.subarray(at, at + bytes));
          await sleep(pauseMs);
        }
      client.end();
    } catch {
      client.destroy();
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return { port: (proxy.address() as AddressInfo).port, close: () => proxy.close() };
}
