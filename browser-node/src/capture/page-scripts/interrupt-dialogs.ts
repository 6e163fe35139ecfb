import type { Natives } from './natives.ts';

/**
 * Runs in the page: each call that shows a dialog enters a JavaScript function first. There V8 looks whether it was told to stop; in a
 * loop that calls nothing but native functions it does so only after some hundred turns, each of which would be a dialog.
 */
export function interruptDialogs({ precede }: Natives): void {
  for (const name of ['alert', 'confirm', 'prompt', 'print']) precede(window, name, () => undefined);
}
