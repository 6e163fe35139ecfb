import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { ConfigError } from '@adsweep/shared/service/load-config.ts';
import { chromiumFlags } from '../src/browser/chromium-flags.ts';
import { profilePrefix, sweepProfiles } from '../src/browser/chromium-profile.ts';
import { brandsOf, userAgentMetadata } from '../src/browser/client-hints.ts';
import { RECYCLE_LIMITS, recycleReason } from '../src/browser/recycle-policy.ts';
import { readConfig, slotBounds } from '../src/config.ts';
import { defaultSlots } from '../src/machine/default-slots.ts';

// Recorded from Chrome 120 and 131.
for (const [major, header] of [
  [120, '"Not_A Brand";v="8", "Chromium";v="120", "Google Chrome";v="120"'],
  [131, '"Google Chrome";v="131", "Chromium";v="131", "Not_A Brand";v="24"'],
] as const) {
  test(`the client hints of Chrome ${major} have the brands of the real Chrome ${major}`, () => {
    const brands = brandsOf('Google Chrome', major, String).map(({ brand, version }) => `"${brand}";v="${version}"`);
    assert.equal(brands.join(', '), header);
  });
}

test('client hints have the version of the running Chromium, and Safari has no client hints', () => {
  const pixel = findEmulator('android_phone_pixel_8');
  const iphone = findEmulator('iphone_15');
  assert.ok(pixel && iphone);
  const metadata = userAgentMetadata(pixel.device, '156.0.8078.79');
  assert.deepEqual(
    metadata?.fullVersionList.find(({ brand }) => brand === 'Google Chrome'),
    { brand: 'Google Chrome', version: '156.0.8078.79' },
  );
  assert.equal(metadata?.model, 'Pixel 8');
  assert.equal(userAgentMetadata(iphone.device, '156.0.8078.79'), undefined);
});

test('a browser is recycled after its limit of contexts, age or memory or after a fault, and not before', () => {
  const fresh = { broken: false, reserved: false, contexts: 299, ageMs: 1_799_999, idleMemory: 100, memory: 200 };
  assert.equal(recycleReason(fresh, RECYCLE_LIMITS), null);
  assert.equal(recycleReason({ ...fresh, contexts: 300 }, RECYCLE_LIMITS), 'contexts');
  assert.equal(recycleReason({ ...fresh, ageMs: 1_800_000 }, RECYCLE_LIMITS), 'age');
  assert.equal(recycleReason({ ...fresh, memory: 201 }, RECYCLE_LIMITS), 'memory');
  assert.equal(recycleReason({ ...fresh, memory: null }, RECYCLE_LIMITS), null);
  assert.equal(recycleReason({ ...fresh, broken: true }, RECYCLE_LIMITS), 'broken');
  assert.equal(recycleReason({ ...fresh, reserved: true }, RECYCLE_LIMITS), 'isolated');
});

test('Chromium runs without its sandbox only if the operator switches it off', () => {
  assert.ok(!chromiumFlags('/profile', 156, true).includes('--no-sandbox'));
  assert.ok(chromiumFlags('/profile', 156, false).includes('--no-sandbox'));
});

test('Chromium resolves no names but those of the gateways', () => {
  const rules = (hosts: string[]) =>
    chromiumFlags('/profile', 156, true, hosts).filter((flag) => flag.startsWith('--host-resolver-rules='));
  const none = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';
  assert.deepEqual(rules([]), [none]);
  assert.deepEqual(rules(['127.0.0.1', 'router-1']), [`${none}, EXCLUDE router-1`]);
});

test('profiles of ended processes are removed, and those of running processes stay', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'sweep-'));
  t.after(() => rm(directory, { recursive: true }));
  const mine = `${profilePrefix(process.pid)}abc`;
  // Above the largest pid of Linux.
  for (const name of [mine, `${profilePrefix(4_194_305)}abc`, 'something-else']) await mkdir(join(directory, name));
  assert.equal(await sweepProfiles(directory), 1);
  assert.deepEqual((await readdir(directory)).sort(), [mine, 'something-else'].sort());
});

test('a node has five to ten slots per core, as far as its memory allows, and at least one', () => {
  const GIB = 1024 ** 3;
  assert.deepEqual(defaultSlots({ cores: 2, memoryBytes: 8 * GIB }), { least: 10, most: 20 });
  assert.deepEqual(defaultSlots({ cores: 4, memoryBytes: 2 * GIB }), { least: 6, most: 6 });
  assert.deepEqual(defaultSlots({ cores: 1, memoryBytes: 256 * 1024 ** 2 }), { least: 1, most: 1 });
  assert.deepEqual(defaultSlots({ cores: 128, memoryBytes: 1024 * GIB }), { least: 256, most: 256 });
});

test('every setting except the secret has a default, and all invalid settings are named', () => {
  const config = readConfig({ ADSWEEP_NODE_TOKEN: 'the-token-of-all-nodes' });
  assert.ok(slotBounds(config).least >= 1);
  assert.deepEqual(slotBounds({ ADSWEEP_SLOTS: 3 }), { least: 3, most: 3 });
  assert.match(config.ADSWEEP_NODE_ID, /^[A-Za-z0-9]/);
  const broken = { ADSWEEP_SLOTS: '0', ADSWEEP_NODE_API_URL: 'http://plane/' };
  assert.throws(
    () => readConfig(broken),
    (error: ConfigError) => error instanceof ConfigError && error.problems.length === 3,
  );
});
