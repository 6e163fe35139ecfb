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
 * What a page can learn of a device; all of it tells one story. Sizes in CSS pixels. `{major}` in `userAgent` stands for the major
 * version of the Chromium that really runs, so that the user agent, the client hints and the engine agree. `clientHints` null: a
 * browser that has none (Safari).
 */
export type Device = {
  userAgent: string;
  platform: string;
  vendor: string;
  viewport: { width: number; height: number };
  screen: { width: number; height: number };
  deviceScaleFactor: number;
  mobile: boolean;
  maxTouchPoints: number;
  clientHints: ClientHints | null;
};

/** A device and browser that a scan can ask for (`emulator_id`, spec 2.1). */
export type Emulator = {
  id: string;
  display_name: string;
  category: EmulatorCategory;
  browser: EmulatorBrowser;
  device: Device;
};

const GOOGLE = 'Google Inc.';
const APPLE = 'Apple Computer, Inc.';
const KHTML = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

const windows = (brand: string): ClientHints => ({
  brand,
  platform: 'Windows',
  platformVersion: '15.0.0',
  architecture: 'x86',
  bitness: '64',
  model: '',
  mobile: false,
});

const android = (model: string, platformVersion: string, mobile: boolean): ClientHints => ({
  brand: 'Google Chrome',
  platform: 'Android',
  platformVersion,
  architecture: '',
  bitness: '',
  model,
  mobile,
});

// Chrome on Android names neither its model nor its Android in the user agent any more: the client hints do.
const ANDROID = { platform: 'Linux armv81', vendor: GOOGLE, mobile: true, maxTouchPoints: 5 };
const ANDROID_PHONE = {
  ...ANDROID,
  userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${KHTML} Chrome/{major}.0.0.0 Mobile Safari/537.36`,
};
const ANDROID_TABLET = {
  ...ANDROID,
  userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${KHTML} Chrome/{major}.0.0.0 Safari/537.36`,
};
const IPHONE = {
  userAgent: `Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) ${WEBKIT} Version/17.6 Mobile/15E148 Safari/604.1`,
  platform: 'iPhone',
  vendor: APPLE,
  mobile: true,
  maxTouchPoints: 5,
  clientHints: null,
};
const IPAD = {
  ...IPHONE,
  userAgent: `Mozilla/5.0 (iPad; CPU OS 17_6_1 like Mac OS X) ${WEBKIT} Version/17.6 Mobile/15E148 Safari/604.1`,
  platform: 'iPad',
};
const DESKTOP = { deviceScaleFactor: 1, mobile: false, maxTouchPoints: 0 };
const WINDOWS_AGENT = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/{major}.0.0.0 Safari/537.36`;

/** Every emulator a scan can ask for, in the order they are listed. */
export const EMULATORS: readonly Emulator[] = [
  {
    id: 'windows_chrome',
    display_name: 'Windows 11, Chrome',
    category: 'windows_desktop',
    browser: 'chrome',
    device: {
      ...DESKTOP,
      userAgent: WINDOWS_AGENT,
      platform: 'Win32',
      vendor: GOOGLE,
      viewport: { width: 1920, height: 945 },
      screen: { width: 1920, height: 1080 },
      clientHints: windows('Google Chrome'),
    },
  },
  {
    id: 'windows_edge',
    display_name: 'Windows 11, Edge',
    category: 'windows_desktop',
    browser: 'edge',
    device: {
      ...DESKTOP,
      userAgent: `${WINDOWS_AGENT} Edg/{major}.0.0.0`,
      platform: 'Win32',
      vendor: GOOGLE,
      viewport: { width: 1366, height: 633 },
      screen: { width: 1366, height: 768 },
      clientHints: windows('Microsoft Edge'),
    },
  },
  {
    id: 'macos_chrome',
    display_name: 'macOS, Chrome',
    category: 'macos_desktop',
    browser: 'chrome',
    device: {
      ...DESKTOP,
      userAgent: `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${KHTML} Chrome/{major}.0.0.0 Safari/537.36`,
      platform: 'MacIntel',
      vendor: GOOGLE,
      viewport: { width: 1440, height: 789 },
      screen: { width: 1440, height: 900 },
      deviceScaleFactor: 2,
      clientHints: {
        brand: 'Google Chrome',
        platform: 'macOS',
        platformVersion: '14.6.1',
        architecture: 'arm',
        bitness: '64',
        model: '',
        mobile: false,
      },
    },
  },
  {
    id: 'macos_safari',
    display_name: 'macOS, Safari',
    category: 'macos_desktop',
    browser: 'safari',
    device: {
      ...DESKTOP,
      userAgent: `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/17.6 Safari/605.1.15`,
      platform: 'MacIntel',
      vendor: APPLE,
      viewport: { width: 1512, height: 859 },
      screen: { width: 1512, height: 982 },
      deviceScaleFactor: 2,
      clientHints: null,
    },
  },
  {
    id: 'android_phone_pixel_8',
    display_name: 'Google Pixel 8, Chrome',
    category: 'android_phone',
    browser: 'chrome',
    device: {
      ...ANDROID_PHONE,
      viewport: { width: 412, height: 785 },
      screen: { width: 412, height: 915 },
      deviceScaleFactor: 2.625,
      clientHints: android('Pixel 8', '14.0.0', true),
    },
  },
  {
    id: 'android_phone_galaxy_s24',
    display_name: 'Samsung Galaxy S24, Chrome',
    category: 'android_phone',
    browser: 'chrome',
    device: {
      ...ANDROID_PHONE,
      viewport: { width: 360, height: 668 },
      screen: { width: 360, height: 780 },
      deviceScaleFactor: 3,
      clientHints: android('SM-S921B', '14.0.0', true),
    },
  },
  {
    id: 'android_tablet_galaxy_tab_s9',
    display_name: 'Samsung Galaxy Tab S9, Chrome',
    category: 'android_tablet',
    browser: 'chrome',
    device: {
      ...ANDROID_TABLET,
      viewport: { width: 800, height: 1144 },
      screen: { width: 800, height: 1280 },
      deviceScaleFactor: 2,
      clientHints: android('SM-X710', '14.0.0', false),
    },
  },
  {
    id: 'iphone_15',
    display_name: 'iPhone 15, Safari',
    category: 'iphone',
    browser: 'safari',
    device: {
      ...IPHONE,
      viewport: { width: 393, height: 659 },
      screen: { width: 393, height: 852 },
      deviceScaleFactor: 3,
    },
  },
  {
    id: 'iphone_se',
    display_name: 'iPhone SE, Safari',
    category: 'iphone',
    browser: 'safari',
    device: {
      ...IPHONE,
      viewport: { width: 375, height: 553 },
      screen: { width: 375, height: 667 },
      deviceScaleFactor: 2,
    },
  },
  {
    id: 'ipad_10',
    display_name: 'iPad (10th generation), Safari',
    category: 'ipad',
    browser: 'safari',
    device: {
      ...IPAD,
      viewport: { width: 820, height: 1106 },
      screen: { width: 820, height: 1180 },
      deviceScaleFactor: 2,
    },
  },
];

const BY_ID = new Map(EMULATORS.map((emulator) => [emulator.id, emulator]));

/** The emulator of that id, null where there is none. */
export const findEmulator = (id: string): Emulator | null => BY_ID.get(id) ?? null;
