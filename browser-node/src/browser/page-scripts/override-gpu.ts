/** Who made the graphics processor, and what it is called, as WebGL tells it (WEBGL_debug_renderer_info). */
export type Gpu = { vendor: string; renderer: string };

/** For pages, frames and workers: WebGL names the device's graphics processor and not the software that draws here. */
export function overrideGpu(gpu: Gpu): void {
  const [VENDOR, RENDERER] = [37_445, 37_446];
  const { apply } = Reflect;
  type Context = { prototype: object };
  const scope = globalThis as { WebGLRenderingContext?: Context; WebGL2RenderingContext?: Context };
  for (const context of [scope.WebGLRenderingContext, scope.WebGL2RenderingContext]) {
    const property = context && Object.getOwnPropertyDescriptor(context.prototype, 'getParameter');
    if (!property) continue;
    // Without a prototype: a page can add traps to `Object.prototype`.
    const traps: ProxyHandler<(name: number) => unknown> = Object.create(null);
    traps.apply = (getParameter, self, args: [number]) => {
      const answer = apply(getParameter, self, args);
      // null: the page did not ask for the extension.
      if (answer === null || (args[0] !== VENDOR && args[0] !== RENDERER)) return answer;
      return args[0] === VENDOR ? gpu.vendor : gpu.renderer;
    };
    const value = new Proxy(property.value, traps);
    Object.defineProperty(context.prototype, 'getParameter', { ...property, value });
  }
}
