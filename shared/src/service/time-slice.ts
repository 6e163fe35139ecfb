/** Work blocks the event loop for about this long in one piece, however many callers have such work. */
const SLICE_MS = 10;

/** When work began in this turn of the event loop; null: there was none yet. */
let began: number | null = null;
/** Callers that go on in a later turn. */
const long: (() => void)[] = [];
const short: (() => void)[] = [];
let isShortNext = true;

/**
 * To be awaited in long work wherever other work may run in between: goes on in a later turn once this one's slice is
 * used up.
 */
export const pause = (): Promise<void> => waitIn(long);

/**
 * To be awaited before work of some milliseconds: begins in a later turn if this one's slice is used up, in turns with
 * long work.
 */
export const awaitTurn = (): Promise<void> => waitIn(short);

/** To be awaited between two parts of work that take some milliseconds each: goes on in a later turn. */
export const awaitNextTurn = (): Promise<void> => waitIn(short, 0);

/**
 * Begins work for each item in this order, each in a later turn once this one's slice is used up; does not wait for it
 * before it begins the next.
 */
export function inTurns<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  let turn = Promise.resolve();
  const begin = (item: T): Promise<R> => {
    turn = turn.then(awaitTurn);
    return turn.then(() => work(item));
  };
  return Promise.all(items.map(begin));
}

async function waitIn(queue: (() => void)[], sliceMs = SLICE_MS): Promise<void> {
  await afterOthers();
  const now = performance.now();
  if (began === null) {
    began = now;
    // Two of them: the first may still be in this turn.
    setImmediate(() => setImmediate(beginTurn));
  }
  if (now - began >= sliceMs) await new Promise<void>((resolve) => queue.push(resolve));
}

/**
 * Callers that came together with one that goes on: only once it has done its work, they can see what is left of the
 * slice.
 */
const together: (() => void)[] = [];
let isOneGoingOn = false;

async function afterOthers(): Promise<void> {
  if (isOneGoingOn) return new Promise((resolve) => together.push(resolve));
  isOneGoingOn = true;
  process.nextTick(endOne);
}

/** Once the work of the caller that went on is done, the next one goes on. */
function endOne(): void {
  const next = together.shift();
  isOneGoingOn = next !== undefined;
  if (next) goOn(next, endOne);
}

/**
 * Lets a caller go on, and calls `andThen` once all microtasks have run, and with them the caller's work. Node runs a
 * tick that another tick queues before the microtasks, and one that a microtask queues after them.
 */
function goOn(caller: () => void, andThen: () => void): void {
  caller();
  queueMicrotask(() => process.nextTick(andThen));
}

/**
 * Callers that wait go on, long and short work in turns, as long as something is left of the slice; the first one in
 * any case.
 */
function beginTurn(): void {
  began = null;
  let waiting = short.length + long.length;
  if (waiting === 0) return;
  const start = performance.now();
  began = start;
  setImmediate(beginTurn);
  const goOnWithNext = () => {
    waiting -= 1;
    const [first, second] = isShortNext ? [short, long] : [long, short];
    isShortNext = !isShortNext;
    goOn((first.shift() ?? second.shift())!, () => {
      if (waiting > 0 && performance.now() - start < SLICE_MS) goOnWithNext();
    });
  };
  goOnWithNext();
}
