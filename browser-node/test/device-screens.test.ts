import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeviceScreens } from '../src/browser/device-screens.ts';

const PHONE = { screen: { width: 412, height: 915 }, deviceScaleFactor: 2.625 };
const DESKTOP = { screen: { width: 1920, height: 1080 }, deviceScaleFactor: 1 };

test('each kind of screen is added to the browser once, to the right of the others', async () => {
  const added: object[] = [];
  const screens = new DeviceScreens(async (screen) => added.push(screen));
  const [phone, desktop, other] = await Promise.all([PHONE, DESKTOP, PHONE].map((each) => screens.positionOf(each)));
  assert.deepEqual([phone, desktop, other], [phone, { left: (phone?.left ?? 0) + 1081, top: 0 }, phone]);
  assert.deepEqual(added, [
    { left: phone?.left, top: 0, width: 1081, height: 2401, devicePixelRatio: 2.625 },
    { left: desktop?.left, top: 0, width: 1920, height: 1080, devicePixelRatio: 1 },
  ]);
});

test('windows have no fixed position if the browser refuses to add a screen', async () => {
  const screens = new DeviceScreens(() => Promise.reject(new Error('not supported')));
  assert.equal(await screens.positionOf(PHONE), null);
});
