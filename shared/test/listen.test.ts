import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { listen, portProblem } from '@adsweep/shared/service/listen.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';

test('a port that is taken is told with the setting that chooses another', async (t) => {
  const first = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT');
  t.after(() => first.close(0));
  await assert.rejects(listen('127.0.0.1', first.port, 'ADSWEEP_HTTP_PORT'), (error: Error) => {
    assert.ok(error instanceof OperatorError);
    assert.equal(
      error.message,
      `port ${first.port} of 127.0.0.1 is taken by another program: stop that program, or set ADSWEEP_HTTP_PORT to a free port (0: any)`,
    );
    return true;
  });
});

test('a request that comes before the handler is answered by it', async (t) => {
  const server = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT');
  t.after(() => server.close(0));
  const socket = connect(server.port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n');
  // Once a second request is refused as unreadable, the first one has arrived.
  const later = connect(server.port, '127.0.0.1');
  later.write('nonsense\r\n\r\n');
  await text(later);
  server.serve((_, response) => response.end('served'));
  assert.match(await text(socket), /served$/);
});

test('a port that only root may have, and an address of another machine, are told with what to change', () => {
  const cause = (code: string) => Object.assign(new Error(`listen ${code}`), { code });
  assert.match(
    portProblem('0.0.0.0', 80, 'ADSWEEP_HTTP_PORT', cause('EACCES')).message,
    /ADSWEEP_HTTP_PORT to a port above 1023/,
  );
  assert.match(
    portProblem('192.0.2.1', 80, 'ADSWEEP_HTTP_PORT', cause('EADDRNOTAVAIL')).message,
    /check ADSWEEP_HTTP_PORT and ADSWEEP_HTTP_HOST/,
  );
});

test('connections that say nothing, or stop before the end of a request, are answered 408 and closed', async (t) => {
  const server = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT', { headersMs: 200, requestMs: 400 });
  t.after(() => server.close(0));
  server.serve((request, response) => request.resume().once('end', () => response.end('served')));
  const begun = [
    '',
    'GET / HT',
    'GET / HTTP/1.1\r\nHost: a\r\n',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc',
  ];
  const started = performance.now();
  const answers = await Promise.all(
    begun.map((part) => {
      const socket = connect(server.port, '127.0.0.1');
      t.after(() => socket.destroy());
      socket.write(part);
      return text(socket);
    }),
  );
  for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 408 /);
  assert.ok(performance.now() - started < 15_000, 'Node.js alone looks for late connections every 30 seconds');
});

test('while it drains, a kept connection gets its answer and ends, and new connections are served', async (t) => {
  const server = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT');
  t.after(() => server.close(0));
  server.serve((_, response) => response.end('served'));
  const kept = connect(server.port, '127.0.0.1');
  t.after(() => kept.destroy());
  kept.write(REQUEST);
  const [first] = await once(kept, 'data');
  assert.match(String(first), /Connection: keep-alive/i);
  server.drain();
  kept.write(REQUEST);
  assert.match(await text(kept), /Connection: close[\s\S]*served$/i);
  const fresh = connect(server.port, '127.0.0.1');
  fresh.write(REQUEST);
  assert.match(await text(fresh), /served$/);
});

test('a request under way when it closes is answered, and its connection ends with the answer', async (t) => {
  const server = await listen('127.0.0.1', 0, 'ADSWEEP_HTTP_PORT');
  const { promise: begun, resolve: begin } = Promise.withResolvers<() => void>();
  server.serve((_, response) => begin(() => response.end('served late')));
  const socket = connect(server.port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write(REQUEST);
  const answer = await begun;
  const closed = server.close(60_000);
  answer();
  assert.match(await text(socket), /served late$/);
  await closed;
});

const REQUEST = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';
