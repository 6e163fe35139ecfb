/** Bytes that were allocated on heaps, and how long their collections took, in ms. */
export type Allocations = { bytes: number; pauseMs: number };

/** `[pid:isolate] time ms: Scavenge 5.4 (7.0) -> 4.1 (8.0) MB, ... 1.2 / 0.0 ms ...`, as V8 writes it with `--trace-gc`. */
const COLLECTION =
  /^\[(\d+:0x[0-9a-f]+)\].*?: [A-Z][^\d\n]*?([\d.]+) \([\d.]+\) -> ([\d.]+) \([\d.]+\) MB,.*?([\d.]+) \/ [\d.]+ ms/gm;

/**
 * What was allocated between the collections in a trace: the heap before one, minus that after the one before in the same isolate. Pure.
 */
export function allocatedIn(trace: string): Allocations {
  const heaps = new Map<string, number>();
  let [bytes, pauseMs] = [0, 0];
  for (const [, isolate = '', before, after, pause] of trace.matchAll(COLLECTION)) {
    const known = heaps.get(isolate);
    // Until its first collection, a heap was filled by the start of its process.
    if (known !== undefined) bytes += Math.max(0, Number(before) - known) * 2 ** 20;
    pauseMs += Number(pause);
    heaps.set(isolate, Number(after));
  }
  return { bytes, pauseMs };
}
