import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Targeting } from '@adsweep/shared/targeting/catalogue.ts';
import { ExitHealth } from '../src/exits/exit-health.ts';
import { ExitIndex } from '../src/exits/exit-index.ts';
import type { ExitState } from '../src/exits/outages.ts';
import { pickExit } from '../src/exits/pick-exit.ts';
import { readVendorExitId, vendorExit } from '../src/exits/vendor-exit.ts';
import { ConnectionFailure } from '../src/providers/connection-failure.ts';
import type { Exit, Place } from '../src/providers/exit.ts';
import { exitIn, targeting, vendorConfig } from './support/router.ts';

const healthy = { stateOf: () => 'available' as const, scoreOf: () => 1 };
const outcome = (picked: ReturnType<typeof pickExit>) => ('exit' in picked ? picked.exit.id : picked.refusal);

const places = new ExitIndex(
  [
    exitIn('US', { id: 'austin', region: 'Texas', city: 'Austin', isp: 'Acme' }),
    exitIn('US', { id: 'dayton', region: 'Ohio', city: 'Dayton', isp: 'Bell' }),
    exitIn('US', { id: 'mobile', proxy_type: 'mobile', region: 'Texas' }),
    exitIn('DE', { id: 'berlin', region: 'Berlin' }),
  ],
  [],
);
const pick = (wanted: Targeting) => outcome(pickExit(places.select(wanted), 'session', healthy));

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
const among = (exits: Exit[]) => new ExitIndex(exits, []).select(targeting());
const ofThree = among(three);
const chosen = (session: string, stateOf: (exit: Exit) => ExitState | 'full' = healthy.stateOf, selection = ofThree) =>
  outcome(pickExit(selection, session, { ...healthy, stateOf }));

test('a session keeps its exit, whatever the order of the exits', () => {
  const reversed = among(three.toReversed());
  for (const session of sessions.slice(0, 200)) {
    assert.equal(chosen(session, healthy.stateOf, reversed), chosen(session));
  }
});

test('sessions are shared out by pool size', () => {
  const shares = Map.groupBy(sessions, (session) => chosen(session));
  for (const { id, pool_size } of three) {
    const share = (shares.get(id)?.length ?? 0) / sessions.length;
    assert.ok(Math.abs(share - pool_size / 100) < 0.03, `${id} has ${share}`);
  }
});

test('an exit that failed lately gets the share of sessions that its score leaves it', () => {
  const conditions = { ...healthy, scoreOf: ({ id }: Exit) => (id === 'c' ? 1 / 4 : 1) };
  const shares = Map.groupBy(sessions, (session) => outcome(pickExit(ofThree, session, conditions)));
  const share = (shares.get('c')?.length ?? 0) / sessions.length;
  assert.ok(Math.abs(share - 15 / 55) < 0.04, `c has ${share}`);
});

test('when an exit becomes unavailable only its own sessions move, and they come back', () => {
  for (const session of sessions.slice(0, 500)) {
    const before = chosen(session);
    const during = chosen(session, ({ id }) => (id === 'b' ? 'upstream_failed' : 'available'));
    assert.equal(during === before, before !== 'b');
  }
});

test('a session goes back to the exit it had, for as long as that is available', () => {
  const other = three.find(({ id }) => id !== chosen('session'))!.id;
  assert.equal(outcome(pickExit(ofThree, 'session', healthy, other)), other);
  assert.equal(outcome(pickExit(ofThree, 'session', healthy, 'gone')), chosen('session'));
  const conditions = { ...healthy, stateOf: ({ id }: Exit) => (id === other ? 'full' : 'available') } as const;
  assert.notEqual(outcome(pickExit(ofThree, 'session', conditions, other)), other);
});

test('the one exit left of many is found', () => {
  const many = among(Array.from({ length: 500 }, (_, index) => exitIn('US', { id: `exit-${index}` })));
  for (const session of sessions.slice(0, 50)) {
    const left = chosen(session, ({ id }) => (id === 'exit-137' ? 'available' : 'full'), many);
    assert.equal(left, 'exit-137');
  }
});

