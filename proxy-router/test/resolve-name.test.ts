import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { type TestContext, test } from 'node:test';
import { ConnectionFailure } from '../src/providers/connection-failure.ts';
import { resolveNames } from '../src/providers/resolve-name.ts';

const TYPES: Record<number, string> = { 1: 'A', 28: 'AAAA' };

/** A name server (RFC 1035) that knows `records`, by type and name; anything else does not exist. */
async function startNameServer(t: TestContext, records: Record<string, number[]>): Promise<string> {
  const server = createSocket('udp4');
  server.on('message', (query, from) => server.send(answerTo(query, records), from.port, from.address));
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `127.0.0.1:${server.address().port}`;
}

function answerTo(query: Buffer, records: Record<string, number[]>): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  const name = labels.join('.').toLowerCase();
  const address = records[`${TYPES[type]} ${name}`];
  const isKnown = Object.keys(records).some((key) => key.endsWith(` ${name}`));
  const header = Buffer.from([query[0]!, query[1]!, 0x81, isKnown ? 0x80 : 0x83, 0, 1, 0, address ? 1 : 0, 0, 0, 0, 0]);
  const question = query.subarray(12, at + 5);
  if (!address) return Buffer.concat([header, question]);
  return Buffer.concat([
    header,
    question,
    Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 1, 0, address.length, ...address]),
  ]);
}

test('a name has the addresses of both families; one family alone is enough', async (t) => {
  const six = [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11];
  const server = await startNameServer(t, {
    'A both.example': [8, 8, 8, 8],
    'AAAA both.example': six,
    'A four.example': [127, 0, 0, 1],
    'AAAA six.example': six,
  });
  const resolve = resolveNames([server]);
  assert.deepEqual(await resolve('both.example'), ['8.8.8.8', '2606:4700::1111']);
  assert.deepEqual(await resolve('four.example'), ['127.0.0.1']);
  assert.deepEqual(await resolve('six.example'), ['2606:4700::1111']);
});

test('a name that does not exist is a failure of the name service', async (t) => {
  const resolve = resolveNames([await startNameServer(t, {})]);
  await assert.rejects(
    resolve('nowhere.example'),
    (error) => error instanceof ConnectionFailure && error.outcome === 'dns',
  );
});
