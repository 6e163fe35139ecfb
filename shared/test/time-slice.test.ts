import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { awaitTurn, inTurns, pause } from '../src/service/time-slice.ts';

const busy = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

/** Counts the turns of the event loop, by their immediates. */
function countTurns() {
  let [turns, isDone] = [0, false];
  const counting = (async () => {
    for (; !isDone; turns++) await nextTurn();
  })();
  const stop = (): Promise<void> => {
    isDone = true;
    return counting;
  };
  return { now: () => turns, stop };
}

it('long work of several callers goes on in turns of the event loop, one caller in each', async () => {
  const turns = countTurns();
  const steps: { caller: number; turn: number }[] = [];
  const work = async (caller: number) => {
    for (let step = 0; step < 4; step++) {
      busy(12);
      steps.push({ caller, turn: turns.now() });
      await pause();
    }
  };
  await Promise.all([work(0), work(1), work(2)]);
  await turns.stop();
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
  const turns = countTurns();
  const begunAt: number[] = [];
  // Timers run before the immediates of their turn.
  const inTimer = () =>
    new Promise<void>((resolve) =>
      setTimeout(async () => {
        await awaitTurn();
        begunAt.push(turns.now());
        busy(12);
        resolve();
      }, 5),
    );
  await Promise.all([inTimer(), inTimer()]);
  await turns.stop();
  assert.ok(begunAt[1]! - begunAt[0]! > 1, `after the immediates of ${begunAt.join(' and ')} turns`);
});

it('callers that come together see what each of them has used of the slice', async () => {
  await newSlice();
  const turns = countTurns();
  const work = async () => {
    await awaitTurn();
    busy(12);
    return turns.now();
  };
  const begunAt = await Promise.all([work(), work(), work()]);
  await turns.stop();
  assert.equal(new Set(begunAt).size, 3, `in the turns ${begunAt}`);
});

it('work that is begun in turns leaves room for other work, answers in order, and rejects once where one fails', async () => {
  await newSlice();
  const turns = countTurns();
  const work = async (item: number) => {
    busy(12);
    const begun = turns.now();
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
  await turns.stop();
});
