/** Runs in every document before its own scripts: a tab's own document tells the console how long its history was when it came. */
export function tellHistory({ token }: { token: string }): void {
  if (window.parent === window) console.debug(`${token}|${history.length}`);
}
