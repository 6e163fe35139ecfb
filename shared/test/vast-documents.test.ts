import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseClock } from '../src/vast/clock.ts';
import { parseVast } from '../src/vast/read-vast.ts';
import type { VastDocument, VastLinear, VastResource, VastTracker } from '../src/vast/vast-document.ts';
import { parseXml, type XmlElement } from '../src/vast/xml.ts';
import { corpusData } from './support/corpus-data.ts';

/** Documents that others wrote, with values that were computed by another parser. */
const { path: DATA, skip } = corpusData('vast');

type ExpectedLinear = {
  duration: string | null;
  durationSeconds: number | null;
  skipoffset: string | null;
  mediaFiles: {
    url: string;
    type: string;
    apiFramework: string | null;
    width: string | null;
    bitrate: string | null;
  }[];
  interactiveCreativeFiles: unknown[];
  mezzanine: number;
  closedCaptionFiles: number;
  clickThrough: string | null;
  icons: number;
};
type ExpectedAd = {
  id: string | null;
  sequence: string | null;
  kind: 'inline' | 'wrapper';
  adSystem: string | null;
  adTitle: string | null;
  advertiser: string | null;
  categories: unknown[];
  vastAdTagURI?: string;
  followAdditionalWrappers?: string | null;
  allowMultipleAds?: string | null;
  fallbackOnNoAd?: string | null;
  impressions: number;
  trackingEvents: number;
  linear: ExpectedLinear[];
  nonLinear: number;
  companions: number;
  verifications: number;
  extensions: number;
};
type Expected = {
  file: string;
  wellFormed: boolean;
  root: string;
  vastVersion: string | null;
  rootErrors: string[];
  ads?: ExpectedAd[];
};

describe('the documents of real players and servers', { skip }, () => {
  const all: Expected[] = skip ? [] : JSON.parse(readFileSync(join(DATA, 'expected.json'), 'utf8'));

  for (const expected of all) {
    it(`${expected.file} is read as another parser reads it`, () => {
      const text = readFileSync(join(DATA, expected.file), 'utf8');
      const root = parseXml(text);
      assert.equal(root !== null, expected.wellFormed, 'well-formed');
      const document = parseVast(text);
      const isVast = root?.name === 'VAST' || root?.name === 'VideoAdServingTemplate';
      assert.equal(document !== null, isVast);
      if (!document) return;
      assert.equal(document.version, expected.vastVersion);
      assert.deepEqual(document.errors, expected.rootErrors);
      assert.deepEqual(document.ads.map(asExpected), (expected.ads ?? []).map(comparable));
      const elements = root?.children.filter(({ name }) => name === 'Ad') ?? [];
      const counted = elements.map((ad) => [count(ad, 'Impression'), count(ad, 'Tracking'), count(ad, 'Extension')]);
      assert.deepEqual(
        counted,
        (expected.ads ?? []).map(({ impressions, trackingEvents, extensions }) => [
          impressions,
          trackingEvents,
          extensions,
        ]),
      );
    });
  }
});

/** Elements of this name anywhere in an element: the expected values count those inside of extensions too. */
const count = (element: XmlElement, name: string): number =>
  element.children.reduce((sum, child) => sum + count(child, name) + (child.name === name ? 1 : 0), 0);

/** An ad as the expected values put it. */
function asExpected(ad: VastDocument['ads'][number]) {
  return {
    id: ad.id,
    sequence: ad.sequence === null ? null : String(ad.sequence),
    kind: ad.wrapper ? 'wrapper' : 'inline',
    adSystem: ad.adSystem,
    adTitle: ad.adTitle,
    advertiser: ad.advertiser,
    categories: ad.categories.length,
    wrapper: ad.wrapper,
    linear: ad.linears.map(linearAsExpected),
    nonLinear: ad.nonLinears.length,
    companions: ad.companionAds.flatMap(({ companions }) => companions).length,
    verifications: ad.verifications.length,
  };
}

const seconds = (duration: string | null): number | null => {
  const ms = parseClock(duration ?? '');
  return ms === null ? null : ms / 1_000;
};

function linearAsExpected(linear: VastLinear) {
  return {
    duration: linear.duration,
    durationSeconds: seconds(linear.duration),
    skipoffset: linear.skipOffset,
    mediaFiles: linear.mediaFiles.map(({ url, type, width, bitrate, apiFramework }) => ({
      url,
      type,
      width,
      bitrate,
      apiFramework,
    })),
    interactive: linear.interactiveFiles.length,
    mezzanine: linear.mezzanines,
    closedCaptionFiles: linear.closedCaptionFiles,
    clickThrough: linear.clickThrough,
    icons: linear.icons.length,
  };
}

function comparable(ad: ExpectedAd) {
  const asBoolean = (text: string | null | undefined) => (text == null ? null : /^(true|1)$/i.test(text));
  return {
    id: ad.id ?? '',
    sequence: ad.sequence,
    kind: ad.kind,
    adSystem: ad.adSystem ?? '',
    adTitle: ad.adTitle ?? '',
    advertiser: ad.advertiser ?? '',
    categories: ad.categories.length,
    wrapper:
      ad.kind === 'wrapper'
        ? {
            uri: ad.vastAdTagURI,
            followAdditionalWrappers: asBoolean(ad.followAdditionalWrappers),
            allowMultipleAds: asBoolean(ad.allowMultipleAds),
            fallbackOnNoAd: asBoolean(ad.fallbackOnNoAd),
          }
        : null,
    linear: ad.linear.map((linear) => ({
      duration: linear.duration,
      durationSeconds: linear.durationSeconds,
      skipoffset: linear.skipoffset,
      mediaFiles: linear.mediaFiles.map(({ url, type, width, bitrate, apiFramework }) => ({
        url,
        type: type ?? '',
        width: width === null ? null : Number(width),
        bitrate: bitrate === null ? null : Number(bitrate),
        apiFramework: apiFramework ?? '',
      })),
      interactive: linear.interactiveCreativeFiles.length,
      mezzanine: linear.mezzanine,
      closedCaptionFiles: linear.closedCaptionFiles,
      clickThrough: linear.clickThrough ?? '',
      icons: linear.icons,
    })),
    nonLinear: ad.nonLinear,
    companions: ad.companions,
    verifications: ad.verifications,
  };
}

