import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { awaitTurn, inTurns, pause } from '../src/service/time-slice.ts';

const busy = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

it('long work of several callers goes on in turns of the event loop, one caller in each', async () => {
  let turn = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; turn++) await nextTurn();
  })();
  const steps: { caller: number; turn: number }[] = [];
  const work = async (caller: number) => {
    for (let step = 0; step < 4; step++) {
      busy(12);
      steps.push({ caller, turn });
      await pause();
    }
  };
  await Promise.all([work(0), work(1), work(2)]);
  isDone = true;
  await counting;
  const later = steps.filter(({ turn: of }) => of > 0);
  assert.ok(later.length >= 8, JSON.stringify(steps));
  assert.equal(new Set(later.map((one) => one.turn)).size, later.length);
  assert.deepEqual(new Set(later.slice(0, 3).map(({ caller }) => caller)), new Set([0, 1, 2]));
});

/** Resolves when nothing is left of the slice of an earlier test. */
async function newSlice(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

it('short work does not wait', async () => {
  await newSlice();
  let turns = 0;
  const counting = nextTurn().then(() => turns++);
  await pause();
  assert.equal(turns, 0);
  await counting;
});

it('work that waits begins in no turn in which other work has used up the slice', async () => {
  await newSlice();
  let [immediates, isDone] = [0, false];
  const counting = (async () => {
    for (; !isDone; immediates++) await nextTurn();
  })();
  const begunAt: number[] = [];
  // Timers run before the immediates of their turn.
  const inTimer = () =>
    new Promise<void>((resolve) =>
      setTimeout(async () => {
        await awaitTurn();
        begunAt.push(immediates);
        busy(12);
        resolve();
      }, 5),
    );
  await Promise.all([inTimer(), inTimer()]);
  isDone = true;
  await counting;
  assert.ok(begunAt[1]! - begunAt[0]! > 1, `after the immediates of ${begunAt.join(' and ')} turns`);
});

it('work that is begun in turns leaves room for other work, answers in order, and rejects once where one fails', async () => {
  await newSlice();
  let [turn, isDone] = [0, false];
  const counting = (async () => {
    for (; !isDone; turn++) await nextTurn();
  })();
  const work = async (item: number) => {
    busy(12);
    const begun = turn;
    await nextTurn();
    if (item === 3) throw new Error('the third');
    return { item, begun };
  };
  const done = await inTurns([0, 1, 2], work);
  assert.deepEqual(
    done.map(({ item }) => item),
    [0, 1, 2],
  );
  assert.equal(new Set(done.map(({ begun }) => begun)).size, 3);
  await assert.rejects(inTurns([3, 3, 4], work), /the third/);
  isDone = true;
  await counting;
});
