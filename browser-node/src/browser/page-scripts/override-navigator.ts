import type { NativeFunctions } from './native-functions.ts';

/** The properties of `navigator` that differ from Chromium's own. */
export type NavigatorOverrides = {
  /** Properties and their values. A property that a document does not have is not added. */
  answers: Record<string, string | number | string[]>;
  /** Names that this browser's `navigator` does not have at all. */
  missing: string[];
  /** Names that this browser does not have in the global scope. */
  missingGlobals: string[];
};

/** For pages, frames and workers. */
export function overrideNavigator(overrides: NavigatorOverrides, { wrapGetter }: NativeFunctions): void {
  const prototype = Object.getPrototypeOf(navigator);
  // Once its frame is removed, a document has the machine's values again of what Chromium emulates; the user agent is
  // empty then, as in Chrome.
  const lostWithFrame = new Set(['platform', 'language']);
  for (const [name, value] of Object.entries(overrides.answers)) {
    if (!lostWithFrame.has(name) && String(Reflect.get(navigator, name)) === String(value)) continue;
    wrapGetter(prototype, name, Array.isArray(value) ? Object.freeze(value) : value);
  }
  // Headless Chromium reports 0, which hardly any other browser does.
  const { NetworkInformation: network } = globalThis as { NetworkInformation?: { prototype: object } };
  if (network) wrapGetter(network.prototype, 'rtt', 50);
  for (const name of overrides.missing) Reflect.deleteProperty(prototype, name);
  for (const name of overrides.missingGlobals) Reflect.deleteProperty(globalThis, name);
}

/** The vendor and the name of the GPU that WebGL reports (WEBGL_debug_renderer_info). */
export type Gpu = { vendor: string; renderer: string };

/** For pages, frames and workers: WebGL reports the device's GPU and not our software renderer. */
export function overrideGpu(gpu: Gpu, { wrap }: NativeFunctions): void {
  const [VENDOR, RENDERER] = [37_445, 37_446];
  type Context = { prototype: object };
  const scope = globalThis as { WebGLRenderingContext?: Context; WebGL2RenderingContext?: Context };
  for (const context of [scope.WebGLRenderingContext, scope.WebGL2RenderingContext]) {
    if (!context) continue;
    wrap(context.prototype, 'getParameter', (self, name, original) => {
      const own = original(self);
      // null: the page did not ask for the extension.
      if (own === null || (name !== VENDOR && name !== RENDERER)) return own;
      return name === VENDOR ? gpu.vendor : gpu.renderer;
    });
  }
}
