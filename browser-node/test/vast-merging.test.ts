import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseVast, readVast } from '@adsweep/shared/vast/read-vast.ts';
import { parseXml } from '@adsweep/shared/vast/xml.ts';
import { fetchText } from '../src/capture/page-scripts/fetch-text.ts';
import { mergeDocument } from '../src/capture/vast/merge-document.ts';
import { companionAdsOf, iconsOf } from '../src/capture/vast/resolved-ad.ts';
import { resourceOf } from '../src/capture/vast/show-display.ts';
import { unwrap } from '../src/capture/vast/unwrap.ts';
import { absolute } from '../src/capture/vast/wrapper-chain.ts';
import { fetched } from './support/fetched.ts';

describe('the merged VAST document', () => {
  const WRAPPER = `<VAST version="3.0"><Ad><Wrapper><VASTAdTagURI>https://a.example/ad</VASTAdTagURI><Impression>https://w.example/i</Impression><Error>https://w.example/e</Error>
    <Creatives><Creative><Linear><TrackingEvents><Tracking event="start">https://w.example/s</Tracking></TrackingEvents><VideoClicks><ClickTracking>https://w.example/c</ClickTracking></VideoClicks></Linear></Creative></Creatives>
    <Extensions><Extension type="w"/></Extensions></Wrapper></Ad></VAST>`;
  const INLINE = `<VAST version="4.2"><Ad id="1"><InLine><Impression>https://a.example/i</Impression><Creatives><Creative><Linear><Duration>00:00:01</Duration>
    <MediaFiles><MediaFile type="video/mp4">https://a.example/v?a=1&amp;b=2</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>`;

  /** The merged document of a wrapper with the creatives `wrapped` and an inline ad with the creatives `own`. */
  async function mergedOf(wrapped: string, own: string) {
    const wrapper = `<VAST version="4.2"><Ad><Wrapper><VASTAdTagURI>https://a.example/ad</VASTAdTagURI><Impression>https://w.example/i</Impression><Error>https://w.example/e</Error>${wrapped}</Wrapper></Ad></VAST>`;
    const inline = `<VAST version="4.2"><Ad><InLine><AdSystem>s</AdSystem><AdTitle>t</AdTitle><Impression>https://a.example/i</Impression>${own}</InLine></Ad></VAST>`;
    const resolution = await unwrap(fetched('https://w.example/tag', wrapper), async (url) => fetched(url, inline));
    const text = mergeDocument(resolution) ?? '';
    return { text, ad: parseVast(text)?.ads[0] };
  }
  const mergedAd = async (wrapped: string, own: string) => (await mergedOf(wrapped, own)).ad;

  it('a merged document is the inline document with the trackers of its wrappers', async () => {
    const resolution = await unwrap(fetched('https://w.example/tag', WRAPPER), async (url) => fetched(url, INLINE));
    const text = mergeDocument(resolution) ?? '';
    const root = parseXml(text);
    const [ad] = (root && readVast(root)?.ads) ?? [];
    assert.equal(parseVast(text)?.version, '4.2');
    assert.equal(ad?.wrapper, null);
    assert.deepEqual(
      ad?.trackers.map(({ event, url }) => `${event} ${url}`),
      ['impression https://a.example/i', 'impression https://w.example/i', 'error https://w.example/e'],
    );
    assert.deepEqual(
      ad?.linears[0]?.trackers.map(({ event, url }) => `${event} ${url}`),
      ['start https://w.example/s', 'clickTracking https://w.example/c'],
    );
    assert.equal(ad?.linears[0]?.mediaFiles[0]?.url, 'https://a.example/v?a=1&b=2');
    assert.equal(ad?.extensions, 1);
  });

  it('a merged document has the click trackers of wrappers on an overlay, and only the inline click-through', async () => {
    const overlay = (own: string) =>
      `<Creatives><Creative><NonLinearAds><NonLinear>${own}</NonLinear></NonLinearAds></Creative></Creatives>`;
    const clicks = (name: string) =>
      `<Creatives><Creative><Linear><VideoClicks><ClickThrough>https://${name}.example/</ClickThrough></VideoClicks></Linear></Creative></Creatives>`;
    const tracked = await mergedAd(
      overlay('<NonLinearClickTracking>https://w.example/c</NonLinearClickTracking>'),
      overlay('<StaticResource creativeType="image/png">https://a.example/p.png</StaticResource>'),
    );
    assert.deepEqual(
      tracked?.nonLinears.map(({ trackers }) => trackers.map(({ url }) => url)),
      [['https://w.example/c']],
    );
    const { text, ad } = await mergedOf(clicks('w'), clicks('a'));
    assert.equal(ad?.linears[0]?.clickThrough, 'https://a.example/');
    assert.equal(text.match(/<ClickThrough>/g)?.length, 1);
  });

  it('a merged document of wrappers with a sequence is a pod in that sequence', async () => {
    const pod = [1, 2].map((at) =>
      WRAPPER.replace('<VAST version="3.0"><Ad>', `<Ad sequence="${at}">`).replace('</VAST>', ''),
    );
    const tag = `<VAST version="3.0">${pod.join('')}</VAST>`;
    const resolution = await unwrap(fetched('https://w.example/tag', tag), async (url) => fetched(url, INLINE));
    const ads = parseVast(mergeDocument(resolution) ?? '')?.ads ?? [];
    assert.deepEqual(
      ads.map(({ sequence }) => sequence),
      [1, 2],
    );
  });

  it('a merged document of VAST 1.x is one of VAST 2.0 with the trackers of its wrappers', async () => {
    const inline = `<VideoAdServingTemplate><Ad id="1"><InLine><Impression><URL>https://a.example/i</URL></Impression>
      <Video><Duration>00:00:01</Duration><MediaFiles><MediaFile type="video/mp4"><URL>https://a.example/v</URL></MediaFile></MediaFiles></Video></InLine></Ad></VideoAdServingTemplate>`;
    const resolution = await unwrap(fetched('https://w.example/tag', WRAPPER), async (url) => fetched(url, inline));
    const merged = parseVast(mergeDocument(resolution) ?? '');
    assert.equal(merged?.version, '2.0');
    assert.deepEqual(
      merged?.ads[0]?.trackers.map(({ url }) => url),
      ['https://a.example/i', 'https://w.example/i', 'https://w.example/e'],
    );
    const [linear] = merged?.ads[0]?.linears ?? [];
    assert.equal(linear?.mediaFiles[0]?.url, 'https://a.example/v');
    assert.deepEqual(
      linear?.trackers.map(({ event }) => event),
      ['start', 'clickTracking'],
    );
  });

  it('a merged document has its elements in the order of the standard', async () => {
    const { text } = await mergedOf('<Creatives/>', '<Creatives/>');
    const names = [...text.matchAll(/<(AdSystem|AdTitle|Impression|Error|Creatives)\b/g)].map(([, name]) => name);
    assert.deepEqual(names, ['AdSystem', 'AdTitle', 'Error', 'Impression', 'Impression', 'Creatives']);
  });

  it('a merged document stays bounded if a wrapper has thousands of trackers and the ad thousands of videos', async () => {
    const tracking = '<Tracking event="start">https://t.example/start</Tracking>';
    const part = `<Creative><Linear><TrackingEvents>${tracking.repeat(3_000)}</TrackingEvents></Linear></Creative>`;
    const impressions = '<Impression>https://t.example/impression</Impression>'.repeat(3_000);
    const wrapper = WRAPPER.replace('<Creatives>', `${impressions}<Creatives>${part}`);
    const videos = '<Creative><Linear><TrackingEvents/></Linear></Creative>'.repeat(3_000);
    const inline = `<VAST version="4.2"><Ad><InLine><AdSystem>s</AdSystem><Creatives>${videos}</Creatives></InLine></Ad></VAST>`;
    const resolution = await unwrap(fetched('https://w.example/tag', wrapper), async (url) => fetched(url, inline));
    const text = mergeDocument(resolution) ?? '';
    assert.equal(text.match(/<Impression>/g)?.length, 3_001);
    assert.ok(text.match(/<Tracking /g)!.length >= 3_000);
    assert.ok(text.length < 8_000_000, `${text.length} characters`);
  });

  it('without an ad, the merged document is the last VAST document of the chain, or null if there was none', async () => {
    const none = await unwrap(fetched('https://w.example/tag', WRAPPER), async (url) =>
      fetched(url, '<VAST version="4.2"/>'),
    );
    assert.match(mergeDocument(none) ?? '', /<VAST version="4.2"\/>/);
    const nothing = await unwrap(fetched('https://w.example/tag', 'text'), async (url) => fetched(url, ''));
    assert.equal(mergeDocument(nothing), null);
    const page = await unwrap(fetched('https://w.example/tag', '<html>gone</html>'), async (url) => fetched(url, ''));
    assert.equal(mergeDocument(page), null);
  });
});

