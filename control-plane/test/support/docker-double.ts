import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';

type Created = { Image: string; Hostname: string; Env: string[]; Labels: Record<string, string>; HostConfig: object };
export type DoubleContainer = Created & { name: string; isRunning: boolean; since: number };

/**
 * The part of Docker's Engine API that the scaler uses, on a Unix socket of its own. A container ends when it is sent a
 * signal.
 */
export async function dockerDouble() {
  const folder = mkdtempSync(join(tmpdir(), 'docker-double-'));
  const double = {
    socket: join(folder, 'docker.sock'),
    containers: new Map<string, DoubleContainer>(),
    /** The id of the image `adsweep/browser-node`; null: it is missing. */
    image: 'sha256:one' as string | null,
    /** Why containers are not created; null: they are. */
    refuses: null as string | null,
    now: () => Date.now(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  type Reply = [status: number, body?: unknown];

  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const url = new URL(request.url ?? '/', 'http://docker');
    const [, kind, name = '', verb = ''] =
      /^\/(images|containers)\/(.+?)(?:\/(json|start|kill))?$/.exec(url.pathname) ?? [];
    const { containers } = double;
    if (kind === 'images') return double.image ? [200, { Id: double.image }] : [404, { message: 'No such image' }];
    if (name === 'json') {
      const { label } = JSON.parse(url.searchParams.get('filters') ?? '{}') as { label: string[] };
      const found = [...containers.values()].filter(({ Labels }) =>
        label.every((one) => Object.entries(Labels).some(([key, value]) => one === `${key}=${value}`)),
      );
      return [200, found.map(listed)];
    }
    if (name === 'create') {
      if (double.refuses) return [500, { message: double.refuses }];
      const own = url.searchParams.get('name')!;
      if (containers.has(own)) return [409, { message: 'the name is in use' }];
      const created = (await json(request)) as Created;
      containers.set(own, { ...created, name: own, isRunning: false, since: double.now() });
      return [201, { Id: own, Warnings: [] }];
    }
    const container = containers.get(name);
    if (!container) return [404, { message: 'No such container' }];
    if (request.method === 'DELETE') containers.delete(name);
    else container.isRunning = verb === 'start';
    return [204];
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    answer(request).then(
      ([status, body]) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(body === undefined ? undefined : JSON.stringify(body));
      },
      (error: unknown) => response.writeHead(500).end(JSON.stringify({ message: String(error) })),
    );
  });
  await new Promise<void>((resolve) => server.listen(double.socket, resolve));
  return double;
}

const listed = ({ name, Image, isRunning, since }: DoubleContainer) => ({
  ...{ Id: name, Names: [`/${name}`], ImageID: Image, Created: Math.floor(since / 1000) },
  State: isRunning ? 'running' : 'exited',
});