test('§3.4 the refusal says the best that may be hoped for: busy before an account that is refused, that before no such place', () => {
  const refusal = (...states: (ExitState | 'full')[]) => chosen('session', ({ id }) => states['abc'.indexOf(id)]!);
  assert.equal(refusal('upstream_failed', 'upstream_failed', 'upstream_failed'), 'NODE_BUSY');
  assert.equal(refusal('no_exit', 'account_refused', 'full'), 'NODE_BUSY');
  assert.equal(refusal('no_exit', 'account_refused', 'probing'), 'NODE_BUSY');
  assert.equal(refusal('no_exit', 'account_refused', 'no_exit'), 'ACCOUNT_REFUSED');
  assert.equal(refusal('no_exit', 'no_exit', 'no_exit'), 'NODE_NOT_FOUND');
});

test('a vendor is addressed by what is asked for, and weighs what it has there', () => {
  const place = (region: string, city: string, pool_size: number): Place => {
    const pool = { country_code: 'US', proxy_type: 'residential' as const };
    return { ...pool, region, city, pool_size };
  };
  const vendor = {
    places: [place('Texas', 'Austin', 10), place('Texas', 'Dallas', 20), place('Ohio', 'Dayton', 70)],
    exitFor: (one: Place) => vendorExit(vendorConfig({ id: 'acme' }), one),
  };
  const index = new ExitIndex([exitIn('US', { id: 'own', region: 'Texas' })], [vendor]);
  const exits = (wanted: Targeting) => index.select(wanted).exits.map(({ id, pool_size }) => `${id} ${pool_size}`);
  assert.deepEqual(exits(targeting()), ['acme/US/residential/// 100', 'own 1']);
  assert.deepEqual(exits(targeting({ region: 'tEXAS' })), ['acme/US/residential/Texas// 30', 'own 1']);
  assert.deepEqual(exits(targeting({ city: 'dallas' })), ['acme/US/residential//Dallas/ 20']);
  assert.deepEqual(exits(targeting({ region: 'Ohio', city: 'Austin' })), []);
});

test('the id of a vendor’s exit says whose and where it is', () => {
  const place = { country_code: 'DE', proxy_type: 'mobile', city: 'Frankfurt/Main: Ost', pool_size: 1 } as const;
  const { id } = vendorExit(vendorConfig({ id: 'acme' }), place);
  assert.deepEqual(readVendorExitId(id), { provider: 'acme', place });
  assert.equal(readVendorExitId('own'), null);
});

const failure = (kind: ConnectionFailure['outcome'], details = {}) => new ConnectionFailure(kind, 'a test', details);
const listed = exitIn('US', { id: 'a' });
const vendors: Exit = { ...exitIn('US', { id: 'acme/US/residential///' }), account: 'acme' };
const elsewhere: Exit = { ...exitIn('DE', { id: 'acme/DE/residential///' }), account: 'acme' };

test('a failing exit is unavailable for 30 s, doubling to 10 minutes, and one probe brings it back', () => {
  const health = new ExitHealth();
  let now = 1_000_000;
  for (const outSeconds of [30, 60, 120, 240, 480, 600, 600]) {
    health.failed(listed, failure('upstream_failed'), now);
    assert.equal(health.state(listed, now + outSeconds * 1000 - 1), 'upstream_failed', `${outSeconds} s`);
    assert.equal(health.state(listed, now + outSeconds * 1000), 'available', `${outSeconds} s`);
    now += outSeconds * 1000;
    health.assigned(listed, now);
    assert.equal(health.state(listed, now), 'probing', 'nobody else while the probe is under way');
  }
  for (const score of [1 / 8, 1 / 4, 1 / 2, 1]) {
    health.succeeded(listed);
    assert.deepEqual([health.state(listed, now), health.score(listed)], ['available', score]);
  }
  health.failed(listed, failure('upstream_failed'), now);
  assert.equal(health.state(listed, now + 30_000), 'available', 'after a success the time begins at 30 s again');
});

test('failures of requests in progress at the same time count once; a probe without a result expires', () => {
  const health = new ExitHealth();
  for (let index = 0; index < 20; index += 1) health.failed(listed, failure('upstream_failed'), index);
  assert.equal(health.state(listed, 30_000), 'available');
  health.assigned(listed, 30_000);
  assert.equal(health.state(listed, 59_999), 'probing');
  assert.equal(health.state(listed, 60_000), 'available');
});

