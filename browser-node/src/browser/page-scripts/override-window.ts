import type { NativeFunctions } from './native-functions.ts';

/** The properties of `window` that differ from Chromium's own. */
export type WindowOverrides = {
  /** CSS pixels. */
  screen: { width: number; height: number; pixelRatio: number; workArea: { top: number; height: number } };
  /** Size of windows in CSS pixels. Cross-site frames see 0 until Chromium has told their process. */
  outer: { width: number; height: number };
  /** Left edge of windows on the browser's desktop, in its pixels. */
  windowLeft: number;
  /** Top edge of pages on the device's screen, below the browser's bars. */
  contentTop: number;
  /** Whether `window.chrome` exists: in Chromium-based browsers. */
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
  // Cross-site frames see the size of the screen that their window is on, whatever is emulated.
  if (screen.width !== width || devicePixelRatio !== pixelRatio) {
    wrapGetter(Screen.prototype, 'width', width);
    wrapGetter(Screen.prototype, 'height', height);
    wrapGetter(window, 'devicePixelRatio', pixelRatio);
  }
  // Our browser's desktop has a screen for each kind of device; to a page its screen is the only one and starts at 0.
  const available = { availLeft: 0, availTop: workArea.top, availWidth: width, availHeight: workArea.height };
  for (const [name, value] of Object.entries(available))
    if (Reflect.get(screen, name) !== value) wrapGetter(Screen.prototype, name, value);
  const corner = { screenX: 0, screenLeft: 0, screenY: workArea.top, screenTop: workArea.top };
  const outer = { outerWidth: overrides.outer.width, outerHeight: overrides.outer.height };
  for (const [name, value] of Object.entries({ ...corner, ...outer }))
    if (Reflect.get(window, name) !== value || !isOfTopSite()) wrapGetter(window, name, value);
  wrapGetter(Screen.prototype, 'isExtended', false);
  const { apply, getOwnPropertyDescriptor } = Reflect;
  // A window that moves out of our browser's desktop is not drawn. Window managers may refuse to move one.
  const { moveBy } = window;
  for (const name of ['moveTo', 'moveBy'])
    wrap(window, name, (self, first, original, all) =>
      all.length < 2 ? original(self) : apply(moveBy, self, [0 * +(first as number), 0 * +(all[1] as number)]),
    );
  // Events of user input have positions on our browser's desktop; those that a page makes have their own, and those of
  // keys 0.
  const moveToScreen = (owner: object, isOfInput: (self: unknown) => boolean) => {
    const move = (name: string, by: number) =>
      wrap(owner, name, (self, _, original) => {
        const place = original(self) as number;
        return isOfInput(self) ? place + by : place;
      });
    move('screenX', -overrides.windowLeft);
    move('screenY', overrides.contentTop);
  };
  const getterOf = (owner: object, name: string) => {
    const get = getOwnPropertyDescriptor(owner, name)?.get;
    return (self: unknown) => get && apply(get, self, []);
  };
  const [xOf, yOf] = [getterOf(MouseEvent.prototype, 'screenX'), getterOf(MouseEvent.prototype, 'screenY')];
  moveToScreen(MouseEvent.prototype, (self) => {
    return (self as MouseEvent).isTrusted && (xOf(self) !== 0 || yOf(self) !== 0);
  });
  if ('Touch' in window) {
    // A page gets the touches of input by these lists alone.
    const touches = new WeakSet<object>();
    const [add, has] = [touches.add.bind(touches), touches.has.bind(touches)];
    const lengthOf = getterOf(TouchList.prototype, 'length');
    for (const name of ['touches', 'targetTouches', 'changedTouches'])
      wrap(TouchEvent.prototype, name, (self, _, original) => {
        const list = original(self) as TouchList;
        if ((self as TouchEvent).isTrusted)
          for (let index = 0; index < lengthOf(list); index++) add(list[index] as Touch);
        return list;
      });
    moveToScreen(Touch.prototype, (self) => has(self as object));
  }
  // Headless Chromium reports notifications as denied although nobody was asked; cross-site frames are denied in every
  // browser.
  if (isSecureContext && 'Notification' in window && isOfTopSite()) wrapGetter(Notification, 'permission', 'default');
  if (!overrides.chrome) Reflect.deleteProperty(window, 'chrome');
  if (!overrides.chrome || 'chrome' in window) return;
  const since = performance.timeOrigin;
  const [started, requested] = [Math.round(since), since / 1000];
  const now = performance.now.bind(performance);
  /** Prints as native code and has no name, like Chrome's own functions. */
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
