import { readFileSync, writeFileSync } from 'node:fs';
import { watchLoop } from './loop-holds.ts';

/**
 * Loaded into a service with `--import`: answers `{ type: 'reset' }` and `{ type: 'longest' }` over its IPC channel with the longest time
 * that its event loop was held since the last reset, in ms: by the clock, and of the thread's CPU; and with the growth of the process'
 * memory since then, in bytes, at its largest.
 */
const loop = watchLoop();
let before = 0;

/** The largest memory of this process since the last call of `forgetPeak`, in bytes. */
const peak = (): number => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;

function forgetPeak(): void {
  globalThis.gc?.();
  writeFileSync('/proc/self/clear_refs', '5');
  before = peak();
}

process.on('message', (message: { type?: string }) => {
  if (message.type === 'reset') {
    forgetPeak();
    loop.reset();
  } else if (message.type !== 'longest') return;
  process.send?.({ type: 'longest', ...loop.longest(), growth: peak() - before });
});
// Listening for messages alone must not keep a service alive.
process.channel?.unref();
