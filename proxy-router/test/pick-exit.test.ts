import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExitHealth } from '../src/exits/exit-health.ts';
import { pickExit } from '../src/exits/pick-exit.ts';
import { exitIn, wish } from './support/router.ts';

const none = () => false;
const places = [
  exitIn('US', { id: 'austin', region: 'Texas', city: 'Austin', isp: 'Acme' }),
  exitIn('US', { id: 'dayton', region: 'Ohio', city: 'Dayton', isp: 'Bell' }),
  exitIn('US', { id: 'mobile', proxy_type: 'mobile', region: 'Texas' }),
  exitIn('DE', { id: 'berlin', region: 'Berlin' }),
];
const pick = (targeting: ReturnType<typeof wish>) => {
  const picked = pickExit(places, targeting, 'session', none);
  return 'exit' in picked ? picked.exit.id : picked.refusal;
};

test('2.2 an exit matches all that is wished, in any letter case', () => {
  assert.equal(pick(wish({ region: 'TEXAS', city: 'austin', isp: 'aCME' })), 'austin');
  assert.equal(pick(wish({ isp: 'bell' })), 'dayton');
  assert.equal(pick(wish({ proxy_type: 'mobile', region: 'texas' })), 'mobile');
  assert.equal(pick(wish({ country_code: 'DE' })), 'berlin');
});

test('4.1.5 a region with a city outside it finds no exit', () => {
  assert.equal(pick(wish({ region: 'Texas', city: 'Dayton' })), 'NODE_NOT_FOUND');
  assert.equal(pick(wish({ country_code: 'DE', city: 'Berlin' })), 'NODE_NOT_FOUND');
  assert.equal(pick(wish({ country_code: 'FR' })), 'NODE_NOT_FOUND');
});

const three = ['a', 'b', 'c'].map((id, index) => exitIn('US', { id, pool_size: [10, 30, 60][index] }));
const sessions = Array.from({ length: 6_000 }, (_, index) => `session-${index}`);
const chosen = (session: string, exits = three, isOut: (id: string) => boolean = none) => {
  const picked = pickExit(exits, wish(), session, isOut);
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

test('when an exit drops out only its own sessions move, and they come back', () => {
  for (const session of sessions.slice(0, 500)) {
    const before = chosen(session);
    const during = chosen(session, three, (id) => id === 'b');
    assert.equal(during === before, before !== 'b');
  }
});

test('all matching exits out of service is busy, not unknown', () => {
  assert.equal(
    chosen('session', three, () => true),
    'NODE_BUSY',
  );
});

test('a failing exit is out for 30 s, doubling to 10 minutes, and one probe brings it back', () => {
  const health = new ExitHealth();
  let now = 1_000_000;
  for (const outSeconds of [30, 60, 120, 240, 480, 600, 600]) {
    health.failed('a', now);
    assert.ok(health.isOut('a', now + outSeconds * 1000 - 1), `${outSeconds} s`);
    assert.ok(!health.isOut('a', now + outSeconds * 1000), `${outSeconds} s`);
    now += outSeconds * 1000;
    health.taken('a', now);
    assert.ok(health.isOut('a', now), 'nobody else while the probe is under way');
  }
  health.worked('a');
  assert.ok(!health.isOut('a', now));
  health.failed('a', now);
  assert.ok(!health.isOut('a', now + 30_000), 'after a success the time begins at 30 s again');
});

test('failures of requests that were under way together count once; a probe that tells nothing is let go', () => {
  const health = new ExitHealth();
  for (let index = 0; index < 20; index += 1) health.failed('a', index);
  assert.ok(!health.isOut('a', 30_000));
  health.taken('a', 30_000);
  assert.ok(health.isOut('a', 59_999));
  assert.ok(!health.isOut('a', 60_000));
});
