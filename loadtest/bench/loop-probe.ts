/**
 * Loaded into a service with `--import`: answers `{ type: 'reset' }` and `{ type: 'longest' }` over its IPC channel with the longest time
 * that its event loop was held since the last reset, in ms: by the clock, and of the thread's CPU, which a busy machine does not stretch.
 */
const EVERY_MS = 1;
const longest = { clock: 0, cpu: 0 };
const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
let last = { clock: performance.now(), cpu: cpuMs() };

setInterval(() => {
  const now = { clock: performance.now(), cpu: cpuMs() };
  longest.clock = Math.max(longest.clock, now.clock - last.clock - EVERY_MS);
  longest.cpu = Math.max(longest.cpu, now.cpu - last.cpu);
  last = now;
}, EVERY_MS).unref();

process.on('message', (message: { type?: string }) => {
  if (message.type === 'reset') Object.assign(longest, { clock: 0, cpu: 0 });
  else if (message.type !== 'longest') return;
  process.send?.({ type: 'longest', ...longest });
});
// Listening for messages alone must not keep a service alive.
process.channel?.unref();
