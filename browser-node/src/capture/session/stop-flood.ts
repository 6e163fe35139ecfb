import type { DevTools } from '../devtools/devtools.ts';
import { type OpenTab, stopScript } from './landings.ts';

/** Ends all scripts of tabs that start frames and workers without end, at once: what they show can then be looked at. */
export function stopFlood(devtools: DevTools, tabs: readonly OpenTab[]): void {
  for (const { tab } of tabs) void stopScript(tab);
  for (const session of devtools.sessions()) if (session.type !== 'page') session.notify('Runtime.terminateExecution');
}
