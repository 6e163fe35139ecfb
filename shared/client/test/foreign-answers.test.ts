import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdsweepError, adsweep } from '../src/client.ts';
import { answer, scriptedServer } from './support/scripted-server.ts';

const SCAN = { url: 'https://shop.example/', country_code: 'US', emulator_id: 'iphone_16' };
const json = { 'content-type': 'application/json' };
type Response = Parameters<ReturnType<typeof answer>>[0];

test('an answer of something else than the API is an error that names the operation and the URL', async (t) => {
  const foreign = [
    (response: Response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'),
    (response: Response) => void response.writeHead(200, json).end('{"id": "on'),
    (response: Response) => void response.writeHead(200, json).end(),
  ];
  for (const turn of foreign) {
    const { api, url } = await scriptedServer(t, [turn]);
    await assert.rejects(api.getAccount(), { message: `getAccount: ${url} does not answer as the API does` });
  }
});

test('a redirect is not followed, and the error says where it leads', async (t) => {
  const other = await scriptedServer(t, [answer(200, {})]);
  const moved = answer(301, {}, { location: `${other.url}/api/v1/scans` });
  const { api, requests } = await scriptedServer(t, [moved]);
  await assert.rejects(api.createScan(SCAN), (error) => {
    assert.ok(error instanceof AdsweepError);
    assert.equal(error.status, 301);
    assert.ok(error.message.endsWith(`the API is not here, but at ${other.url}/api/v1/scans`), error.message);
    return true;
  });
  assert.deepEqual([requests.length, other.requests.length], [1, 0]);
});

test('a key that cannot be sent is refused by an error that does not repeat it, and space around one is left out', async (t) => {
  const { requests, url } = await scriptedServer(t, [answer(200, { id: 'one' })]);
  for (const key of ['first\nsecond', 'fïrst'])
    await assert.rejects(adsweep({ url, key, retries: 0 }).getAccount(), {
      message: 'the key has characters that no key has',
    });
  assert.equal(requests.length, 0);
  await adsweep({ url, key: ' secret\n' }).getAccount();
  assert.equal(requests[0]!.headers.authorization, 'Bearer secret');
});
