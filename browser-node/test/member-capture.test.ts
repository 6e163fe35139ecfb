import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { autosound } from '../src/capture/collectors/autosound.ts';
import type { Draft } from '../src/capture/collectors/collector.ts';
import { composeScript } from '../src/capture/page-scripts/compose-script.ts';
import type { MemberCapture } from '../src/capture/session/capture-session.ts';
import { Ending } from '../src/capture/session/ending.ts';
import { emptyEntry } from '../src/capture/session/journal-entry.ts';
import { Landings } from '../src/capture/session/landings.ts';
import type { OpenTab } from '../src/capture/session/open-tabs.ts';
import { Visit } from '../src/capture/session/visit.ts';

const openTab = (targetId: string) =>
  ({ page: { isClosed: () => true }, tab: { session: { targetId } } }) as unknown as OpenTab;
const [first, popup, clicked] = [openTab('first'), openTab('popup'), openTab('clicked')] as const;
const ords = (landings: Landings) => landings.numbered().map(({ ord }) => ord);

describe('landings of members', () => {
  it('the landings of a member are all tabs of a page, in the order in which they opened', () => {
    assert.deepEqual(ords(new Landings({ all: [first, popup, clicked] })), [0, 1, 2]);
  });

  it('the landings of a creative are the tabs that a click opened, then the others, without the tab that shows the creative', () => {
    const landings = new Landings({ all: [first, popup, clicked] });
    landings.markAsCreative(first.tab, '');
    landings.markAsClicked(clicked.tab);
    assert.deepEqual(ords(landings), [null, 1, 0]);
  });

  it('the landings of a creative that a click left empty come after those that it sent somewhere', () => {
    const empty = { ...openTab('empty'), tab: { isUnused: true } } as unknown as OpenTab;
    const landings = new Landings({ all: [first, empty, popup, clicked] });
    landings.markAsCreative(first.tab, '');
    for (const { tab } of [empty, clicked]) landings.markAsClicked(tab);
    assert.deepEqual(ords(landings), [null, 1, 2, 0]);
  });

  it('landings keep the ordinals that they were given, whatever opens, closes or is used later', () => {
    const [empty, late] = [openTab('empty'), openTab('late')];
    const state = { isUnused: true };
    const all = [first, { ...empty, tab: state } as unknown as OpenTab, popup, clicked];
    const landings = new Landings({ all });
    for (const { tab } of all.slice(1, 2)) landings.markAsClicked(tab);
    assert.deepEqual(ords(landings), [1, 0, 2, 3]);
    landings.fixOrdinals();
    state.isUnused = false;
    landings.markAsClicked(clicked.tab);
    all.splice(2, 1, late);
    assert.deepEqual(ords(landings), [1, 0, 4, 3]);
  });

  it('the landings of a member include the tab of a creative from the hop on with which it navigated away', () => {
    const landings = new Landings({ all: [first] });
    const hops = ['http://publisher.example/', 'http://shop.example/'].map((url) => emptyEntry(url, 'GET', 0));
    const journal = { hopsOf: () => hops };
    landings.markAsCreative(first.tab, '');
    assert.deepEqual(landings.landingHops(journal, first.tab), []);
    assert.deepEqual(landings.creativeHops(journal, first.tab), hops);
    landings.markAsLanding(1);
    assert.deepEqual(ords(landings), [0]);
    assert.deepEqual(landings.landingHops(journal, first.tab), [hops[1]]);
    assert.deepEqual(landings.creativeHops(journal, first.tab), [hops[0]]);
  });
});

