import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Targeting } from '@adsweep/shared/targeting/catalogue.ts';
import { ExitHealth } from '../src/exits/exit-health.ts';
import { pickExit } from '../src/exits/pick-exit.ts';
import { exitIn, targeting } from './support/router.ts';

const none = () => false;
const places = [
  exitIn('US', { id: 'austin', region: 'Texas', city: 'Austin', isp: 'Acme' }),
  exitIn('US', { id: 'dayton', region: 'Ohio', city: 'Dayton', isp: 'Bell' }),
  exitIn('US', { id: 'mobile', proxy_type: 'mobile', region: 'Texas' }),
  exitIn('DE', { id: 'berlin', region: 'Berlin' }),
];
const pick = (wanted: Targeting) => {
  const picked = pickExit(places, wanted, 'session', none);
  return 'exit' in picked ? picked.exit.id : picked.refusal;
};

test('§2.2.2 an exit matches all of the targeting, in any letter case', () => {
  assert.equal(pick(targeting({ region: 'TEXAS', city: 'austin', isp: 'aCME' })), 'austin');
  assert.equal(pick(targeting({ isp: 'bell' })), 'dayton');
  assert.equal(pick(targeting({ proxy_type: 'mobile', region: 'texas' })), 'mobile');
  assert.equal(pick(targeting({ country_code: 'DE' })), 'berlin');
});

test('§4.1.5 a region with a city outside it finds no exit', () => {
  assert.equal(pick(targeting({ region: 'Texas', city: 'Dayton' })), 'NODE_NOT_FOUND');
  assert.equal(pick(targeting({ country_code: 'DE', city: 'Berlin' })), 'NODE_NOT_FOUND');
  assert.equal(pick(targeting({ country_code: 'FR' })), 'NODE_NOT_FOUND');
});

const three = ['a', 'b', 'c'].map((id, index) => exitIn('US', { id, pool_size: [10, 30, 60][index] }));
const sessions = Array.from({ length: 6_000 }, (_, index) => `session-${index}`);
const chosen = (session: string, exits = three, isUnavailable: (id: string) => boolean = none) => {
  const picked = pickExit(exits, targeting(), session, isUnavailable);
  return 'exit' in picked ? picked.exit.id : picked.refusal;
};

test('a session keeps its exit, whatever the order of the exits', () => {
  for (const session of sessions.slice(0, 200)) {
    assert.equal(chosen(session, three.toReversed()), chosen(session));
  }
});

test('sessions are shared out by pool size', () => {
  const shares = Map.groupBy(sessions, (session) => chosen(session));
  for (const { id, pool_size } of three) {
    const share = (shares.get(id)?.length ?? 0) / sessions.length;
    assert.ok(Math.abs(share - pool_size / 100) < 0.03, `${id} has ${share}`);
  }
});

test('when an exit becomes unavailable only its own sessions move, and they come back', () => {
  for (const session of sessions.slice(0, 500)) {
    const before = chosen(session);
    const during = chosen(session, three, (id) => id === 'b');
    assert.equal(during === before, before !== 'b');
  }
});

test('§3.4 when all matching exits are unavailable the answer is busy, not unknown', () => {
  assert.equal(
    chosen('session', three, () => true),
    'NODE_BUSY',
  );
});

test('a failing exit is unavailable for 30 s, doubling to 10 minutes, and one probe brings it back', () => {
  const health = new ExitHealth();
  let now = 1_000_000;
  for (const outSeconds of [30, 60, 120, 240, 480, 600, 600]) {
    health.failed('a', now);
    assert.ok(health.isUnavailable('a', now + outSeconds * 1000 - 1), `${outSeconds} s`);
    assert.ok(!health.isUnavailable('a', now + outSeconds * 1000), `${outSeconds} s`);
    now += outSeconds * 1000;
    health.assigned('a', now);
    assert.ok(health.isUnavailable('a', now), 'nobody else while the probe is under way');
  }
  health.succeeded('a');
  assert.ok(!health.isUnavailable('a', now));
  health.failed('a', now);
  assert.ok(!health.isUnavailable('a', now + 30_000), 'after a success the time begins at 30 s again');
});

test('failures of requests in progress at the same time count once; a probe without a result expires', () => {
  const health = new ExitHealth();
  for (let index = 0; index < 20; index += 1) health.failed('a', index);
  assert.ok(!health.isUnavailable('a', 30_000));
  health.assigned('a', 30_000);
  assert.ok(health.isUnavailable('a', 59_999));
  assert.ok(!health.isUnavailable('a', 60_000));
});
