import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GatewayOutcome, TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { failureOfError, failureOfVisit, type LastHop } from '../src/failures.ts';

const hop = (change: Partial<LastHop> = {}): LastHop => ({
  url: 'https://shop.example/a',
  statusCode: 0,
  fault: '',
  gateway: null,
  attachment: false,
  silentMs: 0,
  ...change,
});
const carried = (outcome: GatewayOutcome, host = 'shop.example', port = 443): TicketTraffic => ({
  ticket_id: 't',
  bytes_sent: 0,
  bytes_received: 0,
  open_streams: 0,
  connecting_streams: 0,
  quiet_ms: 60_000,
  hosts: [{ host, port, address: null, outcome, connections: 1 }],
  requests: [],
});
const TUNNEL = { fault: 'net::ERR_TUNNEL_CONNECTION_FAILED' };
const ABORTED = { fault: 'net::ERR_ABORTED' };

describe('the failure code of a visit', () => {
  const errors: [string, string][] = [
    ['page.goto: net::ERR_TOO_MANY_REDIRECTS at http://a/', 'navigation: TOO_MANY_REDIRECTS'],
    ['page.goto: Download is starting', 'navigation: DOWNLOAD'],
    ['page.goto: net::ERR_UNSAFE_REDIRECT at http://a/', 'navigation: BLOCKED_URL'],
    ['page.goto: net::ERR_NAME_NOT_RESOLVED at http://a/', 'navigation: DNS'],
    ['page.goto: net::ERR_SSL_PROTOCOL_ERROR at https://a/', 'navigation: TLS'],
    ['page.goto: net::ERR_PROXY_CONNECTION_FAILED at https://a/', 'proxy: UPSTREAM_FAILED'],
    ['page.goto: net::ERR_TIMED_OUT at https://a/', 'navigation: TIMEOUT'],
    ['page.goto: net::ERR_EMPTY_RESPONSE at https://a/', 'navigation: CONNECTION_FAILED'],
    ['page.goto: Page crashed', 'browser: CRASHED'],
    ['page.goto: Target page, context or browser has been closed', 'browser: CRASHED'],
  ];
  for (const [error, code] of errors)
    it(`a visit with the error ${error} fails with ${code}`, () => {
      assert.equal(failureOfError(error), code);
      assert.equal(failureOfVisit(error, null, null), code);
    });

  const outcomes: [GatewayOutcome, string][] = [
    ['dns', 'navigation: DNS'],
    ['private_address', 'navigation: BLOCKED_URL'],
    ['connection_refused', 'navigation: CONNECTION_FAILED'],
    ['connection_failed', 'navigation: CONNECTION_FAILED'],
    ['timeout', 'navigation: TIMEOUT'],
    ['upstream_failed', 'proxy: UPSTREAM_FAILED'],
  ];
  for (const [outcome, code] of outcomes)
    it(`a visit whose host has the gateway outcome ${outcome} fails with its code`, () => {
      assert.equal(failureOfVisit('net::ERR_TUNNEL', hop(TUNNEL), carried(outcome)), code);
      assert.equal(
        failureOfVisit('', hop({ url: 'http://shop.example/', statusCode: 599, gateway: outcome }), null),
        code,
      );
    });

  it('a visit that times out although its target answered, or was never contacted, fails as a browser timeout', () => {
    const error = 'page.goto: Timeout 25000ms exceeded.';
    assert.equal(failureOfVisit(error, hop({ statusCode: 200 }), carried('ok')), 'browser: TIMEOUT');
    assert.equal(failureOfVisit(error, hop(), carried('ok', 'other.example')), 'browser: TIMEOUT');
    assert.equal(failureOfVisit(error, hop(), carried('ok')), 'navigation: TIMEOUT');
    assert.equal(failureOfVisit(error, hop(), null), 'navigation: TIMEOUT');
    assert.equal(failureOfVisit(error, null, null), 'browser: TIMEOUT');
    assert.equal(failureOfVisit(error, hop(TUNNEL), carried('timeout')), 'navigation: TIMEOUT');
  });

  it('a visit that times out while other pages keep the browser busy fails as a browser timeout', () => {
    const error = 'page.goto: Timeout 25000ms exceeded.';
    assert.equal(failureOfVisit(error, hop(), carried('ok'), 5_000), 'browser: TIMEOUT');
    assert.equal(failureOfVisit(error, hop(), null, 9_000), 'browser: TIMEOUT');
    assert.equal(failureOfVisit(error, hop(), carried('ok'), 4_900), 'navigation: TIMEOUT');
    assert.equal(
      failureOfVisit(error, hop(TUNNEL), carried('timeout'), 9_000),
      'navigation: TIMEOUT',
      'the gateway waited',
    );
    assert.equal(
      failureOfVisit('net::ERR_NAME_NOT_RESOLVED', hop({ fault: 'net::ERR_NAME_NOT_RESOLVED' }), null, 9_000),
      'navigation: DNS',
    );
  });

  it('a visit whose upstream stalls in the middle of the document fails as upstream failure; other stalls do not count', () => {
    const stalled = (more: object = {}) => {
      const traffic = carried('ok');
      return { ...traffic, hosts: traffic.hosts.map((host) => ({ ...host, stalled: true, ...more })) };
    };
    const broken = hop({ ...ABORTED, statusCode: 200, silentMs: 9_000 });
    assert.equal(failureOfVisit('', broken, stalled()), 'proxy: UPSTREAM_FAILED');
    assert.equal(failureOfVisit('', broken, carried('ok')), null, 'no upstream, or one that went on sending');
    assert.equal(failureOfVisit('', broken, stalled({ host: 'poll.example' })), null, 'another host');
    assert.equal(failureOfVisit('', hop({ statusCode: 200 }), stalled()), null, 'the document had ended');
    assert.equal(failureOfVisit('', { ...broken, silentMs: 900 }, stalled()), null, 'the document went on');
  });

  it('a gateway outcome applies only to the same host and port', () => {
    const error = 'net::ERR_TUNNEL_CONNECTION_FAILED';
    assert.equal(failureOfVisit(error, hop(TUNNEL), carried('dns', 'other.example')), 'proxy: UPSTREAM_FAILED');
    assert.equal(failureOfVisit(error, hop(TUNNEL), carried('dns', 'shop.example', 8443)), 'proxy: UPSTREAM_FAILED');
    const ipv6 = hop({ ...TUNNEL, url: 'https://[::1]/' });
    assert.equal(failureOfVisit(error, ipv6, carried('private_address', '::1')), 'navigation: BLOCKED_URL');
  });

  it('a visit to an invalid URL fails as a blocked URL', () => {
    const broken = hop({ url: 'https://', fault: 'net::ERR_INVALID_URL' });
    assert.equal(failureOfVisit('net::ERR_INVALID_URL', broken, carried('dns')), 'navigation: BLOCKED_URL');
  });

  it('a visit does not fail because of a status of the target itself', () => {
    for (const statusCode of [200, 404, 500, 599])
      assert.equal(failureOfVisit('', hop({ statusCode }), carried('ok')), null);
  });

  it('a visit that Chromium aborts fails as no content, download or blocked URL', () => {
    const error = 'net::ERR_ABORTED';
    assert.equal(failureOfVisit(error, hop({ ...ABORTED, statusCode: 204 }), null), 'navigation: NO_CONTENT');
    assert.equal(failureOfVisit(error, hop({ ...ABORTED, statusCode: 205 }), null), 'navigation: NO_CONTENT');
    const download = hop({ ...ABORTED, statusCode: 200, attachment: true });
    assert.equal(failureOfVisit('Download is starting', download, null), 'navigation: DOWNLOAD');
    assert.equal(failureOfVisit(error, hop({ ...ABORTED, url: 'intent://x' }), null), 'navigation: BLOCKED_URL');
  });

  it('a later navigation that is aborted is no failure, and one that breaks fails with its fault', () => {
    assert.equal(failureOfVisit('', hop({ ...ABORTED, statusCode: 204 }), null), null);
    assert.equal(failureOfVisit('', hop({ fault: 'net::ERR_NAME_NOT_RESOLVED' }), null), 'navigation: DNS');
  });

  it('a 407 of our gateway for an unknown ticket is a transient failure', () => {
    assert.equal(
      failureOfVisit('', hop({ statusCode: 407, gateway: 'upstream_failed' }), null),
      'proxy: UPSTREAM_FAILED',
    );
  });

  it('a 407 of the target itself is no failure', () => {
    assert.equal(failureOfVisit('', hop({ statusCode: 407 }), null), null);
  });
});
