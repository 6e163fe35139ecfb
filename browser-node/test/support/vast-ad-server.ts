import { readFileSync } from 'node:fs';
import type { Site } from './site.ts';

export const SPOT = readFileSync(new URL('../../../infra/demo/web/video.adserver.example/spot.mp4', import.meta.url));
/** The same with five million bytes of padding in a box that players skip (ISO/IEC 14496-12, 8.1.2). */
const PADDING = Buffer.alloc(5_000_000);
PADDING.writeUInt32BE(PADDING.length);
PADDING.write('free', 4);
export const LARGE = Buffer.concat([SPOT, PADDING]);
export const ADS = 'http://ads.example';
export const CDN = 'http://cdn.example';
export const TRACK = 'http://track.example';

export const tracking = (prefix: string, ...events: string[]) =>
  events
    .map((event) => {
      const [name, offset] = event.split('@');
      const at = offset ? ` offset="${offset}"` : '';
      return `<Tracking event="${name}"${at}><![CDATA[${TRACK}/${prefix}-${event.replace('@', '-').replaceAll(/[:%]/g, '')}]]></Tracking>`;
    })
    .join('');

export const QUARTILES = ['start', 'firstQuartile', 'midpoint', 'thirdQuartile', 'complete'];

export const linear = (media: string, more = '') => `<Creatives><Creative><Linear><Duration>00:00:04</Duration>
  <TrackingEvents>${tracking('ad', ...QUARTILES, 'progress@00:00:01', 'progress@90%', 'skip', 'pause')}</TrackingEvents>
  <VideoClicks><ClickThrough><![CDATA[${ADS}/click?at=[ADPLAYHEAD]]]></ClickThrough><ClickTracking><![CDATA[${TRACK}/ad-click?cb=[CACHEBUSTING]]]></ClickTracking></VideoClicks>
  <MediaFiles>${media}</MediaFiles></Linear></Creative>${more}</Creatives>`;

export const MP4 = `<MediaFile delivery="progressive" type="video/mp4" width="320" height="180" bitrate="33"><![CDATA[${CDN}/spot.mp4]]></MediaFile>`;

export const inline = (
  creatives: string,
  error = `${TRACK}/ad-error?code=[ERRORCODE]`,
) => `<VAST version="4.2"><Ad id="ad"><InLine><AdSystem version="1">server</AdSystem><AdTitle>Spot</AdTitle>
  <Impression><![CDATA[${TRACK}/ad-impression?ts=[TIMESTAMP]]]></Impression><Error><![CDATA[${error}]]></Error>
  <ViewableImpression><Viewable><![CDATA[${TRACK}/ad-viewable]]></Viewable><NotViewable><![CDATA[${TRACK}/ad-not-viewable]]></NotViewable></ViewableImpression>
  ${creatives}</InLine></Ad></VAST>`;

export const wrapper = (
  uri: string,
  name: string,
) => `<VAST version="3.0"><Ad><Wrapper><AdSystem>${name}</AdSystem><VASTAdTagURI><![CDATA[${uri}]]></VASTAdTagURI>
  <Impression>${TRACK}/${name}-impression</Impression><Error><![CDATA[${TRACK}/${name}-error?code=[ERRORCODE]]]></Error>
  <AdVerifications><Verification vendor="${name}-omid"/></AdVerifications>
  <Creatives><Creative><Linear><TrackingEvents>${tracking(name, ...QUARTILES)}</TrackingEvents><VideoClicks><ClickTracking>${TRACK}/${name}-click</ClickTracking></VideoClicks></Linear></Creative></Creatives></Wrapper></Ad></VAST>`;

const BANNER =
  '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="60"><rect width="300" height="60" fill="red"/></svg>';

const icon = (program: string, name: string, more = '') =>
  `<Icon program="${program}" width="60" height="20" xPosition="right" yPosition="top"${more}><StaticResource creativeType="image/svg+xml">${CDN}/${name}.svg</StaticResource>
  <IconViewTracking>${TRACK}/${program}-${name}-view</IconViewTracking></Icon>`;

/** One icon is shown, one is due after the end, one cannot be loaded, and the wrapper's gives way to the ad's icon of the same program. */
const ICONS = `<Icons>${icon('choices', 'banner', ' offset="00:00:00.500"')}${icon('late', 'banner', ' offset="00:01:00"')}${icon('lost', 'gone')}</Icons>`;
const WRAPPER_ICONS = `<Icons>${icon('choices', 'wrapper')}</Icons>`;

/** Serves a file with its length, as media servers do. */
export function setMedia(site: Site, url: string, type: string, bytes: Buffer): void {
  site.setRoute(url, (_, response) => {
    response.writeHead(200, { 'content-type': type, 'content-length': bytes.length }).end(bytes);
  });
}

/** Serves the ads, their files and the page that they lead to. */
export function setAdServer(site: Site): void {
  setMedia(site, `${CDN}/spot.mp4`, 'video/mp4', SPOT);
  site.setText(`${CDN}/banner.svg`, 'image/svg+xml', BANNER);
  site.setText(`${ADS}/inline`, 'application/xml', inline(linear(MP4).replace('</Linear>', `${ICONS}</Linear>`)));
  site.setText(`${ADS}/two`, 'application/xml', wrapper(`${ADS}/inline`, 'two'));
  site.setText(
    `${ADS}/one`,
    'application/xml',
    wrapper(`${ADS}/two`, 'one').replace('</Linear>', `${WRAPPER_ICONS}</Linear>`),
  );
  site.setRedirect(`${ADS}/click`, 'http://shop.example/');
  site.setPage('http://shop.example/', '<title>The shop</title>an offer');
}

/** A video that declares HEVC, which the browser believes and cannot decode. */
export const hevcOf = (video: Buffer): Buffer =>
  Buffer.from(video.toString('latin1').replaceAll('avc1', 'hvc1').replaceAll('avcC', 'hvcC'), 'latin1');

/** A VPAID 2.0 ad that draws a box, emits its events and opens its page when it is clicked. */
export const VPAID = `window.getVPAIDAd = () => {
  const listeners = {};
  const say = (event, ...values) => { if (listeners[event]) listeners[event].fn.apply(listeners[event].scope, values); };
  return {
    handshakeVersion: () => '2.0',
    subscribe: (fn, event, scope) => { listeners[event] = { fn, scope }; },
    initAd(width, height, mode, bitrate, { AdParameters }, { slot }) {
      slot.style.background = 'teal';
      slot.addEventListener('click', () => { say('AdClickThru', '', '', false); open('${ADS}/click'); });
      new Image().src = '${TRACK}/vpaid?version=2.0&parameters=' + AdParameters;
      setTimeout(() => say('AdLoaded'), 50);
    },
    startAd() {
      ['AdStarted', 'AdImpression', 'AdVideoStart', 'AdVideoFirstQuartile', 'AdVideoMidpoint'].forEach((event) => say(event));
      setTimeout(() => { say('AdVideoThirdQuartile'); say('AdVideoComplete'); }, 4000);
    },
    stopAd: () => say('AdStopped'),
  };
};`;
