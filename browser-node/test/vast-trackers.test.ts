import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import type { VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import { recordOf } from '../src/capture/collectors/vast.ts';
import { type Entry, emptyEntry, ORB_BLOCKED } from '../src/capture/session/journal-entry.ts';
import { awaitTrackers } from '../src/capture/vast/await-trackers.ts';
import type { MacroContext } from '../src/capture/vast/macros.ts';
import { clickAd, type Player } from '../src/capture/vast/player.ts';
import type { PlayerPage } from '../src/capture/vast/player-page.ts';
import { TrackerLog } from '../src/capture/vast/tracker-log.ts';

const CONTEXT = { now: new Date(0), pageUrl: '', userAgent: '', player: { width: 640, height: 360, muted: true } };
const FORM = {} as VastLinear;
const CLICK = 'https://t.example/click';
const IMPRESSION = 'https://t.example/impression';

/** A log with the click tracker of one ad and an impression. */
function newLog() {
  const page = { fire: async () => undefined } as unknown as PlayerPage;
  const log = new TrackerLog(page, performance.now(), () => CONTEXT as unknown as MacroContext);
  const about = { document: 0, offset: null };
  log.declare(0, [
    { ...about, part: 'ad', event: 'impression', url: IMPRESSION, form: null },
    { ...about, part: 'linear', event: 'clickTracking', url: CLICK, form: FORM },
  ]);
  return log;
}

const sent = (url: string, more: Partial<Entry> = {}): Entry => ({
  ...emptyEntry(url, 'GET', Date.now()),
  resourceType: 'image',
  statusCode: 200,
  ...more,
});

const recordedBy = (log: TrackerLog, entries: Entry[]) => {
  const resolution = { chain: [], ads: [], adsLeftOut: 0, errors: [], failure: null };
  return recordOf({ resolution, played: [], log }, entries).trackers.map(
    ({ event, requested_url, requested_at_ms, status_code }) =>
      requested_at_ms === null ? [event, requested_url, 'not requested', status_code] : [event, status_code],
  );
};

const CLICK_NOT_REQUESTED = ['clickTracking', '', 'not requested', 0];

describe('click trackers of a VAST ad', () => {
  const clicked = async (isClicked: boolean) => {
    const log = newLog();
    const player = { log, size: CONTEXT.player, click: async () => isClicked } as unknown as Player;
    await clickAd(player, 0, { part: 'linear', form: FORM, url: 'https://shop.example/' });
    return recordedBy(log, [sent(CLICK)])[1];
  };

  it('are recorded as requested if the player got the click, and not if another ad was clicked before', async () => {
    assert.deepEqual(await clicked(true), ['clickTracking', 200]);
    assert.deepEqual(await clicked(false), CLICK_NOT_REQUESTED);
  });
});

describe('the record of trackers', () => {
  it('has no negative time when the clock is set back during the capture', async () => {
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    try {
      const log = newLog();
      mock.timers.setTime(Date.now() - 60_000);
      await log.fire(0, ({ event }) => event === 'impression');
      const at = log.records.map(({ requested_at_ms }) => requested_at_ms);
      assert.ok(Number(at[0]) >= 0, String(at));
    } finally {
      mock.timers.reset();
    }
  });

  it('a tracker whose URL is none is never requested, and no response to it is waited for', () => {
    const log = newLog();
    const of = { document: 0, offset: null, part: 'ad', event: 'impression', form: null } as const;
    log.declare(0, [
      { ...of, url: 'https://[HOST]/pixel' },
      { ...of, url: 'https://t.example:99999/' },
    ]);
    assert.deepEqual(
      log.due(0, () => true).map(({ url }) => url),
      [IMPRESSION, CLICK],
    );
  });

  const recorded = async (...entries: Entry[]) => {
    const log = newLog();
    await log.fire(0, () => true);
    return recordedBy(log, entries);
  };

  it('a tracker for which the browser made no request counts as not requested', async () => {
    assert.deepEqual(await recorded(sent(IMPRESSION)), [['impression', 200], CLICK_NOT_REQUESTED]);
    assert.deepEqual(await recorded(sent(IMPRESSION), sent(CLICK, { statusCode: 0, isStopped: true })), [
      ['impression', 200],
      CLICK_NOT_REQUESTED,
    ]);
  });

  it('a page load or the redirect of another tracker is not the request of a tracker with the same URL', async () => {
    const landing = sent(CLICK, { resourceType: 'document' });
    const redirect = sent(CLICK, { isRedirect: true, statusCode: 404 });
    const impression = sent(IMPRESSION, { statusCode: 302, redirectedTo: redirect });
    assert.deepEqual(await recorded(landing, impression, redirect), [['impression', 404], CLICK_NOT_REQUESTED]);
  });

  it('the status that the gateway answers with is not that of a server', async () => {
    const refused = sent(CLICK, { statusCode: 593, gateway: 'dns' });
    assert.deepEqual(await recorded(sent(IMPRESSION), refused), [
      ['impression', 200],
      ['clickTracking', 0],
    ]);
  });
});

describe('requests of trackers that are under way', () => {
  /** How often the wait looked while the journal had these entries, one list after the other. */
  const looks = (...lists: Entry[][]): Promise<number> => looksAfter(0, ...lists);

  /** The same, `ms` after the trackers were requested. */
  async function looksAfter(ms: number, ...lists: Entry[][]): Promise<number> {
    const log = newLog();
    await log.fire(0, () => true);
    let at = 0;
    const page = { isGone: false, pause: async () => void at++ };
    const journal = { all: () => lists[Math.min(at, lists.length - 1)] as Entry[] };
    const player = { page, log, journal } as unknown as Player;
    await awaitTrackers({ startedAt: performance.now() - ms }, player);
    return at;
  }
  const open = { statusCode: 0 };

  it('are waited for until each has a response, or failed', async () => {
    const under = [sent(IMPRESSION), sent(CLICK, open)];
    assert.equal(await looks([], under, under, [sent(IMPRESSION), sent(CLICK)]), 3);
    assert.equal(await looks(under, [sent(IMPRESSION), sent(CLICK, { ...open, fault: 'net::ERR_FAILED' })]), 1);
    assert.equal(await looks([sent(IMPRESSION), sent(CLICK, { ...open, isStopped: true })]), 0);
  });

  it('are not waited for once they had their time', async () => {
    const answered = [sent(IMPRESSION), sent(CLICK)];
    assert.equal(await looksAfter(1_000, [sent(IMPRESSION), sent(CLICK, open)], answered), 1);
    assert.equal(await looksAfter(60_000, [sent(IMPRESSION), sent(CLICK, open)], answered), 0);
  });

  it('are waited for over their redirects, and until the status of a blocked response is known', async () => {
    const next = sent('https://t.example/next', { ...open, isRedirect: true });
    const redirected = [sent(IMPRESSION), sent(CLICK, { statusCode: 302, redirectedTo: next })];
    assert.equal(await looks(redirected, [sent(IMPRESSION), sent(CLICK)]), 1);
    const blocked = [sent(IMPRESSION), sent(CLICK, { ...open, fault: ORB_BLOCKED })];
    assert.equal(await looks(blocked, [sent(IMPRESSION), sent(CLICK, { statusCode: 404, fault: ORB_BLOCKED })]), 1);
  });
});
