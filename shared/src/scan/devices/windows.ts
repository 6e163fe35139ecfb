import { type Emulator, GOOGLE, KHTML } from './device.ts';

/**
 * A computer as its maker sells it: id, name, month of release, browser, version of Windows; screen in CSS pixels and
 * device pixels per CSS pixel at the recommended scale, logical processors.
 */
type Row = [
  string,
  string,
  string,
  'chrome' | 'edge',
  10 | 11,
  width: number,
  height: number,
  pixelRatio: number,
  cores: number,
];

const COMPUTERS: Row[] = [
  ['windows_chrome', 'Dell OptiPlex 7010, 24-inch display', '2023-03', 'chrome', 11, 1920, 1080, 1, 12],
  ['windows_edge', 'Lenovo IdeaPad 3 14', '2022-05', 'edge', 11, 1366, 768, 1, 8],
  ['windows_dell_xps_13_chrome', 'Dell XPS 13 (9315)', '2022-06', 'chrome', 11, 1536, 960, 1.25, 12],
  [
    'windows_thinkpad_x1_carbon_11_edge',
    'Lenovo ThinkPad X1 Carbon Gen 11',
    '2023-04',
    'edge',
    11,
    1536,
    960,
    1.25,
    12,
  ],
  ['windows_hp_pavilion_15_chrome', 'HP Pavilion 15', '2022-09', 'chrome', 11, 1536, 864, 1.25, 8],
  ['windows_asus_tuf_a15_chrome', 'ASUS TUF Gaming A15', '2023-02', 'chrome', 11, 1536, 864, 1.25, 16],
  ['windows_acer_aspire_5_chrome', 'Acer Aspire 5', '2021-03', 'chrome', 10, 1536, 864, 1.25, 8],
  ['windows_hp_elitedesk_800_edge', 'HP EliteDesk 800 G6, 27-inch display', '2020-06', 'edge', 10, 2560, 1440, 1, 12],
  [
    'windows_dell_precision_3660_chrome',
    'Dell Precision 3660, 4K display',
    '2022-08',
    'chrome',
    11,
    2560,
    1440,
    1.5,
    20,
  ],
];

/** Heights in CSS pixels: of the taskbar, by version of Windows, and of what the browser has above a page. */
const TASKBARS = { 10: 40, 11: 48 };
const BROWSER_BARS = 87;
/** Versions of Windows as client hints number them. */
const PLATFORM_VERSIONS = { 10: '10.0.0', 11: '15.0.0' };
const AGENT = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/{major}.0.0.0 Safari/537.36`;

/** The graphics processor that most computers with Windows have, as Chrome and Edge name it. */
const INTEL_GPU = {
  vendor: 'Google Inc. (Intel)',
  renderer: 'ANGLE (Intel, Intel(R) UHD Graphics (0x00009B41) Direct3D11 vs_5_0 ps_5_0, D3D11)',
};

export const windowsComputers: Emulator[] = COMPUTERS.map(
  ([id, name, released, browser, windows, width, height, deviceScaleFactor, cores]) => ({
    id,
    display_name: `${name}, Windows ${windows}, ${browser === 'edge' ? 'Edge' : 'Chrome'}`,
    category: 'windows_desktop',
    browser,
    released,
    device: {
      userAgent: browser === 'edge' ? `${AGENT} Edg/{major}.0.0.0` : AGENT,
      platform: 'Win32',
      vendor: GOOGLE,
      viewport: { width, height: height - TASKBARS[windows] - BROWSER_BARS },
      screen: { width, height },
      workArea: { top: 0, height: height - TASKBARS[windows] },
      deviceScaleFactor,
      mobile: false,
      maxTouchPoints: 0,
      cores,
      gpu: INTEL_GPU,
      clientHints: {
        brand: browser === 'edge' ? 'Microsoft Edge' : 'Google Chrome',
        platform: 'Windows',
        platformVersion: PLATFORM_VERSIONS[windows],
        architecture: 'x86',
        bitness: '64',
        model: '',
        mobile: false,
      },
    },
  }),
);
