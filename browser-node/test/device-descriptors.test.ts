import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { devices } from 'playwright-core';

/** Devices that have another name in Playwright. */
const NAMES: Record<string, string> = {
  iphone_se: 'iPhone SE (3rd gen)',
  ipad_pro_11_4: 'iPad Pro 11',
  windows_chrome: 'Desktop Chrome',
  windows_edge: 'Desktop Edge',
  macos_safari: 'Desktop Safari',
};

/**
 * Intended differences. A screen in CSS pixels is its physical pixels divided by the density that the device is shipped with, rounded up
 * as Chrome does: 2424 by 1080 at 420 dpi, 2992 by 1344 at 480 dpi, 2560 by 1600 at 320 dpi.
 */
const OWN_SCREENS = new Set(['android_phone_pixel_9', 'android_phone_pixel_8_pro', 'android_tablet_galaxy_tab_s9']);

const nameOf = ({ id, display_name }: (typeof EMULATORS)[number]): string =>
  NAMES[id] ?? display_name.replace(/, \w+$/, '').replace(/^(Google|Samsung) /, '');
const byName = new Map(Object.entries(devices).map(([name, descriptor]) => [name.toLowerCase(), descriptor]));

const known = EMULATORS.flatMap((emulator) => {
  const descriptor = byName.get(nameOf(emulator).toLowerCase());
  return descriptor ? [{ ...emulator, descriptor }] : [];
});

/** Without versions; on Android also without the model, which Chrome no longer reports. */
const shapeOf = (userAgent: string): string =>
  userAgent
    .replace(/Android [^)]+/, 'Android')
    .replaceAll('{major}', '1')
    .replace(/\d+([._]\d+)*/g, '#');

describe('a device that Playwright also knows', () => {
  it('many devices are also known to Playwright', () => {
    assert.ok(known.length >= 25, known.map(({ id }) => id).join());
  });

  for (const { id, category, device, descriptor } of known)
    it(`${id} has the same descriptor in Playwright`, () => {
      assert.equal(shapeOf(device.userAgent), shapeOf(descriptor.userAgent));
      assert.deepEqual(
        [device.mobile, device.maxTouchPoints > 0],
        [descriptor.isMobile, descriptor.hasTouch],
        'mobile, touch',
      );
      if (category.endsWith('desktop')) return;
      assert.ok(device.viewport.height < device.screen.height && device.viewport.width <= device.screen.width);
      if (OWN_SCREENS.has(id)) return;
      const {
        screen = descriptor.viewport,
        viewport,
        deviceScaleFactor,
      } = descriptor as typeof descriptor & {
        screen?: { width: number; height: number };
      };
      assert.deepEqual([device.screen, device.deviceScaleFactor], [screen, deviceScaleFactor]);
      // Playwright's Android devices have no status and navigation bars, and some of its iPhones have no bars at all.
      if (category === 'iphone' && viewport.height < screen.height) assert.deepEqual(device.viewport, viewport);
    });
});
