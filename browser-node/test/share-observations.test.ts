import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import type { Draft } from '../src/capture/collectors/collector.ts';
import { combineObservations, type FramedObservation } from '../src/capture/collectors/framed-observations.ts';
import { FrameTree } from '../src/capture/devtools/frame-tree.ts';
import { AdRecords } from '../src/capture/discovery/ad-records.ts';
import type { FoundAd } from '../src/capture/discovery/found-ad.ts';
import { type Recorded, type SharingAd, shareObservations } from '../src/capture/discovery/share-observations.ts';
import type { MemberCapture } from '../src/capture/session/capture-session.ts';
import { type Entry, emptyEntry } from '../src/capture/session/journal-entry.ts';
import type { Tab } from '../src/capture/session/tab.ts';

const MB = 1_000_000;

/** The page's own frame has the ads `a` and `b`, and a frame of its own, in which ad `c` is; `gone` was in `a`. */
const frames = new FrameTree();
for (const [frame, parent] of [
  ...[
    ['a', 'page'],
    ['b', 'page'],
    ['own', 'page'],
    ['c', 'own'],
  ],
  ...[
    ['inner', 'a'],
    ['gone', 'inner'],
  ],
])
  frames.add(frame as string, parent as string);

const ad = (frameIds: string[], more: Partial<SharingAd> = {}): SharingAd => ({
  block: { width: 300, height: 250 },
  ...{ frameIds, ownTab: null, ownsRequest: ({ frameId }) => frames.nearest(frameId, new Set(frameIds)) !== null },
  ...more,
});
const pop = ad([], { ownTab: 'popped', ownsRequest: () => false });
const ADS = [pop, ad(['a']), ad(['b']), ad(['c'])];

const dialogs = (frameId: string | null, landing: number | null = 0, count = 1): FramedObservation => ({
  ...{ kind: 'dialogs', landing, url: 'http://page.example/', facts: { count }, frameId },
});
const recorded = (some: Partial<Recorded>): Recorded => ({
  ...{ observations: [], documents: [], bodies: [], entries: [], frameBytes: new Map(), frames },
  tabOf: (landing) => (landing === 1 ? 'popped' : landing === 2 ? 'opened by the page' : 'tab'),
  ...some,
});
/** What each observation is about for the page, then for each ad: the frame, and the landing. */
const owners = (observations: FramedObservation[]) => {
  const { page, ads } = shareObservations(recorded({ observations }), ADS);
  return [page, ...ads].map((share) => share.observations.map(({ frameId, landing }) => `${frameId} ${landing}`));
};

describe('what a page and its ads are responsible for', () => {
  it("what happened in a frame of an ad, in a frame in it or in one that was removed is the ad's, as a creative", () => {
    const observations = [dialogs('page'), dialogs('a'), dialogs('inner'), dialogs('gone'), dialogs('b')];
    const expected = [['page 0'], [], ['a null', 'inner null', 'gone null'], ['b null'], []];
    assert.deepEqual(owners(observations), expected);
  });

  it('an ad in a frame of the page is responsible for its own part of it', () => {
    assert.deepEqual(owners([dialogs('own'), dialogs('c')]), [['own 0'], [], [], [], ['c null']]);
  });

  it("what no frame, or one that was never seen, is known for is the page's", () => {
    assert.deepEqual(owners([dialogs(null), dialogs('forged')]), [['null 0', 'forged 0'], [], [], [], []]);
  });

  it("what happened in the tab of a pop is about its landing 0; in a tab that the page opened, about the page's", () => {
    const observations = [dialogs('in-pop', 1), dialogs(null, 1), dialogs('in-window', 2)];
    assert.deepEqual(owners(observations), [['in-window 2'], ['in-pop 0', 'null 0'], [], [], []]);
  });

  it('an ad without a scan leaves what it did with the page', () => {
    const { page } = shareObservations(recorded({ observations: [dialogs('a')] }), [ad(['b'])]);
    assert.deepEqual(page.observations, [dialogs('a')]);
  });

  it('documents and requests are shared in the same way', () => {
    const document = (frame: string, landing = 0) => ({ landing, frame, url: '', title: '', text: '', html: '' });
    const entry = (frameId: string, tab = 'tab'): Entry => ({
      ...emptyEntry(`http://${frameId}/`, 'GET', 0),
      frameId,
      tab,
    });
    const documents: CapturedDocument[] = [document(''), document('inner'), document('', 1)];
    const entries = [entry('page'), entry('gone'), entry('', 'popped')];
    const { page, ads } = shareObservations(recorded({ documents, entries }), ADS);
    const of = (share: typeof page) => [
      ...share.documents.map(({ frame, landing }) => `${frame} ${landing}`),
      ...share.entries.map(({ url }) => url),
    ];
    const expected = [[' 0', 'http://page/'], [' 0', 'http:///'], ['inner null', 'http://gone/'], [], []];
    assert.deepEqual([page, ...ads].map(of), expected);
  });

  it("the weight of an ad is that of all its frames, and is not the page's", () => {
    const weight = (frameId: string, bytes: number): FramedObservation => ({
      ...{ kind: 'frame_weight', landing: 0, url: '', facts: { bytes, width: 300, height: 250 }, frameId },
    });
    const frameBytes = new Map([
      ['a', MB],
      ['gone', 4 * MB],
      ['own', 3 * MB],
      ['c', 5 * MB],
      ['page', 9 * MB],
    ]);
    const observations = [weight('a', 5 * MB), weight('own', 8 * MB)];
    const { page, ads } = shareObservations(recorded({ observations, frameBytes }), ADS);
    const bytesOf = ({ observations }: typeof page) =>
      observations.map(({ landing, facts }) => `${landing} ${'bytes' in facts && facts.bytes}`);
    assert.deepEqual([page, ...ads].map(bytesOf), [['0 3000000'], [], ['null 5000000'], [], ['null 5000000']]);
  });
});

