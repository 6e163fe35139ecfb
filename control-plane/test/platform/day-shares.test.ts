import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DayShare, dayShares } from '../../src/platform/day-shares.ts';
import { openStore } from '../../src/platform/store.ts';

const MORNING = new Date('2026-03-04T08:00:00.000Z');
const NEXT_DAY = new Date('2026-03-05T00:00:00.000Z');

/** Some processes that share a store, and how much each of them got of `share` in these takes. */
async function processes(count: number) {
  const store = await openStore({ path: ':memory:' });
  return { store, all: Array.from({ length: count }, () => dayShares(store)) };
}

for (const block of [1, 7, 30])
  test(`processes that take at once get a day's share and no more, in blocks of ${block}; the next day has its own`, async () => {
    const { store, all } = await processes(3);
    const share: DayShare = { name: 'bytes', perDay: 100, block };
    const takeMany = async (now: Date) => {
      const takes = Array.from({ length: 120 }, (_, at) => all[at % 3]!.take(share, 'us', 2, now));
      return (await Promise.all(takes)).filter((one) => one).length;
    };
    const taken = await takeMany(MORNING);
    assert.ok(taken <= 50 && taken > 50 - 3, `${taken} of 50`);
    assert.equal(await all[0]!.take(share, 'them', 100, MORNING), true, 'another owner has its own share');
    assert.equal(await all[0]!.take(share, 'them', 1, MORNING), false);
    const later = await takeMany(NEXT_DAY);
    assert.ok(later <= 50 && later > 50 - 3, `${later} of 50`);
    await store.close();
  });

test('what is given back can be taken again, and what was taken beyond is missing', async () => {
  const { store, all } = await processes(1);
  const share: DayShare = { name: 'bytes', perDay: 100, block: 1 };
  const [shares] = all as [ReturnType<typeof dayShares>];
  assert.equal(await shares.take(share, 'us', 100, MORNING), true);
  shares.giveBack(share, 'us', 40, MORNING);
  assert.equal(await shares.take(share, 'us', 41, MORNING), false);
  assert.equal(await shares.take(share, 'us', 30, MORNING), true);
  shares.giveBack(share, 'us', -20, MORNING);
  assert.equal(await shares.take(share, 'us', 1, MORNING), false);
  shares.giveBack(share, 'us', 50, NEXT_DAY);
  assert.equal(await shares.take(share, 'us', 150, NEXT_DAY), true);
  assert.equal(await shares.take({ ...share, perDay: Number.POSITIVE_INFINITY }, 'us', 1e12, NEXT_DAY), true);
  await store.close();
});

test('what is given back while more is taken is neither lost nor forgotten', async () => {
  const { store, all } = await processes(1);
  const share: DayShare = { name: 'bytes', perDay: 100, block: 1 };
  const [shares] = all as [ReturnType<typeof dayShares>];
  assert.equal(await shares.take(share, 'us', 50, MORNING), true);
  const [more] = await Promise.all([
    shares.take(share, 'us', 10, MORNING),
    // While the take is being written.
    Promise.resolve().then(() => shares.giveBack(share, 'us', -20, MORNING)),
  ]);
  assert.equal(more, true);
  assert.equal(await shares.isLeft(share, 'us', 21, MORNING), false);
  assert.equal(await shares.isLeft(share, 'us', 20, MORNING), true);
  assert.equal(await shares.take(share, 'us', 21, MORNING), false);
  assert.equal(await shares.take(share, 'us', 20, MORNING), true);
  assert.equal(await shares.isLeft(share, 'us', 100, NEXT_DAY), true);
  assert.equal(await shares.isLeft(share, 'us', 101, NEXT_DAY), false);
  await store.close();
});

test('a take that is written at midnight leaves nothing of its day to the next one', async () => {
  const { store, all } = await processes(1);
  const share: DayShare = { name: 'bytes', perDay: 100, block: 100 };
  const [shares] = all as [ReturnType<typeof dayShares>];
  await Promise.all([
    shares.take(share, 'us', 1, new Date(NEXT_DAY.getTime() - 1)),
    // While the take is being written.
    shares.isLeft(share, 'them', 1, NEXT_DAY),
  ]);
  assert.equal(await shares.isLeft(share, 'us', 100, NEXT_DAY), true);
  assert.equal(await shares.isLeft(share, 'us', 101, NEXT_DAY), false);
  await store.close();
});