test('a failure of the target is none of the exit', () => {
  const health = new ExitHealth();
  for (const kind of ['dns', 'connection_refused', 'connection_failed', 'timeout', 'private_address'] as const)
    assert.equal(health.failed(listed, failure(kind), 0), false, kind);
  assert.deepEqual([health.state(listed, 0), health.score(listed)], ['available', 1]);
});

test('a vendor’s place is out after three failures in a row, for one address of many says little', () => {
  const health = new ExitHealth();
  const fail = () => health.failed(vendors, failure('upstream_failed'), 0);
  fail();
  fail();
  assert.equal(health.state(vendors, 0), 'available');
  health.succeeded(vendors);
  fail();
  fail();
  assert.equal(health.state(vendors, 0), 'available');
  fail();
  assert.equal(health.state(vendors, 29_999), 'upstream_failed');
  assert.equal(health.state(elsewhere, 0), 'available');
});

test('an account that is refused is out at all its places', () => {
  const health = new ExitHealth();
  health.failed(vendors, failure('account_refused', { isAccount: true }), 0);
  assert.equal(health.state(elsewhere, 29_999), 'account_refused');
  health.assigned(elsewhere, 30_000);
  assert.equal(health.state(vendors, 30_000), 'probing');
  health.succeeded(elsewhere);
  assert.equal(health.state(vendors, 30_000), 'available');
});

test('an account that refuses without a reason is out only after three refusals in a row that share neither host nor scan', () => {
  const health = new ExitHealth();
  const refuse = (host: string, scan: string, now = 0) => {
    const details = { isAccount: true, mayBeTargets: true };
    assert.equal(health.failed(vendors, failure('account_refused', details), now, { host, scan }), true);
    return health.state(elsewhere, now);
  };
  const refuseByMany = () => [refuse('a', '1'), refuse('a', '2'), refuse('b', '1'), refuse('b', '2'), refuse('a', '3')];
  assert.deepEqual([...new Set(refuseByMany())], ['available'], 'one host in many scans, and many hosts in one scan');
  health.succeeded(elsewhere);
  refuseByMany();
  assert.equal(health.state(vendors, 0), 'available');
  assert.equal(refuse('c', '3'), 'account_refused');
  health.assigned(elsewhere, 30_000);
  assert.equal(refuse('c', '3', 30_000), 'account_refused', 'a probe needs no others');
  assert.equal(health.state(elsewhere, 89_999), 'account_refused');
  const checked = new ExitHealth();
  checked.failed(listed, failure('upstream_failed', { mayBeTargets: true }), 0);
  assert.equal(checked.state(listed, 0), 'upstream_failed', 'a target that the operator has chosen');
});

test('a limited rate is waited for as long as the upstream says, else 2 s and doubling', () => {
  const health = new ExitHealth();
  health.failed(listed, failure('rate_limited', { retryAfterSeconds: 7 }), 0);
  assert.deepEqual([health.state(listed, 6_999), health.state(listed, 7_000)], ['rate_limited', 'available']);
  const other = new ExitHealth();
  other.failed(listed, failure('rate_limited'), 0);
  other.failed(listed, failure('rate_limited'), 2_000);
  assert.deepEqual([other.state(listed, 5_999), other.state(listed, 6_000)], ['rate_limited', 'available']);
});

/** What an upstream answers without a reason, to a host and a scan of the node's choice. */
const refuseThrice = (health: ExitHealth, node: string | null, now = 0) => {
  const unexplained = failure('account_refused', { isAccount: true, mayBeTargets: true });
  for (const at of [1, 2, 3])
    health.failed(vendors, unexplained, now, { host: `${at}.example`, scan: `invented-${at}`, node });
};