describe('URLs in a VAST document', () => {
  it('a relative URL is resolved against its document, and its macros stay unchanged', () => {
    assert.equal(absolute('/i?c=[CACHEBUSTING]', 'https://a.example/x/y'), 'https://a.example/i?c=[CACHEBUSTING]');
    assert.equal(absolute('https://b.example/[X]', 'https://a.example/'), 'https://b.example/[X]');
    assert.equal(absolute('', 'https://a.example/'), '', 'an empty URL is not the URL of the document');
    assert.equal(absolute('javascript:alert(1)', 'https://a.example/'), 'javascript:alert(1)');
  });
});

describe('icons and companions of an ad and its wrappers (VAST 4.3, 2.3.5.2)', () => {
  const icon = (program: string, name: string) =>
    `<Icon program="${program}"><StaticResource creativeType="image/png">/${name}.png</StaticResource></Icon>`;
  const linear = (...icons: string[]) =>
    `<Creative><Linear><Icons>${icons.join('')}</Icons><MediaFiles/></Linear></Creative>`;
  const companion = (name: string) =>
    `<Creative><CompanionAds required="all"><Companion><IFrameResource>/${name}</IFrameResource></Companion></CompanionAds></Creative>`;
  const document = (body: string) => `<VAST version="4.2"><Ad>${body}</Ad></VAST>`;
  const wrapper = (host: string, creatives: string) =>
    document(
      `<Wrapper><VASTAdTagURI>https://${host}.example/</VASTAdTagURI><Creatives>${creatives}</Creatives></Wrapper>`,
    );

  it('the document closest to the ad provides the icon of each program and all companions', async () => {
    const documents: Record<string, string> = {
      'https://b.example/': wrapper('c', linear(icon('adchoices', 'b'), icon('DSA', 'b-dsa')) + companion('b')),
      'https://c.example/': document(
        `<InLine><Creatives>${linear(icon('AdChoices', 'c'), icon('', 'c-1'), icon('', 'c-2'))}</Creatives></InLine>`,
      ),
    };
    const tag = wrapper('b', linear(icon('dsa', 'a')) + companion('a'));
    const resolution = await unwrap(fetched('https://a.example/', tag), async (url) =>
      fetched(url, documents[url] ?? ''),
    );
    const [resolved] = resolution.ads;
    assert.ok(resolved?.ad.linears[0]);
    const icons = iconsOf(resolution, resolved, resolved.ad.linears[0]);
    assert.deepEqual(
      icons.map((one) => resourceOf(one.icon, one.base)?.value),
      ['c.example/c', 'c.example/c-1', 'c.example/c-2', 'b.example/b-dsa'].map((name) => `https://${name}.png`),
    );
    const { companionAds, base } = companionAdsOf(resolution, resolved);
    assert.deepEqual(
      companionAds.map(({ required, companions }) => [required, companions[0] && resourceOf(companions[0], base)]),
      [['all', { form: 'iframe', value: 'https://b.example/b' }]],
    );
  });
});

