import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { CapturedVast } from '@adsweep/shared/capture/vast.ts';
import { corpusData } from '../../../../shared/test/support/corpus-data.ts';
import { detect } from '../../../src/analysis/detectors/detect.ts';
import { NO_EVIDENCE } from '../../../src/analysis/evidence/evidence.ts';
import { sampleAd, sampleMedia, sampleTracker, sampleVast } from '../../support/sample-vast.ts';

const AD = { ...sampleAd, media: [] };
const [MEDIA, TRACKER] = [sampleMedia, sampleTracker];
const vast = (parts: Partial<CapturedVast> = {}): CapturedVast =>
  sampleVast({ rungs: [], ads: [{ ...AD, media: [MEDIA] }], trackers: [TRACKER], ...parts });
const found = (record: CapturedVast, ...documents: string[]) => {
  const vastDocuments = documents.map((text, rung) => ({ rung, text }));
  return detect({ ...NO_EVIDENCE, vast: record, vastDocuments }).findings.map(({ tag_slug, detail }) => [
    tag_slug,
    detail,
  ]);
};
const slugs = (...args: Parameters<typeof found>) => found(...args).map(([slug]) => slug);

describe('the findings of a VAST tag', () => {
  it('are none for a correct ad', () => {
    assert.deepEqual(found(vast(), GOOD), []);
  });

  it('name a video that does not play, with the error code of a player', () => {
    const media = [{ ...MEDIA, outcome: 'refused' as const, status_code: 404 }];
    const [[slug, detail] = []] = found(vast({ ads: [{ ...AD, shown: 'nothing', error_code: 401, media }] }));
    assert.equal(slug, 'vast_media_unplayable');
    assert.match(String(detail), /refused it \(404\); error 401 \(VAST 4\.3, 2\.3\.6\.3\)/);
    assert.deepEqual(slugs(vast({ ads: [{ ...AD, shown: 'nothing', error_code: 403 }] })), ['vast_media_unplayable']);
    const [[missing, why] = []] = found(vast({ ads: [{ ...AD, shown: 'nothing', error_code: 602 }] }));
    assert.equal(missing, 'vast_media_unplayable');
    assert.match(String(why), /a companion [^;]*\(VAST 4\.3, 3\.13\); error 602/);
  });

  it('leave out media that the device would play and our browser cannot', () => {
    const media = [{ ...MEDIA, outcome: 'undecodable' as const }];
    assert.deepEqual(slugs(vast({ ads: [{ ...AD, shown: 'nothing', error_code: 405, media }] })), []);
  });

  it('name a duration and a bitrate that differ from the document', () => {
    const record = (duration_ms: number, bitrate: number) =>
      vast({ ads: [{ ...AD, duration_ms, media: [{ ...MEDIA, bitrate }] }] });
    assert.deepEqual(slugs(record(10_900, 500)), []);
    assert.deepEqual(slugs(record(15_000, 800)), ['vast_duration_mismatch']);
    assert.deepEqual(slugs(record(10_000, 5_000)), ['vast_bitrate_mismatch']);
  });

  it('name no bitrate of a stream, whose file is only a list', () => {
    const of = (media: object) => slugs(vast({ ads: [{ ...AD, media: [{ ...MEDIA, bitrate: 5_000, ...media }] }] }));
    assert.deepEqual(of({}), ['vast_bitrate_mismatch']);
    assert.deepEqual(of({ delivery: 'streaming' }), []);
    assert.deepEqual(of({ content_type: 'application/vnd.apple.mpegurl' }), []);
  });

  it('name no heavy ad for a video of the player, and one for what a script in the player loads', () => {
    const of = (bytes: number, ad: object) => {
      const observations = [
        { kind: 'frame_weight' as const, landing: null, url: '', facts: { bytes, width: 0, height: 0 } },
      ];
      const record = vast({ ads: [{ ...AD, media: [{ ...MEDIA, bytes: 6_000_000 }], ...ad }] });
      return detect({ ...NO_EVIDENCE, vast: record, observations }).findings.flatMap(({ tag_slug }) =>
        tag_slug === 'heavy_ad' ? [tag_slug] : [],
      );
    };
    assert.deepEqual(of(12_000_000, {}), []);
    assert.deepEqual(of(12_000_000, { is_vpaid: true }), []);
    assert.deepEqual(of(17_000_000, { is_vpaid: true }), ['heavy_ad']);
  });

  it('name impressions that are declared twice, in any document', () => {
    const twice = [TRACKER, { ...TRACKER, rung: 1 }];
    assert.deepEqual(slugs(vast({ trackers: twice })), ['vast_duplicate_impression']);
    assert.deepEqual(slugs(vast({ trackers: [TRACKER, { ...TRACKER, ad: 1 }] })), []);
    assert.deepEqual(slugs(vast({ trackers: [TRACKER, { ...TRACKER, event: 'viewable' }] })), []);
  });

  it('name trackers that did not answer, not those that were not due', () => {
    assert.deepEqual(slugs(vast({ trackers: [{ ...TRACKER, status_code: 404 }] })), ['vast_tracker_failed']);
    assert.deepEqual(slugs(vast({ trackers: [{ ...TRACKER, status_code: 0, requested_at_ms: null }] })), []);
  });

  it('name the techniques of an ad', () => {
    const ads = [
      { ...AD, media: [MEDIA], is_vpaid: true, interactive: ['SIMID'], verifications: ['company.com-omid'] },
    ];
    assert.deepEqual(slugs(vast({ ads })), ['vast_vpaid', 'vast_simid', 'vast_omid']);
    assert.deepEqual(slugs(vast({ ads: [{ ...AD, shown: 'nonlinear' }] })), ['vast_nonlinear']);
  });

  it('name an ad with overlays only, also where no browser can show them', () => {
    const flash = { ...AD, shown: 'nothing' as const, error_code: 503, media_files: 0, is_nonlinear: true };
    const [[, why] = [], [technique] = []] = found(vast({ ads: [flash] }));
    assert.match(String(why), /none of its overlays .*\(VAST 4\.3, 3\.12\.1\); error 503/);
    assert.equal(technique, 'vast_nonlinear');
  });

  it('judge a document by the version that it declares', () => {
    const overlay = (version: string) =>
      GOOD.replace('version="4.2"', `version="${version}"`).replace(
        '</Creatives>',
        '<Creative><UniversalAdId idRegistry="r">1</UniversalAdId><NonLinearAds><NonLinear/></NonLinearAds></Creative></Creatives>',
      );
    assert.deepEqual(slugs(vast(), overlay('3.0')), []);
    assert.deepEqual(found(vast(), overlay('4.1')), [
      [
        'vast_missing_element',
        'NonLinear@width is missing (VAST 4.3, 3.12.1); NonLinear@height is missing (VAST 4.3, 3.12.1)',
      ],
    ]);
    const wrapper = `<VAST version="4.2"><Ad><Wrapper><AdSystem>s</AdSystem><Impression>https://t.example/i</Impression><VASTAdTagURI>https://t.example/v</VASTAdTagURI>
      <Creatives><Creative><NonLinearAds><NonLinear><NonLinearClickTracking>https://t.example/c</NonLinearClickTracking></NonLinear></NonLinearAds></Creative></Creatives></Wrapper></Ad></VAST>`;
    assert.deepEqual(found(vast(), wrapper), []);
    const skip = (version: string) =>
      GOOD.replace('version="4.2"', `version="${version}"`).replace('<Linear>', '<Linear skipoffset="soon">');
    assert.deepEqual(slugs(vast(), skip('2.0')), []);
    assert.deepEqual(slugs(vast(), skip('3.0')), ['vast_invalid_value']);
  });

  it('do not ask VAST 1.x for elements of later versions', () => {
    const url = (name: string, scheme = 'https') => `<URL id="${name}">${scheme}://t.example/${name}</URL>`;
    const one = (
      events: string,
      impression: string,
    ) => `<VideoAdServingTemplate><Ad id="1"><InLine><AdSystem>s</AdSystem><AdTitle>t</AdTitle>
      <Impression>${impression}</Impression><TrackingEvents>${events}</TrackingEvents>
      <Video><Duration>00:00:10</Duration><MediaFiles><MediaFile type="video/mp4">${url('v')}</MediaFile></MediaFiles></Video></InLine></Ad></VideoAdServingTemplate>`;
    const replay = `<Tracking event="replay">${url('r')}</Tracking>`;
    assert.deepEqual(found(vast(), one(replay, url('i'))), []);
    const bad = Object.fromEntries(found(vast(), one(replay.replace('replay', 'begin'), url('i') + url('j', 'http'))));
    assert.match(bad.vast_invalid_value ?? '', /Tracking@event "begin"/);
    assert.match(bad.vast_insecure_url ?? '', /Impression http:\/\/t\.example\/j/);
  });

  it('accept an image for a click on an icon without a type, and media that are streamed', () => {
    const icon = `<Icons><Icon program="p" width="20" height="20" xPosition="left" yPosition="top"><IconClicks><IconClickFallbackImages>
      <IconClickFallbackImage><StaticResource>https://cdn.example/i.png</StaticResource></IconClickFallbackImage></IconClickFallbackImages></IconClicks></Icon></Icons>`;
    const mezzanine =
      '<Mezzanine delivery="streaming" type="video/mp4" width="1" height="1">rtsp://cdn.example/m</Mezzanine>';
    const streamed = GOOD.replace('</MediaFiles>', `${mezzanine}</MediaFiles>${icon}`);
    assert.deepEqual(found(vast(), streamed), []);
    // No page loads it.
    assert.deepEqual(found(vast(), streamed.replace('rtsp:', 'http:')), []);
    assert.deepEqual(slugs(vast(), streamed.replace('<Mezzanine delivery="streaming"', '<Mezzanine')), [
      'vast_missing_element',
    ]);
    assert.deepEqual(slugs(vast(), GOOD.replace('idRegistry=', 'registry=')), ['vast_missing_element']);
    const tracker = GOOD.replace('https://track.example/s', 'rtsp://track.example/s');
    assert.deepEqual(slugs(vast(), tracker), ['vast_invalid_value']);
    const untyped = icon.replace(
      '<IconClicks>',
      '<StaticResource>https://cdn.example/i.png</StaticResource><IconClicks>',
    );
    assert.deepEqual(slugs(vast(), GOOD.replace('</Linear>', `${untyped}</Linear>`)), ['vast_missing_element']);
  });

  it('accept a page by http that a click opens, and no tracker of the click', () => {
    const clicks = (name: string) =>
      GOOD.replace(
        '</TrackingEvents>',
        `</TrackingEvents><VideoClicks><${name}>http://shop.example/</${name}></VideoClicks>`,
      );
    for (const name of ['ClickThrough', 'CompanionClickThrough', 'NonLinearClickThrough', 'IconClickThrough'])
      assert.deepEqual(found(vast(), clicks(name)), [], name);
    for (const [uri, expected] of [
      ['market://details?id=a', []],
      ['itms-apps://apps.apple.com/app/id1', []],
      ['javascript:open()', ['vast_invalid_value']],
    ] as const)
      assert.deepEqual(slugs(vast(), clicks('ClickThrough').replace('http://shop.example/', uri)), expected, uri);
    assert.deepEqual(slugs(vast(), clicks('ClickTracking')), ['vast_insecure_url']);
    assert.deepEqual(slugs(vast(), clicks('ClickThrough').replace('http:', 'relative')), ['vast_invalid_value']);
  });

  it('accept a wrapper with an empty list of creatives, and no such ad', () => {
    const wrapper = `<VAST version="2.0"><Ad id="1"><Wrapper><AdSystem>s</AdSystem><VASTAdTagURI>https://ads.example/t</VASTAdTagURI>
      <Impression>https://track.example/i</Impression><Creatives/></Wrapper></Ad></VAST>`;
    assert.deepEqual(found(vast(), wrapper), []);
    const [[slug, detail] = []] = found(vast(), GOOD.replace(/<Creatives>.*<\/Creatives>/s, '<Creatives/>'));
    assert.equal(slug, 'vast_missing_element');
    assert.match(String(detail), /Creatives has no Creative/);
  });

  it('cite the standards that say so', () => {
    const details = Object.fromEntries(
      found(
        vast(),
        GOOD.replace('https://track.example/i', 'http://track.example/i').replace(
          'https://cdn.example/a.mp4',
          '/a.mp4',
        ),
      ),
    );
    assert.match(details.vast_insecure_url ?? '', /\(Mixed Content, 4\)/);
    assert.match(
      details.vast_invalid_value ?? '',
      /MediaFile "\/a\.mp4" must be an absolute http\(s\) URI \(RFC 3986, 4\.3\)/,
    );
  });

  it('name the section of the standard for every invalid value and missing element', () => {
    const bad = GOOD.replace('delivery="progressive"', 'delivery="torrent"')
      .replace('00:00:10', '10')
      .replace('<AdTitle>t</AdTitle>', '')
      .replace('event="start"', 'event="begin"')
      .replace('https://track.example/i', 'http://track.example/i');
    const details = Object.fromEntries(found(vast(), bad));
    assert.match(details.vast_invalid_value ?? '', /MediaFile@delivery "torrent" must be .*\(VAST 4\.3, 3\.9\.1\)/);
    assert.match(details.vast_invalid_value ?? '', /Duration "10" must be a time .*\(VAST 4\.3, 3\.8\.1\)/);
    assert.match(details.vast_invalid_value ?? '', /Tracking@event "begin" .*\(VAST 4\.3, 3\.14\.1\)/);
    assert.match(details.vast_missing_element ?? '', /InLine has no AdTitle \(VAST 4\.3, 3\.4\.2\)/);
    assert.match(details.vast_insecure_url ?? '', /Impression http:\/\/track\.example\/i/);
  });

  it('ignore the content of extensions', () => {
    const foreign =
      '<Extensions><Extension><MediaFile delivery="x">http://y.example</MediaFile></Extension></Extensions>';
    assert.deepEqual(found(vast(), GOOD.replace('</InLine>', `${foreign}</InLine>`)), []);
  });
});

