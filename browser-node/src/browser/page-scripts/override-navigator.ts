import type { NativeFunctions } from './native-functions.ts';

/** What `navigator` says where Chromium's own would say otherwise. */
export type NavigatorOverrides = {
  /** Properties that are texts, numbers or lists of texts. One that a document does not have stays away. */
  answers: Record<string, string | number | string[]>;
  /** Names that this browser's `navigator` does not have at all. */
  missing: string[];
  /** Names that this browser does not have in the global scope. */
  missingGlobals: string[];
};

/** For pages, frames and workers. */
export function overrideNavigator(overrides: NavigatorOverrides, { wrapGetter }: NativeFunctions): void {
  const prototype = Object.getPrototypeOf(navigator);
  // What Chromium itself emulates in a document is the machine's again once the frame is removed; the user agent is empty then, as in Chrome.
  const lostWithFrame = new Set(['platform', 'language']);
  for (const [name, value] of Object.entries(overrides.answers)) {
    if (!lostWithFrame.has(name) && String(Reflect.get(navigator, name)) === String(value)) continue;
    wrapGetter(prototype, name, Array.isArray(value) ? Object.freeze(value) : value);
  }
  // That of a headless browser is 0, and of hardly any other one.
  const { NetworkInformation: network } = globalThis as { NetworkInformation?: { prototype: object } };
  if (network) wrapGetter(network.prototype, 'rtt', 50);
  for (const name of overrides.missing) Reflect.deleteProperty(prototype, name);
  for (const name of overrides.missingGlobals) Reflect.deleteProperty(globalThis, name);
}