describe('the sound of landings', () => {
  /** The landings for which sound is recorded, all of which play some; `types`: their content types. */
  async function sounding(...types: string[]): Promise<string[]> {
    const tabs = types.map((type) => openTab(type));
    const landings = new Landings({ all: tabs });
    for (const { tab } of tabs) if (!tab.session.targetId.startsWith('popup')) landings.markAsClicked(tab);
    const listeners: ((page: Page, args: string[]) => void)[] = [];
    const capture = {
      devtools: { onAttached: () => undefined, on: () => undefined },
      landings,
      reports: { on: (_: string, listener: (typeof listeners)[number]) => listeners.push(listener) },
      journal: {
        hopsOf: (type: string) => [
          { ...emptyEntry('http://a.example/', 'GET', 0), contentType: type.split(' ').at(-1) },
        ],
      },
    } as unknown as MemberCapture;
    const collect = await autosound.start(capture);
    for (const { page } of tabs)
      for (const listener of listeners) listener(page, ['id', 'autoplay', 'false', '1', 'true', 'true']);
    const draft = { observations: [] } as unknown as Draft;
    await collect(draft, { error: '', failure: null }, 1_000);
    const ords = draft.observations.map(({ landing }) => landing);
    return landings.all.filter(({ ord }) => ords.includes(ord)).map(({ tab }) => tab.session.targetId);
  }

  it('is recorded for pages, and for media files that opened by themselves, but not for media files that a click opened', async () => {
    assert.deepEqual(await sounding('text/html', 'video/mp4', 'Audio/mpeg', 'popup video/mp4'), [
      'text/html',
      'popup video/mp4',
    ]);
  });
});

describe('visits', () => {
  it('a visit is without a user gesture until the first click or probe', async () => {
    const visit = new Visit();
    assert.equal(visit.isWithoutGesture, true);
    await visit.navigate(async () => assert.equal(visit.phase, 'navigating'));
    assert.equal(visit.phase, 'loading');
    visit.click();
    visit.click();
    assert.deepEqual([visit.phase, visit.clicks, visit.isWithoutGesture], ['clicking', 2, false]);
  });

  it('a click on an ad is no gesture in the frames of other ads, but for the page; a probe is one everywhere', () => {
    const visit = new Visit((frameId) => frameId !== 'other');
    visit.click();
    assert.deepEqual(
      [null, 'clicked', 'other'].map((frame) => visit.isUnprompted(frame)),
      [false, false, true],
    );
    visit.beginCheck();
    assert.equal(visit.isUnprompted('other'), true);
    visit.beginProbe({ close: () => undefined });
    assert.equal(visit.isUnprompted('other'), false);
  });

  it('a visit continues loading after a navigation of ours that failed', async () => {
    const visit = new Visit();
    await assert.rejects(visit.navigate(() => Promise.reject(new Error('refused'))));
    assert.equal(visit.phase, 'loading');
  });

  it('a visit closes the record of the session when a probe begins', () => {
    const visit = new Visit();
    let isClosed = false;
    visit.beginProbe({
      close: () => {
        isClosed = true;
      },
    });
    assert.deepEqual([visit.phase, visit.isWithoutGesture, isClosed], ['probing', false, true]);
  });
});

describe('failing browsers', () => {
  it('a step of a visit whose browser fails ends the capture and resolves to null, so that what was found before is kept', async () => {
    const ending = new Ending();
    assert.equal(await ending.contain(Promise.resolve('found')), 'found');
    assert.equal(await ending.contain(Promise.reject(new Error('Target crashed'))), null);
    assert.equal(ending.failure?.code, 'browser: CRASHED');
  });

  it('a step of a visit whose browser fails rejects for a bug, unless the capture has ended', async () => {
    const ending = new Ending();
    await assert.rejects(ending.contain(Promise.reject(new TypeError('a bug'))), /a bug/);
    ending.end('browser: TIMEOUT', 'over');
    assert.equal(await ending.contain(Promise.reject(new TypeError('a consequence'))), null);
  });
});

describe('page scripts', () => {
  it('a composed page script is one expression that contains all its parts and works without its module', () => {
    const double = (value: number) => value * 2;
    const script = composeScript((value: number, parts: { double: typeof double }) => parts.double(value) + 1, {
      double,
    });
    assert.equal(script(4), 9);
    assert.equal(new Function(`return (${script})(4)`)(), 9);
  });
});
