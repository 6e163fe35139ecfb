import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePort } from './support/free-port.ts';

test('each free port can be listened on, is another one, and is none that the system gives to others', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, freePort));
  assert.equal(new Set(ports).size, ports.length);
  assert.ok(ports.every((port) => port < 32_768));
  const server = createServer().listen(ports[0], '127.0.0.1');
  await once(server, 'listening');
  server.close();
});
