const EVERY_MS = 1;

/** How long an event loop was blocked in ms: wall-clock time, and CPU time of the thread, which other load does not affect. */
export type LoopHold = { clock: number; cpu: number };

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Watches this thread's event loop; `longest` returns the longest block since `reset`. */
export function watchLoop() {
  let longest: LoopHold = { clock: 0, cpu: 0 };
  let last = { clock: performance.now(), cpu: cpuMs() };
  const look = () => {
    const now = { clock: performance.now(), cpu: cpuMs() };
    longest = {
      clock: Math.max(longest.clock, now.clock - last.clock - EVERY_MS),
      cpu: Math.max(longest.cpu, now.cpu - last.cpu),
    };
    last = now;
  };
  const timer = setInterval(look, EVERY_MS).unref();
  return {
    longest: (): LoopHold => longest,
    reset(): void {
      longest = { clock: 0, cpu: 0 };
      last = { clock: performance.now(), cpu: cpuMs() };
    },
    stop(): LoopHold {
      look();
      clearInterval(timer);
      return longest;
    },
  };
}