describe('the records of the ads of one page', () => {
  const tab = (targetId: string) => ({ session: { targetId } }) as unknown as Tab;
  const pageTab = tab('tab');
  const found = (identity: string, frameIds: string[], own = pageTab) =>
    ({
      ...ad(frameIds),
      ...{ block: { identity, width: 300, height: 250 }, element: own === pageTab ? {} : null, tab: { tab: own } },
    }) as unknown as FoundAd;
  const [a, b, popped] = [found('1', ['a']), found('2', ['b']), found('3', [], tab('popped'))];
  const captureWith = (...landings: Tab[]) =>
    ({
      devtools: { frames },
      landings: { all: landings.map((one, ord) => ({ ord, tab: one })) },
    }) as unknown as MemberCapture;
  const draftOf = (...observations: FramedObservation[]) =>
    ({ observations, documents: [], bodies: [], frameBytes: new Map() }) as unknown as Draft;
  const recordedOf = ({ observations }: Draft) =>
    observations.map(({ kind, frameId, landing }) => `${kind} ${frameId} ${landing}`);
  const form = (frameId: string, landing: number | null): FramedObservation => ({
    ...{ kind: 'form', landing, url: '', facts: { fields: ['password'], action_url: '', text: '' }, frameId },
  });

  it('an ad gets what it did before its turn, also during the turns of others, and what its landings did; the page keeps its own', () => {
    const records = new AdRecords();
    const page = draftOf(dialogs('page'), dialogs('a'), dialogs('b'), form('b', 0), dialogs(null, 1));
    records.leavePage(page, captureWith(pageTab, tab('popped')), [popped, a, b], pageTab);
    assert.deepEqual(recordedOf(page), ['dialogs page 0']);

    const ofPop = draftOf(dialogs('b', null), dialogs('in-pop', 0));
    records.leaveAd(ofPop, captureWith(tab('popped')), popped, [a, b], pageTab);
    assert.deepEqual(recordedOf(ofPop), ['dialogs null 0', 'dialogs in-pop 0']);

    const ofA = draftOf(dialogs('gone', null), dialogs('b', null), dialogs('page', null), dialogs('in-landing', 0));
    records.leaveAd(ofA, captureWith(tab('landing')), a, [b], pageTab);
    assert.deepEqual(recordedOf(ofA), ['dialogs a null', 'dialogs gone null', 'dialogs in-landing 0']);

    const ofB = draftOf(form('b', null), dialogs('a', null));
    records.leaveAd(ofB, captureWith(), b, [], pageTab);
    const expected = ['dialogs b null', 'form b null', 'dialogs b null', 'dialogs b null'];
    assert.deepEqual(
      recordedOf(ofB),
      expected,
      'a form that two sessions read is one, and what ad a did is not of ad b',
    );
  });

  it("of a tab-under, what happened in the tab of the page is the page's", () => {
    const records = new AdRecords();
    const under = { ...found('4', []), element: null };
    const page = draftOf(dialogs('page'));
    records.leavePage(page, captureWith(pageTab), [under], pageTab);
    assert.deepEqual(recordedOf(page), ['dialogs page 0']);
  });
});

describe('the observations of frames in a capture', () => {
  it('dialogs, traits and windows of the frames of a tab count together; frames are left out', () => {
    const traits = (frameId: string, canvas_reads: number, fonts: number): FramedObservation => ({
      ...{ kind: 'fingerprint', landing: 0, url: '', facts: { canvas_reads, audio_renders: 0, fonts }, frameId },
    });
    const windows = (frameId: string, url: string): FramedObservation => ({
      ...{ kind: 'popups', landing: 0, url: '', facts: { windows: 1, without_gesture: 1, urls: [url] }, frameId },
    });
    const framed = [
      dialogs('a'),
      traits('a', 1, 0),
      dialogs('b', 0, 2),
      traits('b', 0, 32),
      windows('a', 'x'),
      windows('b', 'y'),
    ];
    assert.deepEqual(combineObservations([...framed, dialogs('c', 1)]), [
      { kind: 'dialogs', landing: 0, url: 'http://page.example/', facts: { count: 3 } },
      { kind: 'fingerprint', landing: 0, url: '', facts: { canvas_reads: 1, audio_renders: 0, fonts: 32 } },
      { kind: 'popups', landing: 0, url: '', facts: { windows: 2, without_gesture: 2, urls: ['x', 'y'] } },
      { kind: 'dialogs', landing: 1, url: 'http://page.example/', facts: { count: 1 } },
    ]);
  });

  it('of the sounds of a tab, the ten loudest are kept, whatever frames they are of', () => {
    const sound = (frameId: string, volume: number): FramedObservation => {
      const facts = { via: 'play', muted: volume === 0, volume, started: true, has_audio: true } as const;
      return { kind: 'autosound', landing: 0, url: '', facts, frameId };
    };
    const quiet = Array.from({ length: 30 }, (_, at) => sound(`quiet ${at}`, 0));
    const kept = combineObservations([...quiet, sound('loud', 1)]);
    assert.equal(kept.length, 10);
    assert.ok(kept.some((one) => one.kind === 'autosound' && one.facts.volume === 1));
  });
});
