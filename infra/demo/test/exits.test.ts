import assert from 'node:assert/strict';
import { matchesGlob } from 'node:path';
import { describe, it } from 'node:test';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { DEMO_PAGE, demoExits } from '../exits.ts';
import { startAdWorld } from '../start-ad-world.ts';

type Exit = { id: string; country_code: string; proxy_type: string; region: string; city: string; isp: string };

describe('the demo’s exits', () => {
  const exits = demoExits(8090).exits as Exit[];

  it('cover at least twelve countries, residential and mobile, with several cities and an ISP each', () => {
    assert.ok(new Set(exits.map((exit) => exit.country_code)).size >= 12);
    for (const pool of Map.groupBy(exits, (exit) => `${exit.country_code} ${exit.proxy_type}`).values()) {
      assert.ok(new Set(pool.map((exit) => exit.city)).size >= 2);
      assert.ok(pool.every((exit) => exit.region && exit.isp));
    }
    assert.equal(new Set(exits.map((exit) => exit.id)).size, exits.length);
  });

  it('map every host of the ad world to its port', async () => {
    const world = await startAdWorld();
    const patterns = Object.entries(demoExits(world.port).hosts);
    for (const [host, place] of Object.entries(world.hosts)) {
      assert.deepEqual(patterns.find(([pattern]) => matchesGlob(host, pattern))?.[1], place, host);
    }
    await world.close();
  });

  it('include the country of the first scan, whose emulator exists', () => {
    assert.ok(exits.some((exit) => exit.country_code === DEMO_PAGE.country_code));
    assert.ok(findEmulator(DEMO_PAGE.emulator_id));
  });
});
