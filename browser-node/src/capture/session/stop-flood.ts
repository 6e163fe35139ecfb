import type { DevTools } from '../devtools/devtools.ts';
import { type OpenTab, stopScript } from './landings.ts';

/** Ends all scripts of a capture that floods the browser, at once: what its tabs show can then be looked at. */
export function stopFlood(devtools: DevTools, tabs: readonly OpenTab[]): void {
  for (const { tab } of tabs) void stopScript(tab);
  for (const session of devtools.sessions()) if (session.type !== 'page') session.notify('Runtime.terminateExecution');
}
