import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CapturedVast } from '@adsweep/shared/capture/vast.ts';
import { type Captured, type CaptureOptions, CaptureWorld } from './support/capture-world.ts';
import {
  ADS,
  CDN,
  hevcOf,
  inline,
  LARGE,
  linear,
  MP4,
  QUARTILES,
  SPOT,
  setAdServer,
  setMedia,
  TRACK,
  tracking,
  VPAID,
  wrapper,
} from './support/vast-ad-server.ts';

const recordOf = ({ outcome }: Captured): CapturedVast => {
  assert.ok(outcome.capture.vast, JSON.stringify([outcome.failure, outcome.capture.notes]));
  return outcome.capture.vast;
};
const fired = ({ trackers }: CapturedVast) =>
  trackers
    .filter(({ requested_at_ms }) => requested_at_ms !== null)
    .map(({ url }) => url.replace(`${TRACK}/`, '').split('?')[0]);

describe('a VAST tag in the browser', { concurrency: 3 }, () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start();
    setAdServer(world.site);
  });
  after(() => world.close());
  const capture = (tag: string, options: CaptureOptions = {}) => world.capture(tag, { kind: 'vast_tag', ...options });

  it('a VAST tag is fetched, unwrapped and played; exactly the trackers that are due are requested', async () => {
    const captured = await capture(`${ADS}/one`, { referrer: 'http://publisher.example/article?page=2' });
    assert.equal(captured.failure, null);
    const vast = recordOf(captured);
    assert.deepEqual(
      vast.rungs.map(({ requested_url, outcome, depth, status_code }) => [requested_url, outcome, depth, status_code]),
      [
        [`${ADS}/one`, 'ads', 0, 200],
        [`${ADS}/two`, 'ads', 1, 200],
        [`${ADS}/inline`, 'ads', 2, 200],
      ],
    );
    const [ad] = vast.ads;
    assert.deepEqual([ad?.shown, ad?.error_code, ad?.duration_ms, ad?.wrappers], ['video', null, 4_000, [0, 1]]);
    assert.equal(ad?.media[0]?.duration_ms, 4_000);
    assert.deepEqual(ad?.verifications, ['one-omid', 'two-omid']);
    const expected = [
      ...['ad', 'two', 'one'].flatMap((name) => [
        `${name}-impression`,
        ...QUARTILES.map((event) => `${name}-${event}`),
        `${name}-click`,
      ]),
      'ad-viewable',
      'ad-progress-000001',
      'ad-progress-90',
      'choices-banner-view',
    ];
    assert.deepEqual(fired(vast).toSorted(), expected.toSorted());
    const asked = world.site.urls().filter((url) => url.startsWith(TRACK));
    for (const name of expected)
      assert.ok(
        asked.some((url) => url.startsWith(`${TRACK}/${name}`)),
        `${name} reached its server`,
      );
    for (const tracker of vast.trackers.filter(({ requested_at_ms }) => requested_at_ms !== null))
      assert.equal(tracker.status_code, 404, tracker.url);
    const impression = vast.trackers.find(({ url }) => url.includes('ad-impression'));
    assert.match(impression?.requested_url ?? '', /ts=\d{4}-\d\d-\d\dT/);
  });

  it('a VAST ad that is clicked has a landing, with screenshots, its media file and its documents as artifacts', async () => {
    const captured = await capture(`${ADS}/two`);
    assert.equal(captured.failure, null);
    assert.equal(captured.landings[0]?.final_url, 'http://shop.example/');
    assert.deepEqual(
      captured.steps(0).map((step) => step.replace(/\?at=.*/, '')),
      [`initial ${ADS}/click`, 'http http://shop.example/'],
    );
    assert.match(captured.chain(0)[0]?.url ?? '', /at=00%3A00%3A0/);
    const names = captured.outcome.files.map(({ name }) => name);
    for (const name of ['creative.jpeg', 'creative-video', 'vast.xml', 'vast-documents.json.gz', 'landing-0.jpeg'])
      assert.ok(names.includes(name), name);
    assert.deepEqual(Buffer.from(captured.file('creative-video')?.bytes ?? []), SPOT);
    assert.equal(captured.file('creative-video')?.contentType, 'video/mp4');
    const merged = Buffer.from(captured.file('vast.xml')?.bytes ?? []).toString();
    for (const part of ['ad-impression', 'two-impression', 'two-error', 'two-midpoint', 'two-click'])
      assert.ok(merged.includes(part), part);
    assert.equal(world.site.urls().filter((url) => url.startsWith('http://www.example.com')).length, 0);
  });

  it('a VAST tag without an ad requests its error trackers with the error code and fails permanently', async () => {
    const { site } = world;
    site.setText(
      `${ADS}/none`,
      'application/xml',
      `<VAST version="4.2"><Error><![CDATA[${TRACK}/none-error?code=[ERRORCODE]]]></Error></VAST>`,
    );
    site.setText(`${ADS}/to-none`, 'application/xml', wrapper(`${ADS}/none`, 'empty'));
    site.setText(`${ADS}/circle`, 'application/xml', wrapper(`${ADS}/circle`, 'circle'));
    site.setText(`${ADS}/to-lost`, 'application/xml', wrapper(`${ADS}/lost`, 'lost'));
    site.setText(`${ADS}/page`, 'text/html', '<html><body>no VAST</body></html>');
    const ends: [tag: string, failure: string, errorUrl: string | null][] = [
      [`${ADS}/none`, 'vast: NO_AD', 'none-error?code=303'],
      [`${ADS}/to-none`, 'vast: NO_AD', 'empty-error?code=303'],
      [`${ADS}/circle`, 'vast: WRAPPER_LIMIT', 'circle-error?code=302'],
      [`${ADS}/to-lost`, 'vast: WRAPPER_UNREACHABLE', 'lost-error?code=301'],
      [wrapper('http://x.dns-fault.example/', 'dns'), 'vast: WRAPPER_UNANSWERED', 'dns-error?code=301'],
      [`${ADS}/page`, 'vast: INVALID', null],
      ['http://x.dns-fault.example/tag', 'navigation: DNS', null],
      ['<VAST version="4.2"><Ad>', 'vast: INVALID', null],
    ];
    await Promise.all(
      ends.map(async ([tag, failure, errorUrl]) => {
        const captured = await capture(tag);
        assert.equal(captured.failure, failure, tag);
        assert.ok(errorUrl === null || site.urls().includes(`${TRACK}/${errorUrl}`), `${errorUrl} reached its server`);
      }),
    );
  });

  it('a VAST ad whose media or required companion cannot be shown completes with the error code of a player', async () => {
    const { site } = world;
    site.setText(`${CDN}/broken.mp4`, 'video/mp4', 'no video');
    const file = (name: string, type = 'video/mp4') =>
      `<MediaFile delivery="progressive" type="${type}" width="1" height="1">${CDN}/${name}</MediaFile>`;
    const headers = { 'content-type': 'text/html' };
    site.setRoute(`${CDN}/page.mp4`, (_, response) => response.writeHead(404, headers).end('<h1>Not here</h1>'));
    const companion = (name: string) =>
      `<Companion width="300" height="60"><StaticResource creativeType="image/svg+xml">${CDN}/${name}.svg</StaticResource><TrackingEvents>${tracking(name, 'creativeView')}</TrackingEvents></Companion>`;
    const required = `<Creative><CompanionAds required="all">${companion('banner')}${companion('gone')}</CompanionAds></Creative>`;
    const ends: [creatives: string, code: number][] = [
      [linear(file('lost.mp4')), 401],
      [linear(file('page.mp4')), 401],
      [linear(file('broken.mp4')), 405],
      [linear(file('old.flv', 'video/x-flv')), 403],
      [linear(MP4, required), 602],
    ];
    await Promise.all(
      ends.map(async ([creatives, code], at) => {
        const captured = await capture(inline(creatives, `${TRACK}/media-error?code=[ERRORCODE]&case=${at}`));
        assert.equal(captured.failure, null);
        assert.deepEqual(
          recordOf(captured).ads.map(({ shown, error_code }) => [shown, error_code]),
          [['nothing', code]],
        );
        assert.ok(site.urls().includes(`${TRACK}/media-error?code=${code}&case=${at}`));
        assert.deepEqual(fired(recordOf(captured)), ['media-error']);
      }),
    );
  });

  it('a video that only the emulated device can play requests no error tracker', async () => {
    const { site } = world;
    setMedia(site, `${CDN}/hevc.mp4`, 'video/mp4', hevcOf(SPOT));
    const captured = await capture(inline(linear(MP4.replace('spot', 'hevc'))), { emulator: 'iphone_15' });
    const vast = recordOf(captured);
    assert.deepEqual(
      vast.ads.map(({ shown, error_code, media }) => [shown, error_code, media.map(({ outcome }) => outcome)]),
      [['nothing', null, ['undecodable']]],
    );
    assert.deepEqual(fired(vast), []);
  });

  it('a video of unknown length and a large one are kept, and one whose response never ends is not', async () => {
    const { site } = world;
    site.setRoute(`${CDN}/chunked.mp4`, (_, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' }).write(SPOT.subarray(0, 4_000));
      response.end(SPOT.subarray(4_000));
    });
    site.setRoute(`${CDN}/endless.mp4`, (_, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' }).write(Buffer.concat([SPOT, Buffer.alloc(200_000)]));
    });
    const named = (name: string) => capture(inline(linear(MP4.replace('spot', name))));
    setMedia(site, `${CDN}/large.mp4`, 'video/mp4', LARGE);
    setMedia(site, `${CDN}/large-hevc.mp4`, 'video/mp4', hevcOf(LARGE));
    const all = ['chunked', 'endless', 'large', 'large-hevc'].map((name) => named(name));
    const [chunked, endless, large, hevc] = (await Promise.all(all)) as [Captured, Captured, Captured, Captured];
    assert.ok(Buffer.from(large.file('creative-video')?.bytes ?? []).equals(LARGE));
    assert.deepEqual(
      [large, hevc].map((one) => recordOf(one).ads[0]?.media.map(({ outcome, bytes }) => [outcome, bytes])),
      [[['played', LARGE.length]], [['undecodable', LARGE.length]]],
    );
    assert.deepEqual(Buffer.from(chunked.file('creative-video')?.bytes ?? []), SPOT);
    assert.equal(endless.file('creative-video'), undefined);
    for (const captured of [chunked, endless, large])
      assert.deepEqual(
        recordOf(captured).ads.map(({ shown, error_code }) => [shown, error_code]),
        [['video', null]],
      );
  });

  it('a VPAID ad runs with handshake, events and click; if it fails, error 901 is reported and the video is played', async () => {
    const { site } = world;
    site.setText(`${CDN}/vpaid.js`, 'text/javascript', VPAID);
    const media = `<MediaFile delivery="progressive" type="application/javascript" apiFramework="VPAID" width="640" height="360">${CDN}/vpaid.js</MediaFile>`;
    const captured = await capture(
      inline(linear(media)).replace('</Linear>', '<AdParameters>hello</AdParameters></Linear>'),
    );
    assert.equal(captured.failure, null);
    const [ad] = recordOf(captured).ads;
    assert.deepEqual([ad?.shown, ad?.error_code, ad?.is_vpaid], ['vpaid', null, true]);
    assert.ok(site.urls().includes(`${TRACK}/vpaid?version=2.0&parameters=hello`));
    for (const name of ['ad-impression', 'ad-start', 'ad-midpoint', 'ad-complete', 'ad-click'])
      assert.ok(fired(recordOf(captured)).includes(name), name);
    for (const { url, requested_at_ms, status_code } of recordOf(captured).trackers)
      assert.equal(status_code, requested_at_ms === null ? 0 : 404, url);
    assert.equal(captured.landings[0]?.page_title, 'The shop');
    site.setText(`${CDN}/handled.js`, 'text/javascript', VPAID.replace('false); open(', 'true); void ('));
    site.setText(`${CDN}/broken.js`, 'text/javascript', 'throw new Error("no ad")');
    const button = `const button = Object.assign(document.createElement('button'), { textContent: 'Shop now' });
      button.style.cssText = 'position:absolute;right:10px;bottom:10px';
      setTimeout(() => slot.append(button), 3000); button.addEventListener`;
    site.setText(`${CDN}/corner.js`, 'text/javascript', VPAID.replace('slot.addEventListener', button));
    const script = media.replace('vpaid.js', 'broken.js');
    const [handled, corner, broken, replaced] = await Promise.all([
      capture(inline(linear(media.replace('vpaid.js', 'handled.js')))),
      capture(inline(linear(media.replace('vpaid.js', 'corner.js')))),
      capture(inline(linear(script))),
      capture(inline(linear(script + MP4), `${TRACK}/script-error?code=[ERRORCODE]`)),
    ]);
    assert.equal(handled.landings[0]?.page_title, 'The shop', 'the player opens the page that the ad leaves to it');
    assert.equal(
      corner.landings[0]?.page_title,
      'The shop',
      'the button of an ad is clicked whose centre does nothing, also if it comes late',
    );
    const ends = [broken, replaced].map((one) => recordOf(one).ads.map(({ shown, error_code }) => [shown, error_code]));
    assert.deepEqual(ends, [[['vpaid', 901]], [['video', 901]]]);
    assert.equal(site.urls().filter((url) => url === `${TRACK}/script-error?code=901`).length, 1);
    for (const name of ['ad-impression', 'ad-complete', 'ad-click'])
      assert.ok(fired(recordOf(replaced)).includes(name), name);
    assert.equal(replaced.landings[0]?.page_title, 'The shop', 'the click reaches the video');
  });

  it('scripts of an ad read nothing that CORS forbids, find no player, and send no events for another frame', async () => {
    const { site } = world;
    const curious = `(async () => {
      const read = (window) => window.fetch('${CDN}/private.txt').then((response) => response.text(), () => 'refused');
      const root = frameElement.getRootNode();
      const found = [await read(window), await read(parent), root.querySelectorAll('video').length, root.body.innerText.length > 500];
      new Image().src = '${TRACK}/curious?' + found;
    })();`;
    site.setText(`${CDN}/private.txt`, 'text/plain', 'private');
    site.setText(`${CDN}/curious.js`, 'text/javascript', curious + VPAID);
    const forging = `<script>setInterval(() => {
      const frames = [...parent.document.querySelectorAll('iframe')].map(({ srcdoc }) => srcdoc).join();
      const token = /"token":"(\\w+)"/.exec(frames)?.[1];
      if (token) parent.postMessage({ token, event: 'AdSkipped', values: [] }, '*');
      if (token) new Image().src = '${TRACK}/forged';
    }, 300)</script>`;
    const companion = `<Creative><CompanionAds><Companion width="300" height="60"><HTMLResource><![CDATA[${forging}]]></HTMLResource></Companion></CompanionAds></Creative>`;
    const media = `<MediaFile delivery="progressive" type="application/javascript" apiFramework="VPAID" width="640" height="360">${CDN}/curious.js</MediaFile>`;
    const captured = await capture(inline(linear(media, companion)));
    const names = fired(recordOf(captured));
    assert.ok(names.includes('ad-midpoint') && site.urls().some((url) => url.startsWith(`${TRACK}/forged`)));
    assert.ok(!names.includes('ad-skip'), "an event of another frame is not the ad's");
    const seen = site.urls().find((url) => url.startsWith(`${TRACK}/curious?`));
    assert.equal(seen, `${TRACK}/curious?refused,refused,0,true`);
  });

  it('of a pod, the one ad that is clicked has recorded clicks, and the last tracker is waited for', async () => {
    const { site } = world;
    site.setRoute(`${TRACK}/slow-verification`, (_, response) => {
      setTimeout(() => response.writeHead(204).end(), 1_500);
    });
    const verification = `<AdVerifications><Verification vendor="v"><TrackingEvents>
      <Tracking event="verificationNotExecuted">${TRACK}/slow-verification</Tracking></TrackingEvents></Verification></AdVerifications>`;
    const ad = (name: string, more = '') => {
      const text = inline(linear(MP4)).replaceAll('/ad-', `/${name}-`).replace('</InLine>', `${more}</InLine>`);
      return text.replace(/<\/?VAST[^>]*>/g, '').replace('<Ad ', `<Ad sequence="${name.at(-1)}" `);
    };
    const captured = await capture(`<VAST version="4.2">${ad('pod1')}${ad('pod2', verification)}</VAST>`);
    assert.equal(captured.failure, null);
    const vast = recordOf(captured);
    assert.deepEqual(
      vast.ads.map(({ shown }) => shown),
      ['video', 'video'],
    );
    assert.deepEqual(
      fired(vast).filter((name) => name?.endsWith('-click')),
      ['pod1-click'],
    );
    for (const { url, requested_at_ms } of vast.trackers) {
      const isAsked = site.urls().some((asked) => asked.split('?')[0] === url.split('?')[0]);
      assert.equal(requested_at_ms !== null, isAsked, `${url} is recorded as on the network`);
    }
    assert.equal(vast.trackers.find(({ url }) => url.endsWith('/slow-verification'))?.status_code, 204);
  });

  it('overlays and companions that load are shown and have screenshots; a tracker declared twice is requested twice', async () => {
    const { site } = world;
    const static_ = `<StaticResource creativeType="image/svg+xml">${CDN}/banner.svg</StaticResource>`;
    const companion = `<Creative><CompanionAds><Companion width="300" height="60">${static_}<TrackingEvents>${tracking('companion', 'creativeView')}</TrackingEvents></Companion>
      <Companion width="300" height="60"><StaticResource creativeType="image/png">${CDN}/gone.png</StaticResource><TrackingEvents>${tracking('gone', 'creativeView')}</TrackingEvents></Companion></CompanionAds></Creative>`;
    const overlay = `<Creatives><Creative><NonLinearAds><TrackingEvents>${tracking('overlay', 'creativeView', 'creativeView')}</TrackingEvents><NonLinear width="300" height="60">${static_}
      <NonLinearClickThrough>${ADS}/click</NonLinearClickThrough><NonLinearClickTracking>${TRACK}/overlay-click</NonLinearClickTracking></NonLinear></NonLinearAds></Creative>${companion}</Creatives>`;
    const captured = await capture(inline(overlay));
    assert.equal(captured.failure, null);
    const vast = recordOf(captured);
    assert.deepEqual(
      vast.ads.map(({ shown, error_code }) => [shown, error_code]),
      [['nonlinear', null]],
    );
    assert.deepEqual(
      vast.ads[0]?.companions.map(({ form, width, height, picture }) => [form, width, height, picture]),
      [
        ['static', 300, 60, 'companion-0.jpeg'],
        ['static', 300, 60, null],
      ],
    );
    assert.deepEqual(fired(vast).toSorted(), [
      'ad-impression',
      'companion-creativeView',
      'overlay-click',
      'overlay-creativeView',
      'overlay-creativeView',
    ]);
    assert.equal(site.urls().filter((url) => url === `${TRACK}/overlay-creativeView`).length, 2);
    assert.deepEqual([captured.file('creative.jpeg')?.width, captured.file('creative.jpeg')?.height], [300, 60]);
    assert.equal(captured.landings[0]?.page_title, 'The shop');
  });

  it('an overlay of HTML is clicked where it is, so that its own links lead on', async () => {
    const link = `<body style="margin:0"><a href="${ADS}/click" target="_blank" style="display:block;height:100vh">offer</a>`;
    const overlay = `<NonLinear width="300" height="60"><HTMLResource><![CDATA[${link}]]></HTMLResource></NonLinear>`;
    const captured = await capture(
      inline(`<Creatives><Creative><NonLinearAds>${overlay}</NonLinearAds></Creative></Creatives>`),
    );
    assert.equal(captured.landings[0]?.page_title, 'The shop');
  });
});
