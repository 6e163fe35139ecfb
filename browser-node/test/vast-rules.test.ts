import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Note, note } from '@adsweep/shared/capture/notes.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import type { VastCompanionAds, VastDisplay, VastLinear } from '@adsweep/shared/vast/vast-document.ts';
import { recordOf } from '../src/capture/collectors/vast.ts';
import { declaredTrackers, isAbout, isDueAt } from '../src/capture/vast/ad-trackers.ts';
import { isTainted, lengthOf } from '../src/capture/vast/intercept-responses.ts';
import { clockOf, fillMacros, type MacroContext } from '../src/capture/vast/macros.ts';
import { chooseMedia } from '../src/capture/vast/media-files.ts';
import { playAds } from '../src/capture/vast/play-ads.ts';
import { positionOf } from '../src/capture/vast/play-icons.ts';
import { rateAt } from '../src/capture/vast/play-video.ts';
import type { Player } from '../src/capture/vast/player.ts';
import type { PlayerPage } from '../src/capture/vast/player-page.ts';
import { describeAd } from '../src/capture/vast/resolved-ad.ts';
import { hasRequired } from '../src/capture/vast/show-companions.ts';
import { TrackerLog } from '../src/capture/vast/tracker-log.ts';
import { unwrap } from '../src/capture/vast/unwrap.ts';
import type { ResolvedAd } from '../src/capture/vast/wrapper-chain.ts';
import { fetched } from './support/fetched.ts';

const CONTEXT: MacroContext = {
  now: new Date('2026-11-22T06:00:00.123Z'),
  pageUrl: 'https://publisher.example/a?b=c',
  userAgent: 'Mozilla/5.0 (X)',
  player: { width: 640, height: 360, muted: true },
  playheadMs: 3_723_004,
  assetUrl: 'https://cdn.example/a b.mp4',
  podSequence: 2,
  adServingId: 'serving-1',
  universalAdIds: ['ad-id.org A1', 'clearcast B2'],
  reason: null,
  transactionId: 'id',
  errorCode: 402,
  click: null,
};

/** The macros of VAST 4.3, section 6. */
const MACROS =
  'ADCATEGORIES ADCOUNT ADPLAYHEAD ADSERVINGID ADTYPE APIFRAMEWORKS APPBUNDLE ASSETURI BLOCKEDADCATEGORIES BREAKMAXADLENGTH BREAKMAXADS ' +
  'BREAKMAXDURATION BREAKMINADLENGTH BREAKMINDURATION BREAKPOSITION CACHEBUSTING CLICKPOS CLICKTYPE CLIENTUA CONTENTCAT CONTENTID ' +
  'CONTENTPLAYHEAD CONTENTURI DEVICEIP DEVICEUA DOMAIN ERRORCODE EXTENSIONS GDPRCONSENT GPPSECTIONID GPPSTRING IFA IFATYPE ' +
  'INVENTORYSTATE LATLONG LIMITADTRACKING MEDIAMIME MEDIAPLAYHEAD OMIDPARTNER PAGEURL PLACEMENTTYPE PLAYERCAPABILITIES PLAYERSIZE ' +
  'PLAYERSTATE PODSEQUENCE REASON REGULATIONS SERVERSIDE SERVERUA STOREID STOREURL TIMESTAMP TRANSACTIONID UNIVERSALADID VASTVERSIONS ' +
  'VERIFICATIONVENDORS';

