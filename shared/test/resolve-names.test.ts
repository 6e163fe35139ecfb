import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveNames } from '../src/egress/checked-addresses.ts';
import { EgressError } from '../src/egress/egress-error.ts';
import { startNameServer } from './support/name-server.ts';

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
  await assert.rejects(resolve('nowhere.example'), (error) => error instanceof EgressError && error.code === 'dns');
});
