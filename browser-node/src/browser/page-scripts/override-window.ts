import type { WrapGetter } from './wrap-getter.ts';

/** What `window` says where Chromium's own would say otherwise. */
export type WindowOverrides = {
  /** CSS pixels. */
  screen: { width: number; height: number; pixelRatio: number };
  /** Whether `window.chrome` is there: on Chrome and on what is made of it. */
  chrome: boolean;
};

/** For pages and frames. */
export function overrideWindow(overrides: WindowOverrides, wrapGetter: WrapGetter): void {
  const { width, height, pixelRatio } = overrides.screen;
  // Chromium tells cross-site frames the size of the real screen, whatever is emulated.
  if (screen.width !== width || devicePixelRatio !== pixelRatio) {
    for (const name of ['width', 'availWidth']) wrapGetter(Screen.prototype, name, width);
    for (const name of ['height', 'availHeight']) wrapGetter(Screen.prototype, name, height);
    wrapGetter(window, 'devicePixelRatio', pixelRatio);
  }
  if (!overrides.chrome) Reflect.deleteProperty(window, 'chrome');
  if (!overrides.chrome || 'chrome' in window) return;
  const since = performance.timeOrigin;
  const [started, requested] = [Math.round(since), since / 1000];
  const now = performance.now.bind(performance);
  const chrome = {
    app: { isInstalled: false },
    csi: () => ({ onloadT: started, pageT: now(), startE: started, tran: 15 }),
    loadTimes: () => ({ requestTime: requested, startLoadTime: requested, navigationType: 'Other' }),
  };
  Object.defineProperty(window, 'chrome', { value: chrome, writable: true, enumerable: true, configurable: false });
}
