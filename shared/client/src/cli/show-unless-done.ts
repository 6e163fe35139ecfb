const ENDING = ['SIGINT', 'SIGTERM'] as const;

/**
 * Settles as `work` does, which waits for what goes on without this command, and is paid for: `show` prints that if the wait fails, or somebody ends
 * it, as by Ctrl-C.
 */
export async function showUnlessDone<T>(work: Promise<T>, show: () => void): Promise<T> {
  const forget = () => {
    for (const signal of ENDING) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    forget();
    show();
    // Ends the process as if nobody had listened.
    process.kill(process.pid, signal);
  };
  for (const signal of ENDING) process.once(signal, end);
  try {
    return await work;
  } catch (error) {
    show();
    throw error;
  } finally {
    forget();
  }
}
