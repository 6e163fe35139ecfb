const EVERY_MS = 1;

/** Milliseconds for which an event loop was blocked: by the clock, and of the thread's CPU, which other load does not lengthen. */
export type LoopHold = { clock: number; cpu: number };

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Watches this thread's event loop; `longest` answers the longest hold since `reset`. */
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
    },
    stop(): LoopHold {
      look();
      clearInterval(timer);
      return longest;
    },
  };
}
