import type { Natives } from './natives.ts';

/**
 * Runs in the page: each call that shows a dialog or writes to the console enters a JavaScript function first. There V8 looks whether it
 * was told to stop; in a loop that calls nothing but native functions it does so only after some hundred turns, each of which would be a
 * dialog, or a line of megabytes.
 */
export function interruptCalls({ precede }: Natives): void {
  for (const name of ['alert', 'confirm', 'prompt', 'print']) precede(window, name, () => undefined);
  const lines = ['log', 'info', 'warn', 'error', 'debug', 'dir', 'dirxml', 'table', 'trace', 'group', 'groupCollapsed'];
  for (const name of [...lines, 'assert', 'count', 'timeLog']) precede(console, name, () => undefined);
}
