import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import { playVpaid } from '../src/capture/vast/play-vpaid.ts';
import type { PlayerPage } from '../src/capture/vast/player-page.ts';
import type { TrackerLog } from '../src/capture/vast/tracker-log.ts';

it('a click on a VPAID ad that fails while the events of the ad are waited for ends its play with that error', async () => {
  const events = ['AdStarted', 'AdVideoMidpoint'].map((event) => ({ event, atMs: 1, values: [] }));
  const page = {
    run: async () => events,
    show: async () => 'shown-0',
    box: async () => null,
    picture: async () => null,
    pause,
  } as unknown as PlayerPage;
  const log = { fire: async () => undefined } as unknown as TrackerLog;
  const player = {
    page,
    log,
    until: performance.now() + 5_000,
    click: () => Promise.reject(new Error('the tab closed')),
  };
  const ad = {
    ad: 0,
    part: 'linear',
    form: {} as VastLinear,
    script: '',
    adParameters: '',
    width: 1,
    height: 1,
  } as const;
  await assert.rejects(playVpaid(player, { ...ad, clickThrough: '' }), /the tab closed/);
});
