import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GATEWAY_OUTCOMES } from '@adsweep/shared/targeting/exit-ticket.ts';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS, gatewayOutcome } from '@adsweep/shared/targeting/gateway-status.ts';

test('every failure of the gateway has a 59x of its own, the refusals of a host one together, and the limits of a ticket', () => {
  const failures = GATEWAY_OUTCOMES.filter((outcome) => outcome !== 'ok');
  assert.deepEqual(Object.keys(GATEWAY_STATUS).sort(), failures.sort());
  const { denied_host, too_many_requests, ...others } = GATEWAY_STATUS;
  const statuses = Object.values(others);
  assert.equal(new Set(statuses).size, statuses.length);
  assert.equal(denied_host, others.private_address);
  assert.equal(too_many_requests, others.too_large);
  assert.ok(statuses.every((status) => status >= 590 && status <= 599));
});

test('an answer is the gateway’s when its header names an outcome', () => {
  assert.equal(gatewayOutcome({ [GATEWAY_OUTCOME_HEADER]: 'dns' }), 'dns');
  assert.equal(gatewayOutcome({ [GATEWAY_OUTCOME_HEADER]: 'anything' }), null);
  assert.equal(gatewayOutcome({ 'content-type': 'text/html' }), null);
  assert.equal(gatewayOutcome({ 'proxy-authenticate': 'Basic realm="exits"' }), 'upstream_failed');
});