const GOOD = `<VAST version="4.2"><Ad id="1"><InLine><AdSystem>server</AdSystem><AdTitle>t</AdTitle><AdServingId>a</AdServingId>
<Impression><![CDATA[https://track.example/i]]></Impression><Creatives><Creative><UniversalAdId idRegistry="ad-id.org">1</UniversalAdId><Linear><Duration>00:00:10</Duration>
<TrackingEvents><Tracking event="start"><![CDATA[https://track.example/s]]></Tracking></TrackingEvents>
<MediaFiles><MediaFile delivery="progressive" type="video/mp4" width="640" height="360"><![CDATA[https://cdn.example/a.mp4]]></MediaFile></MediaFiles>
</Linear></Creative></Creatives></InLine></Ad></VAST>`;

const { path: DATA, skip } = corpusData('vast');

describe('the documents of real players and servers', { skip }, () => {
  it('are reviewed without a detector that fails', () => {
    const all: { file: string }[] = JSON.parse(readFileSync(join(DATA, 'expected.json'), 'utf8'));
    const vastDocuments = all.map(({ file }, rung) => ({ rung, text: readFileSync(join(DATA, file), 'utf8') }));
    const { failed, findings } = detect({ ...NO_EVIDENCE, vast: vast(), vastDocuments });
    assert.deepEqual(failed, []);
    for (const { detail } of findings) assert.match(detail, /\((VAST 4\.3|RFC 3986|Mixed Content), \d/);
  });
});
