import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { DeviceScreens } from '../src/browser/device-screens.ts';

const PHONE = { screen: { width: 412, height: 915 }, deviceScaleFactor: 2.625 };
const DESKTOP = { screen: { width: 1920, height: 1080 }, deviceScaleFactor: 1 };

test('each kind of screen is added to the browser once, and begins a little to the left of the one before', async () => {
  const added: object[] = [];
  const screens = new DeviceScreens(async (screen) => added.push(screen));
  const [phone, desktop, other] = await Promise.all([PHONE, DESKTOP, PHONE].map((each) => screens.windowOn(each)));
  assert.deepEqual([phone?.left, desktop?.left, other], [-4, -8, phone]);
  assert.deepEqual(added, [
    { left: -4, top: 0, width: 1081, height: 2401, devicePixelRatio: 2.625 },
    { left: -8, top: 0, width: 1920, height: 1080, devicePixelRatio: 1 },
  ]);
});

test('a part of the page is within its window, and the window on its screen, with every kind of device in one browser', async () => {
  const screens = new DeviceScreens(async () => undefined);
  for (const { id, device } of EMULATORS) {
    const window = await screens.windowOn(device);
    assert.ok(window && -window.left < window.width && window.width < device.screen.width, id);
  }
});

test('windows are anywhere if the browser refuses to add a screen', async () => {
  const screens = new DeviceScreens(() => Promise.reject(new Error('not supported')));
  assert.equal(await screens.windowOn(PHONE), null);
});
