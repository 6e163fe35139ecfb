import { BYTES_PER_SLOT, defaultSlots, thisMachine } from '../machine/default-slots.ts';

const MACHINE = thisMachine();
/**
 * The most memory, in bytes, that one renderer may use: the rest must be enough for the browser and its other pages.
 * What a script asks of the browser waits in its renderer's memory too: a flood of requests ends here before it delays
 * other pages.
 */
export const RENDERER_BYTES_MAX = Math.min(2 ** 30, MACHINE.memoryBytes * 0.5);
/**
 * Memory of the renderers of an ordinary capture: what a slot is planned with, and where there is more, its part of
 * half the memory. A sweep of 30 ads holds some 500 MB.
 */
export const CAPTURE_BYTES = Math.max(BYTES_PER_SLOT, (MACHINE.memoryBytes * 0.5) / defaultSlots(MACHINE).most);
/**
 * Memory of a browser's long-lived processes that is charged to no capture, with one context and for each further one:
 * beyond it, growth is charged to the renderers that are busy meanwhile. Nine ordinary captures at once take up to 870
 * MB.
 */
const BROWSER_BYTES_FREE = 512 * 1024 * 1024;
const CONTEXT_BYTES_FREE = 64 * 1024 * 1024;

/** Both together, for a browser with so many contexts. */
export const freeBytes = (contexts: number): number =>
  BROWSER_BYTES_FREE + Math.max(0, contexts - 1) * CONTEXT_BYTES_FREE;

/**
 * Bytes of memory: all that a renderer holds, the part that no other process shares, and the part of the browser's that
 * it caused.
 */
export type Held = { bytes: number; own: number; charged: number };

/** Memory of all renderers while a context leaves the browser, as a multiple of what they may hold together. */
const LEAVING_SHARE = 1.25;

/**
 * The renderers that must end, by process id: each that holds more than `bytesMax`, its charge included; and while all
 * together hold more than `bytesMax` and `captureBytes` for each context after the first, first the largest of those
 * that hold more than a whole capture should, `captureBytes`, then the newest: a page with many small renderers must
 * not end those of other captures, which are larger. `renderers`: the oldest first; `isLeaving`: the context with most
 * documents is leaving the browser, so that all together may hold a little more, and beyond that what filled the memory
 * so fast ends, the largest. Pure.
 */
export function excessive(
  renderers: ReadonlyMap<number, Held>,
  bytesMax: number,
  contexts: number,
  captureBytes = CAPTURE_BYTES,
  isLeaving = false,
): number[] {
  const newestFirst = [...renderers].reverse().map(([pid, held]) => ({
    pid,
    own: held.own + held.charged,
    all: held.bytes + held.charged,
  }));
  const largeBytes = (own: number) => (isLeaving || own > captureBytes ? own : 0);
  const inTurn = newestFirst.toSorted((a, b) => largeBytes(b.own) - largeBytes(a.own));
  const sumMax = (bytesMax + Math.max(0, contexts - 1) * captureBytes) * (isLeaving ? LEAVING_SHARE : 1);
  let sum = sumOf(inTurn.map(({ own }) => own));
  const ends: number[] = [];
  for (const { pid, own, all } of inTurn) {
    if (all <= bytesMax && sum <= sumMax) continue;
    ends.push(pid);
    sum -= own;
  }
  return ends;
}

/**
 * Charges the growth of a browser's own memory beyond `free` to the renderers that used CPU meanwhile: pages can fill
 * it with what they hand over (blobs, messages), and only their CPU shows whose it is. The sum of all charges is at
 * most the memory beyond `free`: memory that comes and goes with each capture would otherwise be charged again and
 * again to the pages that stay.
 */
export function chargeGrowth<T extends { charged: number }>(
  renderers: readonly T[],
  cpuUsed: ReadonlyMap<T, number>,
  { before, bytes, free }: { before: number; bytes: number; free: number },
): void {
  const growth = Math.max(0, bytes - Math.max(before, free));
  const seconds = sumOf([...cpuUsed.values()]);
  if (seconds > 0) for (const [renderer, used] of cpuUsed) renderer.charged += growth * (used / seconds);
  const beyond = Math.max(0, bytes - free);
  const charged = sumOf(renderers.map((one) => one.charged));
  if (charged > beyond) for (const renderer of renderers) renderer.charged *= beyond / charged;
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
