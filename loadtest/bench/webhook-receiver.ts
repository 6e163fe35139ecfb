import http from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A subscriber as a process of its own, with an IPC channel: `/ok...` is answered at once, `/slow` after 14 s, `/dead`
 * never. It sends its port when it listens.
 */
const SLOW_MS = 14_000;

const server = http.createServer((request, response) => {
  request.resume().on('end', () => {
    const answer = () => response.writeHead(204).end();
    if (request.url?.startsWith('/ok')) answer();
    else if (request.url === '/slow') setTimeout(answer, SLOW_MS);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
