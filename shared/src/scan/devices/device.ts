/** What a device is, as `EmulatorCategory` of the API. */
export const EMULATOR_CATEGORIES = [
  'android_phone',
  'android_tablet',
  'iphone',
  'ipad',
  'windows_desktop',
  'macos_desktop',
] as const;
export type EmulatorCategory = (typeof EMULATOR_CATEGORIES)[number];
export type EmulatorBrowser = 'chrome' | 'edge' | 'safari';

/** User-agent client hints of a Chromium-based browser; brands follow from `brand` and the real Chromium's version. */
export type ClientHints = {
  brand: string;
  platform: string;
  platformVersion: string;
  architecture: string;
  bitness: string;
  model: string;
  mobile: boolean;
};

/**
 * What a page can learn of a device; all values are consistent. Sizes in CSS pixels. `{major}` in `userAgent` stands
 * for the major version of the Chromium that really runs, so that the user agent, the client hints and the engine
 * agree. `clientHints` null: a browser that has none (Safari).
 */
export type Device = {
  userAgent: string;
  platform: string;
  vendor: string;
  viewport: { width: number; height: number };
  screen: { width: number; height: number };
  /** The part of the screen's height without menu bar and taskbar. Desktop windows fill it. */
  workArea: { top: number; height: number };
  deviceScaleFactor: number;
  mobile: boolean;
  maxTouchPoints: number;
  /** `navigator.hardwareConcurrency`, as the browser reports it. */
  cores: number;
  /** The vendor and name of the GPU, as WebGL reports them. */
  gpu: { vendor: string; renderer: string };
  clientHints: ClientHints | null;
};

/**
 * A device and browser that a scan can use (`emulator_id`, spec 2.1); `released`: the month in which the device came
 * out.
 */
export type Emulator = {
  id: string;
  display_name: string;
  category: EmulatorCategory;
  browser: EmulatorBrowser;
  released: string;
  device: Device;
};

/** `navigator.vendor` of Chromium-based browsers, and of Safari. */
export const GOOGLE = 'Google Inc.';
export const APPLE = 'Apple Computer, Inc.';
/** The engines' part of a user agent. */
export const KHTML = 'AppleWebKit/537.36 (KHTML, like Gecko)';
export const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

/** The GPU that Safari reports, whatever it is. */
export const APPLE_GPU = { vendor: 'Apple Inc.', renderer: 'Apple GPU' };
