import assert from 'node:assert/strict';
import { it } from 'node:test';
import { allocatedIn } from '../gc-trace.ts';

it('what a process allocates is the growth of each of its heaps from one collection to the next', () => {
  const trace = `[12:0x1a0]      100 ms: Scavenge 5.0 (7.0) -> 4.0 (8.0) MB, pooled: 0.0 MB, 1.50 / 0.00 ms  (average mu = 1.000) allocation failure;
{"level":"info","msg":"a line of the log: 9.0 (9.0) -> 1.0 (1.0) MB"}
[12:0x2b0]      110 ms: Scavenge 3.0 (7.0) -> 2.0 (8.0) MB, pooled: 0.0 MB, 0.50 / 0.00 ms  (average mu = 1.000) allocation failure;
[12:0x1a0]      120 ms: Mark-Compact 6.5 (8.0) -> 3.0 (8.0) MB, pooled: 0.0 MB, 4.00 / 0.00 ms  (+ 1.0 ms in 3 steps) (average mu = 0.9)
[12:0x2b0]      130 ms: Scavenge 2.5 (8.0) -> 2.0 (8.0) MB, pooled: 0.0 MB, 1.00 / 0.00 ms  (average mu = 1.000) allocation failure;
`;
  assert.deepEqual(allocatedIn(trace), { bytes: 3 * 2 ** 20, pauseMs: 7 });
  assert.deepEqual(allocatedIn(''), { bytes: 0, pauseMs: 0 });
});
