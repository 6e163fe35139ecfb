import type { Device } from '@adsweep/shared/scan/devices/device.ts';

/** The position of a device's windows, in the pixels of the browser's desktop. */
export type WindowPosition = { left: number; top: number };
/** Parameters of CDP's `Emulation.addScreen`, as far as they are used: physical pixels. */
type Screen = WindowPosition & { width: number; height: number; devicePixelRatio: number };
/** The properties of a device that its screen needs. */
type ScreenOwner = Pick<Device, 'screen' | 'deviceScaleFactor'>;

/** Right of headless Chromium's default screen. */
const FIRST_LEFT = 2_000;

/**
 * The screens of one browser, one for each size and pixel ratio of devices. Cross-site frames see the screen that their window really is on,
 * whatever is emulated in its tab; images of a `srcset` and media queries depend on it.
 */
export class DeviceScreens {
  readonly #add: (screen: Screen) => Promise<unknown>;
  readonly #positions = new Map<string, Promise<WindowPosition | null>>();
  #nextLeft = FIRST_LEFT;

  /** `add` adds a screen to the browser. */
  constructor(add: (screen: Screen) => Promise<unknown>) {
    this.#add = add;
  }

  /** The position of the device's windows; null where the browser cannot have another screen. */
  positionOf({ screen, deviceScaleFactor }: ScreenOwner): Promise<WindowPosition | null> {
    // Chromium rounds up when it converts back to CSS pixels.
    const size = {
      width: Math.floor(screen.width * deviceScaleFactor),
      height: Math.floor(screen.height * deviceScaleFactor),
      devicePixelRatio: deviceScaleFactor,
    };
    const key = Object.values(size).join(' ');
    const position = this.#positions.get(key) ?? this.#addScreen(size);
    this.#positions.set(key, position);
    return position;
  }

  async #addScreen(size: Omit<Screen, 'left' | 'top'>): Promise<WindowPosition | null> {
    const position = { left: this.#nextLeft, top: 0 };
    this.#nextLeft += size.width;
    // Without a screen of its own, only the page scripts emulate the device's screen.
    return this.#add({ ...position, ...size }).then(
      () => position,
      () => null,
    );
  }
}
