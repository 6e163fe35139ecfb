import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DWELL_MS,
  FLOOD_REQUESTS,
  LATE_MS,
  LOOKS_MAX,
  QUIET_MS,
  SETTLE_EXTENSION_MS,
  SETTLE_FACTOR_MAX,
  SHOWN_AT_LATEST_MS,
} from '../src/capture/session/budgets.ts';
import type { OpenTab } from '../src/capture/session/open-tabs.ts';
import { SettleExtension } from '../src/capture/session/settle-extension.ts';
import { isToBeLookedAt, pendingIn, settledIn } from '../src/capture/session/settled-tabs.ts';

describe('settled pages', () => {
  const NOW = 100_000;
  type Landings = Parameters<typeof settledIn>[0];
  const times = { loadedAt: 0, parsedAt: null, paintedAt: null, lastHopAt: 0, refreshDueAt: 0 };
  const tab = (change: object) => ({ ...times, refused: false, ...change });
  const tabs = (...changes: object[]) => changes.map((change) => ({ tab: tab(change) })) as Landings;
  const requests = (lastLoadingAt: number, pending = 0) => ({
    lastActivityAt: lastLoadingAt,
    lastLoadingAt,
    count: () => pending,
    awaitsCode: false,
  });
  const quiet = requests(0);

  it('a settled page has loaded, was watched for a while and has no pending request', () => {
    assert.equal(settledIn(tabs({}), quiet, NOW), 0);
    assert.equal(settledIn(tabs({ loadedAt: null }), quiet, NOW), QUIET_MS);
    assert.equal(settledIn(tabs({ loadedAt: NOW - 100 }), quiet, NOW), DWELL_MS - 100);
    assert.equal(settledIn(tabs({}, { lastHopAt: NOW }), quiet, NOW), DWELL_MS);
    assert.equal(settledIn(tabs({}), requests(NOW - 200), NOW), QUIET_MS - 200);
    assert.equal(settledIn(tabs({}), requests(0, 1), NOW), QUIET_MS);
  });

  it('a settled page has announced no refresh, unless that is due much later', () => {
    assert.equal(settledIn(tabs({ refreshDueAt: NOW + 3_000 }), quiet, NOW), 3_000 + DWELL_MS);
    assert.equal(settledIn(tabs({ refreshDueAt: NOW + 60_000 }), quiet, NOW), 0);
  });

  it('a page that polls settles five seconds after its load, unless it loads something else too', () => {
    const polling = (lastLoadingAt: number) => ({
      lastActivityAt: NOW - 100,
      lastLoadingAt,
      count: (_?: number, countsPolls = true) => (countsPolls ? 1 : 0),
      awaitsCode: false,
    });
    const loaded = (msAgo: number | null) => tabs({ loadedAt: msAgo && NOW - msAgo, lastHopAt: NOW - DWELL_MS });
    assert.equal(settledIn(loaded(LATE_MS), polling(NOW - QUIET_MS), NOW), 0);
    assert.equal(settledIn(loaded(LATE_MS), polling(NOW - 200), NOW), QUIET_MS - 200);
    for (const early of [LATE_MS - 1, null]) assert.equal(settledIn(loaded(early), polling(0), NOW), QUIET_MS);
  });

  const waiting = (hasWorker = false, isUnanswered = false) => ({
    hasWorker: () => hasWorker,
    isUnanswered,
    awaitsCode: false,
  });
  const pendingTab = (change: object) => tabs({ loadedAt: NOW, timersDueAt: 0, isLookedAt: false, ...change });

  it('a page is watched until its last timer has run, but no longer than five seconds after its load', () => {
    assert.equal(pendingIn(pendingTab({}), waiting(), NOW), 0);
    assert.equal(pendingIn(pendingTab({ timersDueAt: NOW + 2_000 }), waiting(), NOW), 2_100);
    assert.equal(pendingIn(pendingTab({ timersDueAt: NOW + 7_000 }), waiting(), NOW), LATE_MS);
    assert.equal(pendingIn(pendingTab({ timersDueAt: NOW - 200 }), waiting(), NOW), 0);
    assert.equal(pendingIn(pendingTab({ timersDueAt: NOW + 500, loadedAt: NOW - LATE_MS }), waiting(), NOW), 0);
    assert.equal(pendingIn(pendingTab({ timersDueAt: NOW + 2_000, isScriptDisabled: true }), waiting(), NOW), 0);
  });

  it('a page with a worker is watched for five seconds, and one that waits for a response as long as it does', () => {
    assert.equal(pendingIn(pendingTab({ loadedAt: NOW - 1_000 }), waiting(true), NOW), LATE_MS - 1_000);
    assert.equal(pendingIn(pendingTab({}), waiting(false, true), NOW), QUIET_MS);
    assert.equal(pendingIn(pendingTab({ loadedAt: null }), waiting(true, true), NOW), 0);
  });

  it('a page that was parsed and lacks only pictures counts as loaded five seconds after it first showed something', () => {
    const shown = (msAgo: number) => tabs({ loadedAt: null, parsedAt: 0, paintedAt: NOW - msAgo });
    const settledAfter = SHOWN_AT_LATEST_MS + DWELL_MS;
    assert.equal(settledIn(shown(settledAfter), quiet, NOW), 0);
    assert.equal(settledIn(shown(0), quiet, NOW), settledAfter);
    assert.equal(settledIn(shown(settledAfter), { ...quiet, awaitsCode: true }, NOW), QUIET_MS);
    assert.equal(settledIn(tabs({ loadedAt: null, paintedAt: NOW - settledAfter }), quiet, NOW), QUIET_MS);
    assert.equal(pendingIn(pendingTab({ ...shown(SHOWN_AT_LATEST_MS)[0]?.tab }), waiting(true), NOW), LATE_MS);
  });

  it('of a tab, three documents are looked at as soon as they have loaded, and later ones once they stay', () => {
    const [own] = tabs({ committed: true, looks: LOOKS_MAX - 1, loadedAt: NOW });
    assert.equal(isToBeLookedAt(own!, NOW), true);
    const [later] = tabs({ committed: true, looks: LOOKS_MAX, loadedAt: NOW });
    assert.deepEqual(
      [0, DWELL_MS - 1, DWELL_MS].map((ms) => isToBeLookedAt(later!, NOW + ms)),
      [false, false, true],
    );
  });

  it('an error page of the gateway counts as settled', () => {
    assert.equal(settledIn(tabs({ loadedAt: null, refused: true }), quiet, NOW), 0);
  });
});