describe('VAST macros (VAST 4.3, 6)', () => {
  const filled = (url: string) => fillMacros(`https://t.example/?${url}`, CONTEXT).replace('https://t.example/?', '');

  it('macros are replaced with percent-encoded values, and lists are separated by commas', () => {
    assert.equal(filled('a=[ERRORCODE]&b=[PLAYERSIZE]'), 'a=402&b=640,360');
    assert.equal(filled('[ADPLAYHEAD]'), '01%3A02%3A03.004');
    assert.equal(filled('[TIMESTAMP]'), '2026-11-22T06%3A00%3A00.123%2B00%3A00');
    assert.equal(filled('[PAGEURL]'), 'https%3A%2F%2Fpublisher.example%2Fa%3Fb%3Dc');
    assert.equal(filled('[ASSETURI]'), 'https%3A%2F%2Fcdn.example%2Fa%20b.mp4');
    assert.match(filled('[CACHEBUSTING]'), /^\d{8}$/);
    assert.match(filled('[random]'), /^\d{8}$/);
  });

  it('macros without a known value become -1, even with encoded brackets; brackets around other names stay unchanged', () => {
    assert.equal(filled('[IFA]&%5BGDPRCONSENT%5D'), '-1&-1');
    assert.equal(filled('a[]=1&b=[UNHEARDOF]&c=[0]'), 'a[]=1&b=[UNHEARDOF]&c=[0]');
  });

  it('macros of the ad have the values of its document, and REASON is the code of a verification script that did not run', () => {
    assert.equal(filled('[ADSERVINGID]&[UNIVERSALADID]'), 'serving-1&ad-id.org%20A1,clearcast%20B2');
    const [none, refused] = [
      { ...CONTEXT, adServingId: '', universalAdIds: [] },
      { ...CONTEXT, reason: 2 },
    ];
    assert.equal(fillMacros('[ADSERVINGID]&[UNIVERSALADID]&[REASON]', none), '-1&-1&-1');
    assert.equal(fillMacros('[REASON]', refused), '2');
  });

  it('every macro of the standard is replaced', () => {
    for (const name of MACROS.split(' ')) assert.doesNotMatch(filled(`[${name}]`), /\[/, name);
  });

  it('a playhead is formatted as HH:MM:SS.mmm', () => {
    assert.deepEqual([clockOf(0), clockOf(61_500), clockOf(-5)], ['00:00:00.000', '00:01:01.500', '00:00:00.000']);
  });
});

describe('the choice of a media file (VAST 4.3, 3.9)', () => {
  const phone = findEmulator('iphone_15');
  const desktop = findEmulator('windows_edge');
  assert.ok(phone && desktop);
  const file = (name: string, more: Partial<VastLinear['mediaFiles'][number]> = {}) => ({
    url: `https://cdn.example/${name}`,
    type: 'video/mp4',
    delivery: 'progressive',
    width: 640,
    height: 360,
    bitrate: 800,
    codec: '',
    apiFramework: '',
    ...more,
  });
  const chosen = (device: typeof desktop, ...mediaFiles: VastLinear['mediaFiles']) =>
    chooseMedia({ mediaFiles } as VastLinear, device, 640).map(
      ({ kind, file: { url } }) => `${kind} ${url.split('/').at(-1)}`,
    );

  it('the media file closest to the size of the player is chosen, then the one with the lower bitrate', () => {
    const files = [
      file('huge', { width: 1920 }),
      file('small', { width: 320 }),
      file('fit'),
      file('fit-high', { bitrate: 9_000 }),
    ];
    assert.deepEqual(chosen(desktop, ...files), ['file fit', 'file fit-high', 'file small', 'file huge']);
  });

  it('only media files of a type that the device plays are chosen', () => {
    const files = [
      file('webm', { type: 'video/webm' }),
      file('flv', { type: 'video/x-flv' }),
      file('hls', { type: 'application/x-mpegURL', delivery: 'streaming' }),
    ];
    assert.deepEqual(chosen(desktop, ...files), ['file webm']);
    assert.deepEqual(chosen(phone, ...files), ['file hls']);
  });

  it('a video with the name of no interface in `apiFramework` is a video, and one that needs an interface is not chosen', () => {
    const files = [file('plain', { apiFramework: 'none' }), file('player', { apiFramework: 'HTML5' })];
    assert.deepEqual(chosen(desktop, ...files), ['file plain', 'file player']);
    for (const apiFramework of ['VPAID', 'vpaid2', 'SIMID', 'MRAID-2'])
      assert.deepEqual(chosen(desktop, file('needs', { apiFramework })), [], apiFramework);
  });

  it('a VPAID script is preferred to a video, and Flash is never chosen', () => {
    const script = file('ad.js', { type: 'application/javascript', apiFramework: 'VPAID' });
    const flash = file('ad.swf', { type: 'application/x-shockwave-flash', apiFramework: 'VPAID' });
    assert.deepEqual(chosen(desktop, file('plain'), flash, script), ['vpaid ad.js', 'file plain']);
  });
});

describe('when trackers are due (VAST 4.3, 3.14.1)', () => {
  const due = (event: string, ms: number, offset: string | null = null, ended = false) =>
    isDueAt({ part: 'linear', event, offset }, { ms, durationMs: 8_000, ended });

  it('trackers of quartiles, offsets and the end are due when playback reaches them', () => {
    assert.deepEqual([due('start', 0), due('firstQuartile', 1_999), due('firstQuartile', 2_000)], [true, false, true]);
    assert.deepEqual([due('complete', 8_000), due('complete', 8_000, null, true)], [false, true]);
    assert.deepEqual([due('progress', 999, '00:00:01'), due('progress', 1_000, '00:00:01')], [false, true]);
    assert.deepEqual([due('progress', 7_199, '90%'), due('progress', 7_200, '90%')], [false, true]);
    assert.equal(due('progress', 8_000, '00:00:09', true), false, 'beyond the end');
    assert.equal(due('progress', 8_000, 'soon', true), false);
  });

  it('trackers of viewer actions are never due, nor are quartiles of a video of unknown duration', () => {
    for (const event of ['skip', 'mute', 'pause', 'closeLinear', 'clickTracking'])
      assert.equal(due(event, 8_000, null, true), false, event);
    const endless = { ms: 5_000, durationMs: Number.POSITIVE_INFINITY, ended: false };
    assert.equal(isDueAt({ part: 'linear', event: 'start', offset: null }, endless), true);
    assert.equal(isDueAt({ part: 'linear', event: 'midpoint', offset: null }, endless), false);
  });

  it('a video plays at normal speed for fifteen seconds, and faster after that if much of it remains', () => {
    const rate = (ms: number, durationMs: number) => rateAt({ ms, durationMs, ended: false });
    assert.deepEqual([rate(14_000, 60_000), rate(15_000, 20_000), rate(15_000, 30_000)], [1, 1, 3]);
    assert.equal(rate(15_000, 3_600_000), 16);
  });
});

describe('responses of media and tracker servers', () => {
  it('a media response is kept only if it is a whole file and not known to be too large', () => {
    const headers = (more: Record<string, string>) => Object.entries(more).map(([name, value]) => ({ name, value }));
    assert.equal(lengthOf(200, headers({ 'Content-Length': '100' })), 100);
    assert.equal(lengthOf(200, headers({})), 'unknown');
    assert.equal(lengthOf(206, headers({ 'Content-Length': '100', 'Content-Range': 'bytes 0-99/100' })), 100);
    assert.equal(lengthOf(206, headers({ 'Content-Range': 'bytes 0-99/100' })), 100);
    assert.equal(lengthOf(206, headers({ 'Content-Length': '50', 'Content-Range': 'bytes 0-49/100' })), null);
    assert.equal(lengthOf(200, headers({ 'Content-Length': String(33 * 1024 * 1024) })), null);
    assert.equal(lengthOf(404, headers({ 'Content-Length': '10' })), null);
  });

  it('a request has the origin `null` after a redirect from one foreign origin to another (Fetch standard, 4.1)', () => {
    assert.equal(isTainted(['https://a', 'https://a'], 'https://own'), false);
    assert.equal(isTainted(['https://own', 'https://a'], 'https://own'), false);
    assert.equal(isTainted(['https://a', 'https://b'], 'https://own'), true);
  });
});

describe('the record of an ad', () => {
  const describedAd = async (text: string) => {
    const resolution = await unwrap(
      fetched('https://a.example/', `<VAST version="4.0"><Ad><InLine>${text}</InLine></Ad></VAST>`),
      async (url) => fetched(url, ''),
    );
    return describeAd(resolution, resolution.ads[0] as ResolvedAd);
  };

  it('verification scripts are named by their vendor, their API or their host (VAST 4.3, 3.17)', async () => {
    const script = (of: string, api: string, url = 'https://verifier.example/a.js') =>
      `<Verification${of}><JavaScriptResource${api}>${url}</JavaScriptResource></Verification>`;
    const scripts = [
      script(' vendor="v-omid"', ''),
      script('', ' apiFramework="omid"'),
      script('', ''),
      script('', '', 'a.js'),
    ];
    const { verifications } = await describedAd(`<AdVerifications>${scripts.join('')}</AdVerifications>`);
    assert.deepEqual(verifications, ['v-omid', 'omid', 'verifier.example', 'unnamed']);
  });

  it('an ad with overlays and no video is nonlinear, whether or not they can be shown', async () => {
    const overlay = `<Creative><NonLinearAds><NonLinear><StaticResource creativeType="application/x-shockwave-flash">/a.swf</StaticResource></NonLinear></NonLinearAds></Creative>`;
    const isNonLinear = async (creatives: string) =>
      (await describedAd(`<Creatives>${creatives}</Creatives>`)).is_nonlinear;
    assert.equal(await isNonLinear(overlay), true);
    assert.equal(await isNonLinear(`${overlay}<Creative><Linear/></Creative>`), false);
    assert.equal(await isNonLinear(''), false);
  });
});

describe('a pod that is not played to its end', () => {
  /** The notes about a pod of `count` ads without anything to show, `leftOut` of which were not read. */
  async function notesOf(count: number, leftOut: number): Promise<Note[]> {
    const pod = Array.from({ length: count }, (_, at) => `<Ad sequence="${at + 1}"><InLine/></Ad>`).join('');
    const resolution = await unwrap(fetched('https://a.example/', `<VAST version="4.0">${pod}</VAST>`), async (url) =>
      fetched(url, ''),
    );
    const page = { fire: async () => undefined, remove: async () => undefined, isGone: false } as unknown as PlayerPage;
    const notes: Note[] = [];
    const player = { page, log: new TrackerLog(page, 0, () => CONTEXT), notes, files: [] } as unknown as Player;
    await playAds(player, { ...resolution, adsLeftOut: leftOut }, []);
    return notes;
  }

  it('has a note with the number of ads that were not played', async () => {
    assert.deepEqual(await notesOf(5, 0), []);
    assert.deepEqual(await notesOf(7, 3), [note('ads', { count: 5 })]);
  });
});

describe('trackers of companions and overlays', () => {
  const display = (name: string, kind: string, creativeView = true) => `<${kind} width="300" height="60">
    <StaticResource creativeType="image/png">https://cdn.example/${name}.png</StaticResource>
    ${creativeView ? `<TrackingEvents><Tracking event="creativeView">https://t.example/${name}-view</Tracking></TrackingEvents>` : ''}
    <${kind}ClickTracking>https://t.example/${name}-click</${kind}ClickTracking></${kind}>`;
  const ad = (body: string, creatives: string) =>
    `<VAST version="4.2"><Ad><${body}><VASTAdTagURI>https://a.example/next</VASTAdTagURI><Creatives>${creatives}</Creatives></${body}></Ad></VAST>`;
  const companions = (name: string) =>
    `<Creative><CompanionAds>${display(name, 'Companion')}</CompanionAds></Creative>`;
  const overlays = (...names: string[]) =>
    `<Creative><NonLinearAds>${names.map((name) => display(name, 'NonLinear', false)).join('')}
    <TrackingEvents><Tracking event="start">https://t.example/${names[0]}-start</Tracking></TrackingEvents></NonLinearAds></Creative>`;

  it('a tracker applies only to the companion or overlay that is shown; an overlay tracker of a wrapper applies to any overlay', async () => {
    const wrapper = ad('Wrapper', companions('outer') + overlays('outer'));
    const inline = ad('InLine', companions('own') + overlays('first', 'second'));
    const resolution = await unwrap(fetched('https://a.example/tag', wrapper), async () =>
      fetched('https://a.example/tag', inline),
    );
    const [resolved] = resolution.ads;
    assert.ok(resolved);
    const { trackers: declared } = declaredTrackers(resolution, resolved, 2_000);
    const [companion, overlay] = [resolved.ad.companionAds[0]?.companions[0], resolved.ad.nonLinears[1]];
    assert.ok(companion && overlay);
    const about = (part: string, shown: typeof companion) =>
      declared
        .filter((tracker) => tracker.part === part && isAbout(tracker, shown))
        .map(({ url }) => url.replace('https://t.example/', ''));
    assert.deepEqual(about('companion', companion), ['own-view', 'own-click']);
    assert.deepEqual(about('nonlinear', overlay), ['first-start', 'second-click', 'outer-start', 'outer-click']);
  });
});

describe('too many trackers', () => {
  it('of too many trackers, the first 2,000 are requested and the first 500 listed, with the number of omitted ones', async () => {
    const asked: string[] = [];
    const page = {
      fire: async (urls: string[]) => void asked.push(...urls),
      pause: async () => undefined,
    } as unknown as PlayerPage;
    const log = new TrackerLog(page, 0, () => CONTEXT);
    const tracker = (at: number) => ({ event: 'impression', url: `https://t.example/${at}`, offset: null });
    const declared = Array.from({ length: 1_500 }, (_, at) => ({
      ...tracker(at),
      part: 'ad' as const,
      document: 0,
      form: null,
    }));
    for (const ad of [0, 1]) log.declare(ad, declared);
    for (const ad of [0, 1]) await log.fire(ad, () => true);
    assert.equal(asked.length, 2_000);
    const resolution = { chain: [], ads: [], adsLeftOut: 0, errors: [], failure: null };
    const { trackers, trackers_left_out } = recordOf({ resolution, played: [], log }, []);
    assert.deepEqual([trackers.length, trackers_left_out], [500, 2_500]);
  });
});

describe('required companions (VAST 4.3, 3.13)', () => {
  const [one, other] = [1, 2].map((width) => ({ width }) as VastDisplay) as [VastDisplay, VastDisplay];
  const isPlayed = (required: VastCompanionAds['required'], ...shown: VastDisplay[]) =>
    hasRequired({ required, companions: [one, other] }, (companion) => shown.includes(companion));

  it('an ad counts as played if all, any or none of its companions are shown, as its `required` attribute demands', () => {
    assert.deepEqual([isPlayed('all', one, other), isPlayed('all', one), isPlayed('all')], [true, false, false]);
    assert.deepEqual([isPlayed('any', other), isPlayed('any')], [true, false]);
    assert.deepEqual([isPlayed('none'), isPlayed(null)], [true, true]);
    for (const required of ['all', 'any'] as const)
      assert.ok(
        hasRequired({ required, companions: [] }, () => false),
        `${required} of nothing`,
      );
  });
});

describe('the position of an icon (VAST 4.3, 3.11.1)', () => {
  const player = { width: 640, height: 360 };
  const place = (xPosition: string, yPosition: string, width: number | null = 60, height: number | null = 20) => {
    const { over, ...size } = positionOf({ xPosition, yPosition, width, height }, player);
    return [over.replace(';pointer-events:none', ''), size.width, size.height];
  };

  it('an icon has its declared position and size, limited to the player', () => {
    assert.deepEqual(place('left', 'top'), ['left:0px;top:0px', 60, 20]);
    assert.deepEqual(place('Right', 'bottom'), ['right:0;bottom:0', 60, 20]);
    assert.deepEqual(place('12', '34'), ['left:12px;top:34px', 60, 20]);
    assert.deepEqual(place('9000', '-5'), ['left:580px;top:0px', 60, 20]);
    assert.deepEqual(place('1;position:fixed', '', 5_000, null), ['left:0px;top:0px', 640, 20]);
  });
});
