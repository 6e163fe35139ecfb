import type { NativeFunctions } from './native-functions.ts';

/** Who made the graphics processor, and what it is called, as WebGL tells it (WEBGL_debug_renderer_info). */
export type Gpu = { vendor: string; renderer: string };

/** For pages, frames and workers: WebGL names the device's graphics processor and not the software that draws here. */
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
