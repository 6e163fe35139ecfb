import { type Device, type Emulator, GOOGLE, KHTML } from './device.ts';

/**
 * A device as its maker sells it: id, name, month of release, model as client hints name it, version of Android; screen
 * in CSS pixels and device pixels per CSS pixel at its default display size.
 */
type Row = [string, string, string, string, number, width: number, height: number, pixelRatio: number];

const PHONES: Row[] = [
  ['pixel_8', 'Google Pixel 8', '2023-10', 'Pixel 8', 14, 412, 915, 2.625],
  ['galaxy_s24', 'Samsung Galaxy S24', '2024-01', 'SM-S921B', 14, 360, 780, 3],
  ['pixel_9', 'Google Pixel 9', '2024-08', 'Pixel 9', 15, 412, 924, 2.625],
  ['pixel_8_pro', 'Google Pixel 8 Pro', '2023-10', 'Pixel 8 Pro', 14, 448, 998, 3],
  ['pixel_7a', 'Google Pixel 7a', '2023-05', 'Pixel 7a', 14, 412, 915, 2.625],
  ['pixel_7', 'Google Pixel 7', '2022-10', 'Pixel 7', 14, 412, 915, 2.625],
  ['pixel_6a', 'Google Pixel 6a', '2022-07', 'Pixel 6a', 13, 412, 915, 2.625],
  ['galaxy_s25', 'Samsung Galaxy S25', '2025-02', 'SM-S931B', 15, 360, 780, 3],
  ['galaxy_s23', 'Samsung Galaxy S23', '2023-02', 'SM-S911B', 14, 360, 780, 3],
  ['galaxy_s22', 'Samsung Galaxy S22', '2022-02', 'SM-S901B', 14, 360, 780, 3],
  ['galaxy_a54', 'Samsung Galaxy A54 5G', '2023-03', 'SM-A546B', 14, 384, 832, 2.8125],
  ['galaxy_a15', 'Samsung Galaxy A15', '2023-12', 'SM-A155F', 14, 384, 832, 2.8125],
  ['redmi_note_13', 'Xiaomi Redmi Note 13 4G', '2024-01', '23129RAA4G', 14, 393, 873, 2.75],
  ['redmi_note_12', 'Xiaomi Redmi Note 12 4G', '2023-03', '23021RAAEG', 13, 393, 873, 2.75],
  ['xiaomi_13', 'Xiaomi 13', '2023-02', '2211133G', 14, 393, 873, 2.75],
  ['oneplus_12', 'OnePlus 12', '2024-01', 'CPH2581', 14, 360, 792, 3],
  ['moto_g84', 'Motorola moto g84 5G', '2023-09', 'moto g84 5G', 14, 412, 915, 2.625],
];

const TABLETS: Row[] = [
  ['galaxy_tab_s9', 'Samsung Galaxy Tab S9', '2023-08', 'SM-X710', 14, 800, 1280, 2],
  ['galaxy_tab_s9_ultra', 'Samsung Galaxy Tab S9 Ultra', '2023-08', 'SM-X910', 14, 924, 1480, 2],
  ['galaxy_tab_s8', 'Samsung Galaxy Tab S8', '2022-02', 'SM-X700', 14, 800, 1280, 2],
  ['galaxy_tab_a9_plus', 'Samsung Galaxy Tab A9+', '2023-10', 'SM-X210', 14, 800, 1280, 1.5],
  ['galaxy_tab_a8', 'Samsung Galaxy Tab A8', '2021-12', 'SM-X200', 13, 800, 1280, 1.5],
  ['pixel_tablet', 'Google Pixel Tablet', '2023-06', 'Pixel Tablet', 14, 800, 1280, 2],
  ['xiaomi_pad_6', 'Xiaomi Pad 6', '2023-04', '23043RP34G', 14, 800, 1280, 2.25],
];

/** What the status bar, Chrome's own bar and the navigation bar take of the screen's height, in CSS pixels. */
const [BARS_OF_PHONE, BARS_OF_COMPACT_PHONE, BARS_OF_TABLET] = [130, 112, 136];

/**
 * Phones with Google's, Samsung's or MediaTek's chips that have a graphics processor of ARM's; the others have
 * Qualcomm's.
 */
const MALI = new Map([
  ['Pixel 9', 'Mali-G715'],
  ['Pixel 8', 'Mali-G715'],
  ['Pixel 8 Pro', 'Mali-G715'],
  ['Pixel 7', 'Mali-G710'],
  ['Pixel 7a', 'Mali-G710'],
  ['Pixel 6a', 'Mali-G78'],
  ['Pixel Tablet', 'Mali-G710'],
  ['SM-A546B', 'Mali-G68'],
  ['SM-A155F', 'Mali-G57 MC2'],
]);
const gpuOf = (model: string) => {
  const mali = MALI.get(model);
  return mali ? { vendor: 'ARM', renderer: mali } : { vendor: 'Qualcomm', renderer: 'Adreno (TM) 730' };
};

// Chrome on Android names neither its model nor its Android in the user agent any more: the client hints do.
const userAgent = (mobile: boolean): string =>
  `Mozilla/5.0 (Linux; Android 10; K) ${KHTML} Chrome/{major}.0.0.0 ${mobile ? 'Mobile ' : ''}Safari/537.36`;

export const androidPhones: Emulator[] = PHONES.map((row) => emulatorOf('android_phone', row));
export const androidTablets: Emulator[] = TABLETS.map((row) => emulatorOf('android_tablet', row));

function emulatorOf(category: 'android_phone' | 'android_tablet', row: Row): Emulator {
  const [id, name, released] = row;
  return {
    id: `${category}_${id}`,
    display_name: `${name}, Chrome`,
    category,
    browser: 'chrome',
    released,
    device: deviceOf(category === 'android_phone', row),
  };
}

function deviceOf(isPhone: boolean, [, , , model, android, width, height, deviceScaleFactor]: Row): Device {
  const barsOfPhone = width < 380 ? BARS_OF_COMPACT_PHONE : BARS_OF_PHONE;
  return {
    userAgent: userAgent(isPhone),
    platform: 'Linux armv81',
    vendor: GOOGLE,
    viewport: { width, height: height - (isPhone ? barsOfPhone : BARS_OF_TABLET) },
    screen: { width, height },
    workArea: { top: 0, height },
    deviceScaleFactor,
    mobile: true,
    maxTouchPoints: 5,
    cores: 8,
    gpu: gpuOf(model),
    clientHints: {
      brand: 'Google Chrome',
      platform: 'Android',
      platformVersion: `${android}.0.0`,
      architecture: '',
      bitness: '',
      model,
      mobile: isPhone,
    },
  };
}