describe('verification scripts', () => {
  it('are read where VAST 4.1 has them, and in an extension as before it', () => {
    const scripts = (vendor: string) =>
      `<AdVerifications><Verification vendor="${vendor}"><JavaScriptResource apiFramework="omid">https://v.example/</JavaScriptResource></Verification></AdVerifications>`;
    const text = `<VAST version="4.0"><Ad><InLine>${scripts('own')}<Extensions><Extension type="AdVerifications">${scripts('before')}</Extension></Extensions></InLine></Ad></VAST>`;
    assert.deepEqual(
      parseVast(text)?.ads[0]?.verifications.map(({ vendor }) => vendor),
      ['own', 'before'],
    );
  });
});

describe('VAST 1.x', () => {
  const url = (name: string) => `<URL id="${name}"><![CDATA[https://t.example/${name}]]></URL>`;
  const display = (kind: string, type: string, content: string) =>
    `<${kind} width="300" height="60" resourceType="${type}" creativeType="image/png">${content}<${kind}ClickThrough>${url('click')}</${kind}ClickThrough></${kind}>`;
  const ad = (body: string) =>
    parseVast(`<VideoAdServingTemplate><Ad id="1">${body}</Ad></VideoAdServingTemplate>`)?.ads[0];
  const EVENTS = `<TrackingEvents><Tracking event="start">${url('start')}${url('start-2')}</Tracking><Tracking event="midpoint">${url('mid')}</Tracking></TrackingEvents>`;
  const OVERLAYS = `<NonLinearAds>${display('NonLinear', 'static', url('overlay.png'))}${display('NonLinear', 'HTML', '<Code>&lt;b>hi&lt;/b></Code>')}</NonLinearAds>`;
  const trackers = (all: VastTracker[] = []) => all.map(({ event, url: at }) => `${event} ${at.split('/').at(-1)}`);

  it('an inline ad is read with all URLs of each impression, all events, and the overlays and companions in the ad itself', () => {
    const inline =
      ad(`<InLine><AdSystem>s</AdSystem><AdTitle>t</AdTitle><Impression>${url('i-1')}${url('i-2')}</Impression>
      <Error>${url('e')}</Error>${EVENTS}
      <Video><Duration>00:00:15</Duration><AdParameters>p=1</AdParameters><VideoClicks><ClickThrough>${url('page')}</ClickThrough><ClickTracking>${url('c-1')}${url('c-2')}</ClickTracking></VideoClicks>
      <MediaFiles><MediaFile type="video/mp4" bitrate="500">${url('v.mp4')}</MediaFile></MediaFiles></Video>
      <CompanionAds>${display('Companion', 'iframe', url('companion'))}${display('Companion', 'script', url('script'))}</CompanionAds>${OVERLAYS}</InLine>`);
    assert.deepEqual(trackers(inline?.trackers), ['impression i-1', 'impression i-2', 'error e']);
    const [linear] = inline?.linears ?? [];
    assert.deepEqual(trackers(linear?.trackers), [
      'start start',
      'start start-2',
      'midpoint mid',
      'clickTracking c-1',
      'clickTracking c-2',
    ]);
    assert.deepEqual(
      [linear?.duration, linear?.adParameters, linear?.clickThrough, linear?.mediaFiles[0]?.url],
      ['00:00:15', 'p=1', 'https://t.example/page', 'https://t.example/v.mp4'],
    );
    const resources = (displays: { resources: VastResource[] }[] = []) =>
      displays.map(({ resources: [one] }) => [one?.form, one?.value]);
    assert.deepEqual(resources(inline?.companionAds[0]?.companions), [
      ['iframe', 'https://t.example/companion'],
      ['html', '<script src="https://t.example/script"></script>'],
    ]);
    assert.deepEqual(resources(inline?.nonLinears), [
      ['static', 'https://t.example/overlay.png'],
      ['html', '<b>hi</b>'],
    ]);
    assert.equal(inline?.nonLinears[0]?.clickThrough, 'https://t.example/click');
  });

  it('the events of an ad without a video are those of its overlays', () => {
    const inline = ad(`<InLine>${EVENTS}${OVERLAYS}</InLine>`);
    assert.deepEqual(inline?.linears, []);
    assert.deepEqual(trackers(inline?.nonLinears[0]?.trackers), ['start start', 'start start-2', 'midpoint mid']);
  });

  it('a wrapper has events and clicks for whatever the ad shows', () => {
    const wrapper = ad(
      `<Wrapper><VASTAdTagURL>${url('next')}</VASTAdTagURL><Impression>${url('i')}</Impression>${EVENTS}<VideoClicks><ClickTracking>${url('c')}</ClickTracking></VideoClicks></Wrapper>`,
    );
    assert.equal(wrapper?.wrapper?.uri, 'https://t.example/next');
    assert.deepEqual(trackers(wrapper?.linears[0]?.trackers), [
      'start start',
      'start start-2',
      'midpoint mid',
      'clickTracking c',
    ]);
    assert.deepEqual(trackers(wrapper?.nonLinears[0]?.trackers), ['start start', 'start start-2', 'midpoint mid']);
  });
});
