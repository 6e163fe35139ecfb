import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';

/** A forward proxy to be measured: its port, the value of `Proxy-Authorization`, and the host it reaches the target by. */
export type MeasuredProxy = { port: number; authorization: string; host: string };

const CHUNK = Buffer.alloc(65_536, 'x');

/** Starts a target and returns its port: `GET /<bytes>` returns that many bytes, anything else is echoed. */
export async function startLoadTarget(): Promise<number> {
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (head: Buffer) => {
      const bytes = Number(/^GET \/(\d+) /.exec(head.toString('latin1'))?.[1] ?? -1);
      if (bytes < 0) return void socket.on('data', (chunk) => socket.write(chunk)).write(head);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\nConnection: close\r\n\r\n`);
      send(socket, bytes);
    });
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function send(socket: Socket, bytes: number): void {
  let left = bytes;
  const more = () => {
    while (left > 0) {
      const chunk = left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK;
      left -= chunk.length;
      if (!socket.write(chunk)) return void socket.once('drain', more);
    }
    socket.end();
  };
  more();
}

/** A tunnel through a proxy to the target. */
export async function openTunnel({ port, authorization, host }: MeasuredProxy, targetPort: number): Promise<Socket> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `CONNECT ${host}:${targetPort} HTTP/1.1\r\nHost: ${host}\r\nProxy-Authorization: ${authorization}\r\n\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString('latin1').startsWith('HTTP/1.1 200'))
    throw new Error(`CONNECT: ${head.toString('latin1').slice(0, 80)}`);
  return socket;
}

/** Downloads `bytes` over `tunnels` tunnels at once. */
export async function download(
  proxy: MeasuredProxy,
  targetPort: number,
  tunnels: number,
  bytes: number,
): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: tunnels }, () => openTunnel(proxy, targetPort)));
  await Promise.all(
    sockets.map(async (socket) => {
      socket.write(`GET /${Math.floor(bytes / tunnels)} HTTP/1.1\r\nHost: x\r\n\r\n`);
      socket.resume();
      await once(socket, 'close');
    }),
  );
}

/** Milliseconds of a plain http request, through a proxy or (null) directly. */
export async function requestMs(proxy: MeasuredProxy | null, targetPort: number, agent: http.Agent): Promise<number> {
  const began = performance.now();
  const to = proxy
    ? {
        port: proxy.port,
        path: `http://${proxy.host}:${targetPort}/100`,
        headers: { 'proxy-authorization': proxy.authorization },
      }
    : { port: targetPort, path: '/100' };
  const request = http.get({ host: '127.0.0.1', agent, ...to });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  await once(response, 'end');
  return performance.now() - began;
}
