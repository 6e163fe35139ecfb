import { Server } from 'proxy-chain';

/** A bare proxy-chain server, the baseline for the gateway; it reports its port to its parent. */
const server = new Server({
  port: 0,
  host: '127.0.0.1',
  prepareRequestFunction: ({ username }) => ({ requestAuthentication: !username }),
});
await server.listen();
process.send?.({ port: server.port });
process.on('disconnect', () => process.exit());
