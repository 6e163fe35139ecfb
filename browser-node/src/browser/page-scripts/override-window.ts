import type { NativeFunctions } from './native-functions.ts';

/** What `window` says where Chromium's own would say otherwise. */
export type WindowOverrides = {
  /** CSS pixels. */
  screen: { width: number; height: number; pixelRatio: number; workArea: { top: number; height: number } };
  /** Whether windows fill the work area of the screen. */
  maximized: boolean;
  /** Where windows begin on the browser's desktop, in its pixels. */
  windowLeft: number;
  /** Where pages begin on the device's screen, below the bars of its browser. */
  contentTop: number;
  /** Whether `window.chrome` is there: on Chrome and on what is made of it. */
  chrome: boolean;
};

/** For pages and frames. */
export function overrideWindow(overrides: WindowOverrides, { wrap, wrapGetter }: NativeFunctions): void {
  const isOfTopSite = () => {
    try {
      return Boolean(top?.document);
    } catch {
      return false;
    }
  };
  const { width, height, pixelRatio, workArea } = overrides.screen;
  // Chromium tells cross-site frames the size of the screen their window is on, whatever is emulated.
  if (screen.width !== width || devicePixelRatio !== pixelRatio) {
    wrapGetter(Screen.prototype, 'width', width);
    wrapGetter(Screen.prototype, 'height', height);
    wrapGetter(window, 'devicePixelRatio', pixelRatio);
  }
  // The desktop of our browser has a screen for each kind of device: to its page it is the only one, and begins at 0.
  const available = { availLeft: 0, availTop: workArea.top, availWidth: width, availHeight: workArea.height };
  for (const [name, value] of Object.entries(available))
    if (Reflect.get(screen, name) !== value) wrapGetter(Screen.prototype, name, value);
  const corner = { screenX: 0, screenLeft: 0, screenY: workArea.top, screenTop: workArea.top };
  const outer = overrides.maximized ? { outerWidth: width, outerHeight: workArea.height } : {};
  for (const [name, value] of Object.entries({ ...corner, ...outer }))
    if (Reflect.get(window, name) !== value || !isOfTopSite()) wrapGetter(window, name, value);
  wrapGetter(Screen.prototype, 'isExtended', false);
  // What a user does is told with its place on the desktop of our browser; what a script made up, and keys, with what it says or 0.
  const moveToScreen = (owner: object, isTrusted: (self: unknown) => boolean) => {
    const leftOf = Reflect.getOwnPropertyDescriptor(owner, 'screenX')?.get;
    const isPlaced = (self: unknown) => isTrusted(self) && leftOf?.call(self) >= overrides.windowLeft;
    const move = (name: string, by: number) =>
      wrap(owner, name, (self, _, original) => {
        const place = original(self) as number;
        return isPlaced(self) ? place + by : place;
      });
    move('screenX', -overrides.windowLeft);
    move('screenY', overrides.contentTop);
  };
  moveToScreen(MouseEvent.prototype, (self) => (self as MouseEvent).isTrusted);
  if ('Touch' in window) moveToScreen(Touch.prototype, () => true);
  // Headless Chromium says that notifications were refused, and that nobody was asked; frames of other sites are refused by every browser.
  if (isSecureContext && 'Notification' in window && isOfTopSite()) wrapGetter(Notification, 'permission', 'default');
  if (!overrides.chrome) Reflect.deleteProperty(window, 'chrome');
  if (!overrides.chrome || 'chrome' in window) return;
  const since = performance.timeOrigin;
  const [started, requested] = [Math.round(since), since / 1000];
  const now = performance.now.bind(performance);
  /** Prints as native code and has no name, as those of Chrome. */
  const native = (run: () => object) => Object.defineProperty(run.bind(undefined), 'name', { value: '' });
  const chrome = {
    app: { isInstalled: false },
    csi: native(() => ({ onloadT: started, pageT: now(), startE: started, tran: 15 })),
    loadTimes: native(() => ({
      requestTime: requested,
      startLoadTime: requested,
      commitLoadTime: requested,
      finishDocumentLoadTime: 0,
      finishLoadTime: 0,
      firstPaintTime: 0,
      firstPaintAfterLoadTime: 0,
      navigationType: 'Other',
      wasFetchedViaSpdy: false,
      wasNpnNegotiated: false,
      npnNegotiatedProtocol: 'unknown',
      wasAlternateProtocolAvailable: false,
      connectionInfo: 'http/1.1',
    })),
  };
  Object.defineProperty(window, 'chrome', { value: chrome, writable: true, enumerable: true, configurable: false });
}
