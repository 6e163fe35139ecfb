/** Runs in the page, in a world of its own: resolves when the page's timers that are due have run. */
export function runTimers(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