test('what fails for one enrolled node is out for it alone, and for all once another enrolled node or one of the operator’s finds the same', () => {
  const provoked = {
    'three refusals': refuseThrice,
    'a limited rate': (health: ExitHealth, node: string | null) =>
      health.failed(vendors, failure('rate_limited', { isAccount: true }), 0, { host: 'a', scan: '1', node }),
    'a refused account': (health: ExitHealth, node: string | null) =>
      health.failed(vendors, failure('account_refused', { isAccount: true }), 0, { host: 'a', scan: '1', node }),
    'a place that is none': (health: ExitHealth, node: string | null) =>
      health.failed(vendors, failure('no_exit'), 0, { host: 'a', scan: '1', node }),
    'a failed check': (health: ExitHealth, node: string | null) =>
      health.failed(vendors, failure('rate_limited', { isAccount: true }), 0, { scan: '1', node }),
  };
  for (const [what, provoke] of Object.entries(provoked)) {
    const health = new ExitHealth();
    const available = () => ['one', 'two', null].map((node) => health.state(vendors, 0, node) === 'available');
    for (let times = 0; times < 9; times += 1) provoke(health, 'one');
    assert.deepEqual(available(), [false, true, true], what);
    assert.deepEqual([health.score(vendors, 'two'), health.score(vendors)], [1, 1], what);
    provoke(health, 'two');
    assert.deepEqual(available(), [false, false, false], `${what}, for two nodes`);
    const own = new ExitHealth();
    provoke(own, null);
    assert.deepEqual(
      ['one', null].map((node) => own.state(vendors, 0, node) === 'available'),
      [false, false],
      `${what}, for a node of the operator`,
    );
  }
});

test('two enrolled nodes agree on an exit only within ten minutes, and not if it worked in between', () => {
  const health = new ExitHealth();
  refuseThrice(health, 'one', 0);
  refuseThrice(health, 'two', 600_000);
  assert.equal(health.state(vendors, 600_000), 'available', 'too late');
  health.succeeded(vendors, 'three');
  assert.equal(health.state(vendors, 600_000, 'two'), 'available', 'a success of any node ends the outage for all');
  refuseThrice(health, 'one', 600_000);
  assert.equal(health.state(vendors, 600_000), 'available', 'nobody else has found that since');
});

test('an enrolled node that asks for the probe again and again keeps no other from an exit that was out', () => {
  const health = new ExitHealth();
  health.failed(listed, failure('upstream_failed'), 0);
  for (const now of [30_000, 60_000, 90_000]) {
    assert.equal(health.state(listed, now, 'hoarder'), 'available');
    health.assigned(listed, now, 'hoarder');
    assert.equal(health.state(listed, now, 'hoarder'), 'probing');
    assert.deepEqual([health.state(listed, now, 'other'), health.state(listed, now)], ['available', 'available']);
  }
  health.assigned(listed, 90_000, 'other');
  health.failed(listed, failure('upstream_failed'), 90_000, { scan: '1', host: 'a', node: 'other' });
  assert.equal(health.state(listed, 149_999, 'other'), 'upstream_failed', 'a probe that failed doubles the outage');
});

test('an exit or account that connects in another way from now on is available at once', () => {
  const health = new ExitHealth();
  const other: Exit = { ...exitIn('US', { id: 'acme-2/US/residential///' }), account: 'acme-2' };
  for (const exit of [vendors, other]) {
    health.failed(exit, failure('account_refused', { isAccount: true }), 0);
    health.failed(exit, failure('no_exit'), 0);
    refuseThrice(health, 'one');
  }
  health.forget('acme');
  assert.deepEqual(
    [health.state(vendors, 0), health.state(vendors, 0, 'one'), health.score(vendors)],
    ['available', 'available', 1],
  );
  assert.notEqual(health.state(other, 0), 'available');
});

test('values that no exit has cost no look at all exits, however many are asked for', () => {
  let looks = 0;
  const many = Array.from({ length: 1_000 }, (_, at) => ({
    ...exitIn('US', { id: `exit-${at}` }),
    get city() {
      looks += 1;
      return `City ${at}`;
    },
  }));
  const index = new ExitIndex(many, []);
  assert.equal(index.select(targeting({ city: 'city 7' })).exits[0]?.id, 'exit-7');
  const before = looks;
  for (let at = 0; at < 100; at += 1) assert.deepEqual(index.select(targeting({ city: `Nowhere ${at}` })).exits, []);
  assert.equal(looks, before);
});
