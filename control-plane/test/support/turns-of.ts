import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** In how many turns of the event loop work runs on a clock by which each of its parts uses up the slice of a turn. */
export async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let now = performance.now();
  const clock = mock.method(performance, 'now', () => {
    now += 1_000;
    return now;
  });
  let [turns, isDone] = [0, false];
  const working = work().finally(() => {
    isDone = true;
  });
  for (; !isDone; turns++) await nextTurn();
  clock.mock.restore();
  await working;
  return turns;
}
