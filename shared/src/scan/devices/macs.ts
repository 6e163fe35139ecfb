import { APPLE, APPLE_GPU, type Emulator, type EmulatorBrowser, GOOGLE, KHTML, WEBKIT } from './device.ts';

/**
 * A computer as Apple sells it: id, name, month of release, browser, its macOS; its screen in CSS pixels at the default
 * scale, and the height of its menu bar, which is as high as the camera's notch where there is one.
 */
type Row = [
  string,
  string,
  string,
  EmulatorBrowser & ('chrome' | 'safari'),
  macos: string,
  width: number,
  height: number,
  menuBar: 25 | 38,
];

const MACS: Row[] = [
  ['macos_chrome', 'MacBook Air 13-inch (M1)', '2020-11', 'chrome', '14.6.1', 1440, 900, 25],
  ['macos_safari', 'MacBook Pro 14-inch (M3)', '2023-11', 'safari', '14.6.1', 1512, 982, 38],
  ['macos_macbook_air_13_m2_chrome', 'MacBook Air 13-inch (M2)', '2022-07', 'chrome', '14.6.1', 1470, 956, 38],
  ['macos_macbook_air_13_m2_safari', 'MacBook Air 13-inch (M2)', '2022-07', 'safari', '14.6.1', 1470, 956, 38],
  ['macos_macbook_air_15_m2_chrome', 'MacBook Air 15-inch (M2)', '2023-06', 'chrome', '14.6.1', 1710, 1107, 38],
  ['macos_macbook_pro_14_m3_chrome', 'MacBook Pro 14-inch (M3)', '2023-11', 'chrome', '15.5.0', 1512, 982, 38],
  ['macos_macbook_pro_16_m1_safari', 'MacBook Pro 16-inch (M1 Pro)', '2021-10', 'safari', '14.6.1', 1728, 1117, 38],
  ['macos_imac_24_m1_chrome', 'iMac 24-inch (M1)', '2021-05', 'chrome', '14.6.1', 2240, 1260, 25],
];

/** Height in CSS pixels of what the browser has above a page. */
const BROWSER_BARS = { chrome: 87, safari: 85 };
// Both browsers call every macOS 10.15.7 on Intel since it is no more: the client hints know better.
const SYSTEM = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const AGENTS = {
  chrome: `${SYSTEM} ${KHTML} Chrome/{major}.0.0.0 Safari/537.36`,
  safari: `${SYSTEM} ${WEBKIT} Version/17.6 Safari/605.1.15`,
};

/** The graphics processor of an Apple chip as Chrome names it. */
const metal = (chip: string) => ({
  vendor: 'Google Inc. (Apple)',
  renderer: `ANGLE (Apple, ANGLE Metal Renderer: Apple ${chip}, Unspecified Version)`,
});

export const macs: Emulator[] = MACS.map(([id, name, released, browser, macos, width, height, menuBar]) => ({
  id,
  display_name: `${name}, ${browser === 'chrome' ? 'Chrome' : 'Safari'}`,
  category: 'macos_desktop',
  browser,
  released,
  device: {
    userAgent: AGENTS[browser],
    platform: 'MacIntel',
    vendor: browser === 'chrome' ? GOOGLE : APPLE,
    viewport: { width, height: height - menuBar - BROWSER_BARS[browser] },
    screen: { width, height },
    workArea: { top: menuBar, height: height - menuBar },
    deviceScaleFactor: 2,
    mobile: false,
    maxTouchPoints: 0,
    cores: 8,
    gpu: browser === 'safari' ? APPLE_GPU : metal(/\((M\d)\)/.exec(name)?.[1] ?? 'M1'),
    clientHints:
      browser === 'safari'
        ? null
        : {
            brand: 'Google Chrome',
            platform: 'macOS',
            platformVersion: macos,
            architecture: 'arm',
            bitness: '64',
            model: '',
            mobile: false,
          },
  },
}));