describe('the decoding of a VAST document', () => {
  const textOf = async (bytes: Buffer, contentType: string) => {
    const url = `data:${contentType};base64,${bytes.toString('base64')}`;
    return (await fetchText({ url, timeoutMs: 10_000, lengthMax: 1_000_000 })).text;
  };
  const XML = '<VAST a="é"/>';

  it('a document is decoded according to its byte order mark, media type or XML declaration (RFC 7303, 3)', async () => {
    assert.equal(await textOf(Buffer.from(XML), 'application/xml'), XML);
    assert.equal(await textOf(Buffer.from(`\uFEFF${XML}`), 'application/xml'), XML);
    assert.equal(await textOf(Buffer.from(`\uFEFF${XML}`, 'utf16le'), 'application/xml;charset=utf-8'), XML);
    assert.equal(await textOf(Buffer.from(`\uFEFF${XML}`, 'utf16le').swap16(), 'application/xml'), XML);
    assert.equal(await textOf(Buffer.from(XML, 'latin1'), 'text/xml;charset=iso-8859-1'), XML);
    const declared = `<?xml version="1.0" encoding="ISO-8859-1"?>${XML}`;
    assert.equal(await textOf(Buffer.from(declared, 'latin1'), 'text/xml'), declared);
  });

  it('a document is cut at a number of characters, regardless of their bytes', async () => {
    const url = `data:text/xml,${encodeURIComponent('д€'.repeat(20))}`;
    const { text } = await fetchText({ url, timeoutMs: 10_000, lengthMax: 31 });
    assert.equal(text, 'д€'.repeat(20).slice(0, 31));
  });

  it('a document with an impossible encoding is decoded as UTF-8', async () => {
    const wrong = `<?xml version="1.0" encoding="UTF-16"?>${XML}`;
    assert.equal(await textOf(Buffer.from(wrong), 'text/xml'), wrong);
    assert.equal(await textOf(Buffer.from(XML), 'text/xml;charset=no-such'), XML);
  });
});
