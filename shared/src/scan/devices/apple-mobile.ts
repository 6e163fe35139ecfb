import { APPLE, APPLE_GPU, type Emulator, WEBKIT } from './device.ts';

/**
 * A device as Apple sells it: id, name, month of release; screen in CSS pixels, what Safari's and the system's bars
 * take of its height, and device pixels per CSS pixel.
 */
type Row = [string, string, string, width: number, height: number, bars: number, pixelRatio: number];

const IPHONES: Row[] = [
  ['15', 'iPhone 15', '2023-09', 393, 852, 193, 3],
  ['se', 'iPhone SE (3rd generation)', '2022-03', 375, 667, 114, 2],
  ['16', 'iPhone 16', '2024-09', 393, 852, 193, 3],
  ['16_plus', 'iPhone 16 Plus', '2024-09', 430, 932, 193, 3],
  ['16_pro', 'iPhone 16 Pro', '2024-09', 402, 874, 193, 3],
  ['16_pro_max', 'iPhone 16 Pro Max', '2024-09', 440, 956, 193, 3],
  ['15_plus', 'iPhone 15 Plus', '2023-09', 430, 932, 193, 3],
  ['15_pro', 'iPhone 15 Pro', '2023-09', 393, 852, 193, 3],
  ['15_pro_max', 'iPhone 15 Pro Max', '2023-09', 430, 932, 193, 3],
  ['14', 'iPhone 14', '2022-09', 390, 844, 180, 3],
  ['14_plus', 'iPhone 14 Plus', '2022-10', 428, 926, 180, 3],
  ['14_pro', 'iPhone 14 Pro', '2022-09', 393, 852, 192, 3],
  ['14_pro_max', 'iPhone 14 Pro Max', '2022-09', 430, 932, 192, 3],
  ['13', 'iPhone 13', '2021-09', 390, 844, 180, 3],
  ['13_mini', 'iPhone 13 mini', '2021-09', 375, 812, 183, 3],
  ['12', 'iPhone 12', '2020-10', 390, 844, 180, 3],
  ['11', 'iPhone 11', '2019-09', 414, 896, 181, 2],
];

const IPADS: Row[] = [
  ['10', 'iPad (10th generation)', '2022-10', 820, 1180, 74, 2],
  ['9', 'iPad (9th generation)', '2021-09', 810, 1080, 70, 2],
  ['mini_6', 'iPad mini (6th generation)', '2021-09', 744, 1133, 74, 2],
  ['air_5', 'iPad Air (5th generation)', '2022-03', 820, 1180, 74, 2],
  ['air_13_m2', 'iPad Air 13-inch (M2)', '2024-05', 1024, 1366, 74, 2],
  ['pro_11_4', 'iPad Pro 11-inch (4th generation)', '2022-10', 834, 1194, 74, 2],
  ['pro_12_6', 'iPad Pro 12.9-inch (6th generation)', '2022-10', 1024, 1366, 74, 2],
  ['pro_11_m4', 'iPad Pro 11-inch (M4)', '2024-05', 834, 1210, 74, 2],
];

/** Devices that came out with iOS 18 have it; the others have the last one before it. */
const FIRST_WITH_18 = '2024-06';

export const iphones: Emulator[] = IPHONES.map((row) => emulatorOf('iphone', row));
export const ipads: Emulator[] = IPADS.map((row) => emulatorOf('ipad', row));

function emulatorOf(category: 'iphone' | 'ipad', row: Row): Emulator {
  const [id, name, released, width, height, bars, deviceScaleFactor] = row;
  return {
    id: `${category}_${id}`,
    display_name: `${name}, Safari`,
    category,
    browser: 'safari',
    released,
    device: {
      userAgent: userAgent(category, released >= FIRST_WITH_18 ? '18.5' : '17.6.1'),
      platform: category === 'iphone' ? 'iPhone' : 'iPad',
      vendor: APPLE,
      viewport: { width, height: height - bars },
      screen: { width, height },
      workArea: { top: 0, height },
      deviceScaleFactor,
      mobile: true,
      maxTouchPoints: 5,
      cores: category === 'iphone' ? 4 : 8,
      gpu: APPLE_GPU,
      clientHints: null,
    },
  };
}

/** Safari names the system's version with two numbers of its own. */
function userAgent(category: 'iphone' | 'ipad', ios: string): string {
  const device = category === 'iphone' ? 'iPhone; CPU iPhone OS' : 'iPad; CPU OS';
  const version = ios.split('.').slice(0, 2).join('.');
  return `Mozilla/5.0 (${device} ${ios.replaceAll('.', '_')} like Mac OS X) ${WEBKIT} Version/${version} Mobile/15E148 Safari/604.1`;
}
