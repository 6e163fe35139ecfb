import type { Device } from '@adsweep/shared/scan/devices/device.ts';

/** Where the windows of a device stand, in the pixels of the browser's desktop. */
export type WindowPlace = { left: number; top: number };
/** Parameters of CDP's `Emulation.addScreen`, as far as they are used: physical pixels. */
type Screen = WindowPlace & { width: number; height: number; devicePixelRatio: number };
/** What is needed of a device. */
type ScreenOwner = Pick<Device, 'screen' | 'deviceScaleFactor'>;

/** Right of the screen that headless Chromium has by itself. */
const FIRST_LEFT = 2_000;

/**
 * The screens of one browser, one for each size and pixel ratio that devices have. Chromium tells frames of other sites of the screen that
 * their window really is on, whatever is emulated in its tab: pictures of a `srcset` and media queries follow from it.
 */
export class DeviceScreens {
  readonly #add: (screen: Screen) => Promise<unknown>;
  readonly #places = new Map<string, Promise<WindowPlace | null>>();
  #nextLeft = FIRST_LEFT;

  /** `add` adds a screen to the browser. */
  constructor(add: (screen: Screen) => Promise<unknown>) {
    this.#add = add;
  }

  /** Where windows of the device belong; null where the browser can have no further screen. */
  placeOf({ screen, deviceScaleFactor }: ScreenOwner): Promise<WindowPlace | null> {
    // Chromium rounds up when it goes back to CSS pixels.
    const size = {
      width: Math.floor(screen.width * deviceScaleFactor),
      height: Math.floor(screen.height * deviceScaleFactor),
      devicePixelRatio: deviceScaleFactor,
    };
    const key = Object.values(size).join(' ');
    const place = this.#places.get(key) ?? this.#place(size);
    this.#places.set(key, place);
    return place;
  }

  async #place(size: Omit<Screen, 'left' | 'top'>): Promise<WindowPlace | null> {
    const place = { left: this.#nextLeft, top: 0 };
    this.#nextLeft += size.width;
    // Without a screen of its own, a device is what the scripts in its pages say.
    return this.#add({ ...place, ...size }).then(
      () => place,
      () => null,
    );
  }
}
