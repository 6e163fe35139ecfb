import { watchLoop } from './loop-holds.ts';

/**
 * Loaded into a service with `--import`: answers `{ type: 'reset' }` and `{ type: 'longest' }` over its IPC channel with the longest time
 * that its event loop was held since the last reset, in ms: by the clock, and of the thread's CPU.
 */
const loop = watchLoop();

process.on('message', (message: { type?: string }) => {
  if (message.type === 'reset') loop.reset();
  else if (message.type !== 'longest') return;
  process.send?.({ type: 'longest', ...loop.longest() });
});
// Listening for messages alone must not keep a service alive.
process.channel?.unref();
