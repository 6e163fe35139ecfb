import type { Device } from '@adsweep/shared/scan/devices/device.ts';

/** Where a device's windows are, in the pixels of the browser's desktop. */
export type WindowBounds = { left: number; top: number; width: number; height: number };
/** Parameters of CDP's `Emulation.addScreen`, as far as they are used: physical pixels. */
type Screen = WindowBounds & { devicePixelRatio: number };
/** The properties of a device that its screen needs. */
type ScreenOwner = Pick<Device, 'screen' | 'deviceScaleFactor'>;

/**
 * The size of all windows: narrower than any device's screen, and wider than {@link STEP} times the kinds of screens.
 * What a tab emulates does not depend on it.
 */
const WINDOW = { width: 300, height: 300 };
/** How far each screen is to the left of the one before it. */
const STEP = 4;

/**
 * The screens of one browser, one for each size and pixel ratio of devices. Cross-site frames see the screen that their
 * window really is on, whatever is emulated in its tab; images of a `srcset` and media queries depend on it.
 *
 * The screens overlap. A headless Chromium moves the page of a window at `left` by another `left` pixels within the
 * window, and draws the part that is still inside. A page that is wholly outside is not drawn, and gets one animation
 * frame a second instead of sixty. A window counts as being on the screen with which it shares the largest area, and of
 * equal ones on the one that was added first: those added earlier begin farther right and share less, those added later
 * no more.
 */
export class DeviceScreens {
  readonly #add: (screen: Screen) => Promise<unknown>;
  readonly #windows = new Map<string, Promise<WindowBounds | null>>();
  #left = 0;

  /** `add` adds a screen to the browser. */
  constructor(add: (screen: Screen) => Promise<unknown>) {
    this.#add = add;
  }

  /** Where the device's windows are; null where the browser cannot have another screen. */
  windowOn({ screen, deviceScaleFactor }: ScreenOwner): Promise<WindowBounds | null> {
    // Chromium rounds up when it converts back to CSS pixels.
    const size = {
      width: Math.floor(screen.width * deviceScaleFactor),
      height: Math.floor(screen.height * deviceScaleFactor),
      devicePixelRatio: deviceScaleFactor,
    };
    const key = Object.values(size).join(' ');
    const window = this.#windows.get(key) ?? this.#addScreen(size);
    this.#windows.set(key, window);
    return window;
  }

  async #addScreen(size: Omit<Screen, 'left' | 'top'>): Promise<WindowBounds | null> {
    this.#left -= STEP;
    const position = { left: this.#left, top: 0 };
    // Without a screen of its own, only the page scripts emulate the device's screen.
    return this.#add({ ...position, ...size }).then(
      () => ({ ...position, ...WINDOW }),
      () => null,
    );
  }
}
