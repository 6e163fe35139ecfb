import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestRate } from '@adsweep/shared/service/request-rate.ts';
import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';
import { request, tunnelStatus } from './support/proxy-client.ts';
import { startTestRouter } from './support/router.ts';
import { startTarget } from './support/target.ts';

test('a host gets ten seconds of requests at once, and then as many each second as are allowed', () => {
  const rate = new RequestRate();
  const made = (host: string, at: number, asked: number) =>
    Array.from({ length: asked }, () => rate.admits(host, 5, at)).filter(Boolean).length;
  assert.equal(made('a.example', 0, 1_000), 50);
  assert.equal(made('b.example', 0, 10), 10, 'another host has requests of its own');
  assert.equal(made('a.example', 199, 10), 0);
  assert.equal(made('a.example', 1_000, 10), 5);
  assert.equal(made('a.example', 3_600_000, 1_000), 50, 'no more is saved up');
});

test('requests beyond the rate of a ticket and host are refused with an error that the page sees, and counted', async (t) => {
  const target = await startTarget(t);
  const hosts = { 'shop.example': target.address, 'other.example': target.address };
  const config = { ADSWEEP_GATEWAY_REQUESTS_PER_SECOND: 1 };
  const router = await startTestRouter(t, { hosts, config });
  const ticket = await router.ticket();
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, at) => request(ticket, `http://shop.example/${at}`)),
  );
  const refused = answers.filter(({ status }) => status === 590);
  assert.ok(refused.length >= 3, `${refused.length} were refused`);
  assert.equal(refused[0]?.headers[GATEWAY_OUTCOME_HEADER], 'too_many_requests');
  assert.equal(target.seen.length, 15 - refused.length);
  assert.equal((await router.traffic(ticket)).requests.length, target.seen.length, 'what was not sent is not recorded');
  assert.equal(await tunnelStatus(ticket, 'shop.example:443'), 590);
  assert.equal((await request(ticket, 'http://other.example/')).status, 200);
  assert.equal(
    (await request(await router.ticket(), 'http://shop.example/')).status,
    200,
    'another ticket is not affected',
  );
  const metrics = await (await router.call('GET', '/metrics')).text();
  assert.match(metrics, /adsweep_gateway_connections_total\{[^}]*outcome="too_many_requests"[^}]*\} [4-9]/);
});
