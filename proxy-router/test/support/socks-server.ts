import net, { type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** Credentials that it takes, and where it leads each name; `reply` is the code of its answer (RFC 1928 6), 0 = it connects. */
export type SocksServer = { address: string; hosts: Record<string, string>; reply: number; asked: string[] };

/** A SOCKS5 server that asks for `user` and `pass` (RFC 1929). It takes names alone, and resolves them itself. */
export async function startSocksServer(t: TestContext): Promise<SocksServer> {
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    void serve(socket, state);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: SocksServer = { address, hosts: {}, reply: 0, asked: [] };
  return state;
}

async function serve(socket: Socket, state: SocksServer): Promise<void> {
  const next = () => new Promise<Buffer>((resolve) => socket.once('data', resolve));
  await next();
  socket.write(Buffer.from([5, 2]));
  const login = await next();
  const user = login.subarray(2, 2 + login[1]!).toString();
  const password = login.subarray(3 + login[1]!).toString();
  const isKnown = user === 'user' && password === 'pass';
  socket.write(Buffer.from([1, isKnown ? 0 : 1]));
  if (!isKnown) return void socket.end();
  const request = await next();
  const length = request[4]!;
  const host = request.subarray(5, 5 + length).toString();
  const asked = `${host}:${request.readUInt16BE(5 + length)}`;
  state.asked.push(asked);
  const [address = '', port] = (state.hosts[host] ?? '').split(':');
  const answer = Buffer.from([5, state.reply, 0, 1, 0, 0, 0, 0, 0, 0]);
  if (state.reply !== 0) return void socket.end(answer);
  const target = net.connect(Number(port), address, () => {
    socket.write(answer);
    socket.pipe(target).pipe(socket);
  });
  target.on('error', () => socket.destroy());
  socket.on('close', () => target.destroy());
}