describe('settling', () => {
  const BUDGET_MS = 12_000;
  const landings = (promptNavigations: number) => [{ tab: { promptNavigations } }] as OpenTab[];
  const extensionFor = (change: Partial<{ isLate: boolean; lateMs: number; pending: number }>) => {
    const { isLate = false, lateMs = 0, pending = 0 } = change;
    const requests = { ended: 0, count: () => pending };
    const parts = { budgetMs: BUDGET_MS, lateMs, requests, isLate: async () => isLate };
    const requestsEnd = () => {
      requests.ended += 1;
    };
    return { requestsEnd, extension: new SettleExtension(parts) };
  };
  /** The sum of all extensions, each requested after `step`. */
  async function total(extension: SettleExtension, tabs: OpenTab[], step: () => void = () => undefined) {
    let sum = 0;
    for (let ms = 1; ms > 0; sum += ms) {
      step();
      ms = await extension.next(tabs);
    }
    return sum;
  }

  it('the time for tabs to settle is not extended for a page that is slow on an idle machine', async () => {
    const { extension, requestsEnd } = extensionFor({ pending: FLOOD_REQUESTS });
    assert.equal(await total(extension, landings(10), requestsEnd), 0);
  });

  it('the time for tabs to settle is extended once if the machine is slow', async () => {
    assert.equal(await total(extensionFor({ isLate: true, lateMs: 4_000 }).extension, landings(0)), 4_000);
    assert.equal(
      await total(extensionFor({ isLate: true, lateMs: 12_000 }).extension, landings(0)),
      SETTLE_EXTENSION_MS,
    );
  });

  it('the time for tabs to settle is extended up to the limit while a flood of requests is served, and while a tab keeps navigating', async () => {
    const limit = BUDGET_MS * (SETTLE_FACTOR_MAX - 1);
    const flood = () => extensionFor({ pending: FLOOD_REQUESTS + 1 });
    const { extension, requestsEnd } = flood();
    assert.equal(await total(extension, landings(0), requestsEnd), limit);
    assert.equal(await total(flood().extension, landings(0)), 0);
    assert.equal(await total(extensionFor({}).extension, landings(11)), limit);
  });
});
