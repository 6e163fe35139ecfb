import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, it } from 'node:test';
import { limitByAddress } from '../../../src/accounts/rate-limit/limit-by-address.ts';

const LIMIT = { name: 'sign-in', perAddress: 60, inAll: 900, detail: 'Too many.' };

describe('requests of people without a credential', () => {
  let counts: Map<string, number>;
  beforeEach(() => {
    counts = new Map();
  });
  const count = async (who: string, amount = 1) => {
    counts.set(who, (counts.get(who) ?? 0) + amount);
    return { requests: counts.get(who)!, leftMs: 30_000 };
  };
  const limit = limitByAddress({ count, isTrusted: () => false }, LIMIT);
  const from = async (remoteAddress: string, amount?: number): Promise<boolean> =>
    limit({ socket: { remoteAddress }, headers: {} } as IncomingMessage, amount).then(
      () => true,
      (error) => {
        assert.equal(error.code, 'rate_limited');
        return false;
      },
    );
  /** How many of these requests are taken. */
  const taken = async (addresses: string[]): Promise<number> => {
    let sum = 0;
    for (const address of addresses) if (await from(address)) sum += 1;
    return sum;
  };
  const times = (length: number, address: (at: number) => string) => Array.from({ length }, (_, at) => address(at));

  it('are taken from an address, or a /64 of IPv6, as often as the limit says', async () => {
    assert.equal(await taken(times(100, () => '203.0.113.1')), 60);
    assert.equal(await taken(times(100, (at) => `2001:db8:1:2::${at}`)), 60);
  });

  it('of a few addresses that ask as often as they may do not keep others out', async () => {
    for (let at = 0; at < 30; at += 1) await taken(times(60, () => `192.${at}.2.1`));
    assert.equal(await from('203.0.113.1'), true);
  });

  it('of somebody with many addresses of one network do not keep others out', async () => {
    const some = await taken(times(3_000, (at) => `2001:db8:7:${at.toString(16)}::1`));
    assert.equal(some, 112);
    await taken(times(3_000, (at) => `2001:db9:${(at % 100).toString(16)}:${at.toString(16)}::1`));
    await taken(times(3_000, (at) => `198.51.${at % 250}.${at % 200}`));
    assert.equal(await from('203.0.113.1'), true);
    assert.equal(await from('2001:dba::1'), true);
  });

  it('that count as several are limited by their sum', async () => {
    assert.deepEqual([await from('203.0.113.1', 59), await from('203.0.113.1', 2)], [true, false]);
    assert.equal(await from('203.0.113.2', 61), false);
  });

  it('are no more in all than the limit says, from however many addresses', async () => {
    const all = await taken(times(8_000, (at) => `${at % 200}.1.1.1`));
    assert.equal(all, 900);
  });
});
