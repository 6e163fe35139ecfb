/** Microseconds of processor time of one question, which is asked again and again for `ms` milliseconds. */
export async function processorTime(ask: () => Promise<unknown>, ms: number): Promise<number> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  let count = 0;
  for (; count === 0 || performance.now() - start < ms; count += 1) await ask();
  const { user, system } = process.cpuUsage(used);
  return (user + system) / count;
}
