import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countryLocale } from '../src/scan/country-locale.ts';
import { EMULATOR_CATEGORIES, type Emulator } from '../src/scan/devices/device.ts';
import { EMULATORS, findEmulator } from '../src/scan/emulators.ts';

const withCategory = (category: string) => EMULATORS.filter((emulator) => emulator.category === category);

test('there are more than forty devices, seven of each category, and ids and names are unique', () => {
  assert.ok(EMULATORS.length >= 40);
  for (const category of EMULATOR_CATEGORIES) assert.ok(withCategory(category).length >= 7, category);
  assert.equal(new Set(EMULATORS.map(({ display_name }) => display_name)).size, EMULATORS.length);
  assert.equal(new Set(EMULATORS.map(({ id }) => id)).size, EMULATORS.length);
  for (const emulator of EMULATORS) assert.equal(findEmulator(emulator.id), emulator);
  assert.equal(findEmulator('toaster'), null);
});

const STORIES: Record<string, { agent: RegExp; platform: RegExp; hints: string | null; touch: boolean }> = {
  windows_desktop: { agent: /Windows NT 10\.0; Win64/, platform: /^Win32$/, hints: 'Windows', touch: false },
  macos_desktop: { agent: /Macintosh; Intel Mac OS X/, platform: /^MacIntel$/, hints: 'macOS', touch: false },
  android_phone: { agent: /Android.* Mobile Safari/, platform: /^Linux arm/, hints: 'Android', touch: true },
  android_tablet: { agent: /Android(?!.*Mobile)/, platform: /^Linux arm/, hints: 'Android', touch: true },
  iphone: { agent: /iPhone; CPU iPhone OS/, platform: /^iPhone$/, hints: null, touch: true },
  ipad: { agent: /iPad; CPU OS/, platform: /^iPad$/, hints: null, touch: true },
};

function assertConsistent({ id, device, browser, category, released }: Emulator): void {
  assert.match(id, /^[a-z0-9_]+$/);
  assert.match(released, /^20[12]\d-(0[1-9]|1[0-2])$/);
  const story = STORIES[category];
  assert.ok(story);
  assert.match(device.userAgent, story.agent);
  assert.match(device.platform, story.platform);
  assert.equal(device.maxTouchPoints > 0, story.touch);
  assert.equal(device.mobile, story.touch);
  assert.equal(device.clientHints === null, browser === 'safari');
  assert.equal(device.vendor === 'Apple Computer, Inc.', browser === 'safari');
  assert.equal(device.userAgent.includes('Chrome/{major}.0.0.0'), browser !== 'safari');
  assert.equal(device.userAgent.includes('Edg/'), browser === 'edge');
  if (device.clientHints) assert.equal(device.clientHints.platform, story.hints);
  if (device.clientHints) assert.equal(device.clientHints.mobile, category === 'android_phone');
  assert.ok(device.deviceScaleFactor >= (device.mobile ? 1.5 : 1) && device.cores >= 4);
  assert.equal(device.screen.width < device.screen.height, device.mobile, 'held upright, or standing on a table');
  assert.ok(device.viewport.width <= device.screen.width && device.viewport.height < device.workArea.height);
  const { top, height } = device.workArea;
  assert.equal(top > 0, category === 'macos_desktop', 'a menu bar');
  assert.equal(top + height < device.screen.height, category === 'windows_desktop', 'a taskbar');
}

for (const emulator of EMULATORS) test(`${emulator.id} contradicts itself nowhere`, () => assertConsistent(emulator));

test("a country's likely language comes first, then English", () => {
  assert.deepEqual(countryLocale('DE').languages, ['de-DE', 'de', 'en-US', 'en']);
  assert.deepEqual(countryLocale('BR').languages, ['pt-BR', 'pt', 'en-US', 'en']);
  assert.deepEqual(countryLocale('US').languages, ['en-US', 'en']);
  assert.deepEqual(countryLocale('GB').languages, ['en-GB', 'en-US', 'en']);
});

test('a country has the timezone and place of its largest city, a small one its only timezone', () => {
  assert.equal(countryLocale('BR').timezone, 'America/Sao_Paulo');
  assert.deepEqual(countryLocale('FR').coordinates, { latitude: 48.857, longitude: 2.352 });
  assert.deepEqual(countryLocale('AD'), {
    languages: ['ca-AD', 'ca', 'en-US', 'en'],
    timezone: 'Europe/Andorra',
    coordinates: null,
  });
});

test('every timezone of the table is one that Intl knows for that country', () => {
  for (const code of EVERY_CODE) {
    const { timezone } = countryLocale(code);
    const known = (
      new Intl.Locale(`und-${code}`) as Intl.Locale & { getTimeZones(): string[] | undefined }
    ).getTimeZones();
    if (known?.length) assert.ok(known.includes(timezone), `${code}: ${timezone}`);
    assert.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone: timezone }), code);
  }
});

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const EVERY_CODE = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
