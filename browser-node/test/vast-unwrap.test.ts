import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { VAST_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { corpusData } from '../../shared/test/support/corpus-data.ts';
import { unwrap } from '../src/capture/vast/unwrap.ts';
import type { FetchedDocument } from '../src/capture/vast/wrapper-chain.ts';

const { path: DATA, skip } = corpusData('vast');

const HOST = 'https://ads.example';
const fetched = (url: string, statusCode: number, text: string, fault = ''): FetchedDocument => ({
  url,
  statusCode,
  contentType: 'application/xml',
  text,
  fault,
  readable: true,
  atMs: 0,
  elapsedMs: 0,
});

const inline = (id: string, sequence = '') => `<Ad id="${id}"${sequence && ` sequence="${sequence}"`}><InLine>
  <AdSystem>server</AdSystem><Error>/error-${id}</Error><Impression>/impression-${id}</Impression><Creatives><Creative><Linear>
  <Duration>00:00:10</Duration><MediaFiles><MediaFile type="video/mp4">${HOST}/${id}.mp4</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad>`;
const wrapper = (id: string, uri: string, attributes = '', sequence = '') =>
  `<Ad id="${id}"${sequence && ` sequence="${sequence}"`}><Wrapper ${attributes}><VASTAdTagURI><![CDATA[${uri}]]></VASTAdTagURI><Error>/error-${id}</Error></Wrapper></Ad>`;
const vast = (...ads: string[]) => `<VAST version="4.2">${ads.join('')}</VAST>`;
const NO_AD = '<VAST version="4.2"><Error>/no-ad</Error></VAST>';

/** The resolution of a tag on a server with these bodies or statuses by path (0: no response); other paths return 404. */
async function resolve(tag: string, pages: Record<string, string | number> = {}) {
  const asked: string[] = [];
  const result = await unwrap(fetched(`${HOST}/tag`, 200, tag), async (url) => {
    const path = new URL(url).pathname;
    asked.push(path);
    const page = pages[path] ?? 404;
    if (page === 0) return fetched(url, 0, '', 'net::ERR_NAME_NOT_RESOLVED');
    return typeof page === 'number' ? fetched(url, page, '') : fetched(url, 200, page);
  });
  const reported = result.errors.map(({ code, lists }) => [code, ...lists.flatMap(({ urls }) => urls)]);
  return { ...result, played: result.ads.map(({ ad }) => ad.id), asked, reported };
}

describe('a chain of VAST wrappers', () => {
  it('a wrapper chain resolves to the inline ad, with all its wrappers', async () => {
    const { played, ads, chain, failure } = await resolve(vast(wrapper('a', '/b')), {
      '/b': vast(wrapper('b', 'c?x=1')),
      '/c': vast(inline('ad')),
    });
    assert.deepEqual([played, failure], [['ad'], null]);
    assert.deepEqual(
      ads[0]?.wrappers.map(({ ad }) => ad.id),
      ['a', 'b'],
    );
    assert.deepEqual(
      chain.map(({ depth, parent, requestedUrl }) => [depth, parent, requestedUrl]),
      [
        [0, null, `${HOST}/tag`],
        [1, 0, `${HOST}/b`],
        [2, 1, `${HOST}/c?x=1`],
      ],
    );
  });

  it('a wrapper chain is followed through at most five wrappers (VAST 4.3, 2.3.5.1)', async () => {
    const pages = Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [`/${at}`, vast(wrapper(`w${at}`, `/${at + 1}`))]),
    );
    const five = await resolve(vast(wrapper('w', '/5')), { ...pages, '/9': vast(inline('ad')) });
    assert.deepEqual(five.played, ['ad'], 'five wrappers');
    const six = await resolve(vast(wrapper('w', '/4')), { ...pages, '/9': vast(inline('ad')) });
    assert.deepEqual([six.played, six.failure, six.reported[0]?.[0]], [[], 'limit', 302]);
    assert.equal(six.reported[0]?.length, 1 + 6, 'the error URLs of all wrappers');
  });

  it('a wrapper chain that loops ends with error 302', async () => {
    const { failure, asked, reported, chain } = await resolve(vast(wrapper('a', '/b')), {
      '/b': vast(wrapper('b', '/tag')),
    });
    assert.deepEqual([failure, asked], ['loop', ['/b']]);
    assert.deepEqual(reported, [[302, '/error-a', '/error-b']]);
    assert.equal(chain.at(-1)?.outcome, 'loop');
  });

  it('a wrapper whose document is unusable reports the error code of the reason (VAST 4.3, 2.3.6.3)', async () => {
    const of = async (page: string | number) => {
      const { failure, reported } = await resolve(vast(wrapper('a', '/b')), { '/b': page });
      return [failure, reported];
    };
    assert.deepEqual(await of(404), ['refused', [[301, '/error-a']]]);
    assert.deepEqual(await of(503), ['unanswered', [[301, '/error-a']]]);
    assert.deepEqual(await of(0), ['unanswered', [[301, '/error-a']]]);
    assert.deepEqual(await of('not XML'), ['invalid', [[100, '/error-a']]]);
    assert.deepEqual(await of('<html></html>'), ['invalid', [[100, '/error-a']]]);
    const large = vast(`<Ad id="${'x'.repeat(VAST_LENGTH_MAX)}"/>`);
    assert.deepEqual(await of(large), ['too_large', [[100, '/error-a']]]);
    assert.deepEqual(await of(''), ['no_ad', [[303, '/error-a']]]);
    assert.deepEqual(await of(NO_AD), ['no_ad', [[303, '/no-ad', '/error-a']]]);
  });

  it('a wrapper whose URL is not http or https is refused without a request', async () => {
    for (const uri of ['file:///etc/passwd', 'javascript:alert(1)', 'data:text/xml,<VAST/>', 'ftp://x.example/']) {
      const { failure, asked } = await resolve(vast(wrapper('a', uri)));
      assert.deepEqual([failure, asked], ['refused', []], uri);
    }
  });

  it('a wrapper without a URL is an invalid document', async () => {
    const { failure, asked, reported } = await resolve(vast(wrapper('a', '')));
    assert.deepEqual([failure, asked, reported], ['invalid', [], [[100, '/error-a']]]);
  });

  it('further wrappers are not followed if followAdditionalWrappers is false', async () => {
    const pages = { '/b': vast(wrapper('b', '/c')), '/c': vast(inline('ad')) };
    const refused = await resolve(vast(wrapper('a', '/b', 'followAdditionalWrappers="false"')), pages);
    assert.deepEqual([refused.failure, refused.asked], ['not_followed', ['/b']]);
    const allowed = await resolve(vast(wrapper('a', '/b', 'followAdditionalWrappers="true"')), pages);
    assert.deepEqual(allowed.played, ['ad']);
  });
});

describe('several ads in a VAST document', () => {
  it('ads with a sequence are a pod, played in that order', async () => {
    const { played } = await resolve(vast(inline('two', '2'), inline('spare'), inline('one', '1')));
    assert.deepEqual(played, ['one', 'two']);
  });

  it('of a pod, ten ads are played and the others are counted', async () => {
    const pod = Array.from({ length: 60 }, (_, at) => inline(`ad-${at}`, String(at + 1)));
    const { played, adsLeftOut } = await resolve(vast(...pod));
    assert.deepEqual([played.length, adsLeftOut], [10, 50]);
  });

  it('ads without a sequence are a waterfall: the first one with something to show is played', async () => {
    const empty = '<Ad id="empty"><InLine><AdSystem/><Creatives/></InLine></Ad>';
    assert.deepEqual((await resolve(vast(empty, inline('a'), inline('b')))).played, ['a']);
    assert.deepEqual((await resolve(vast(empty))).played, ['empty']);
    assert.deepEqual((await resolve(vast(wrapper('w', '/404'), inline('b')))).played, ['b']);
  });

  it('behind a wrapper, only one ad is played unless allowMultipleAds is true', async () => {
    const pages = { '/b': vast(inline('one', '1'), inline('alone'), inline('two', '2')) };
    assert.deepEqual((await resolve(vast(wrapper('a', '/b')), pages)).played, ['alone']);
    const many = await resolve(vast(wrapper('a', '/b', 'allowMultipleAds="true"')), pages);
    assert.deepEqual(many.played, ['one', 'two']);
  });

  it('a stand-alone ad replaces a wrapper of a pod without an ad if fallbackOnNoAd is true', async () => {
    const pod = (fallback: string) =>
      vast(wrapper('w', '/none', `fallbackOnNoAd="${fallback}"`, '1'), inline('two', '2'), inline('spare'));
    assert.deepEqual((await resolve(pod('true'), { '/none': NO_AD })).played, ['spare', 'two']);
    assert.deepEqual((await resolve(pod('false'), { '/none': NO_AD })).played, ['two']);
  });

  it('at most 20 documents are read for a tag, its own included', async () => {
    const many = vast(...Array.from({ length: 40 }, (_, at) => wrapper(`w${at}`, `/${at}`)));
    const { asked, failure } = await resolve(many);
    assert.equal(asked.length, 19);
    assert.equal(failure, 'refused');
  });
});

type Expected = {
  file: string;
  class: string;
  video: { adSystem: string; vastVersion: string; durationSeconds: number | null; mediaFileUrls: string[] } | null;
  wrapperResolution?: { depth: number | null; loop?: boolean; unresolved?: string | null; chain: string[] };
};

/** The possible outcomes of documents of other projects, by the class that their expected values name. */
const ENDS: Record<string, string[]> = {
  'inline-linear': ['ads'],
  'inline-vpaid': ['ads'],
  'inline-nonlinear-only': ['ads'],
  'inline-no-media': ['ads'],
  'adpod-or-buffet': ['ads'],
  wrapper: ['ads', 'loop', 'no_ad', 'refused', 'not_followed'],
  'no-ad': ['no_ad'],
  malformed: ['invalid'],
  vmap: ['invalid'],
};

describe('VAST documents of real players and servers', { skip }, () => {
  const all: Expected[] = skip ? [] : JSON.parse(readFileSync(join(DATA, 'expected.json'), 'utf8'));

  for (const expected of all) {
    it(`${expected.file} ends as its class ${expected.class} says`, async () => {
      const folder = expected.file.split('/').slice(0, -1).join('/');
      const text = readFileSync(join(DATA, expected.file), 'utf8');
      // The paths of the test servers of their projects.
      const read = async (url: string) => {
        const name = new URL(url).pathname.split('/').at(-1) as string;
        const path = ['', 'special-cases/'].map((at) => join(DATA, folder, at, name)).find((one) => existsSync(one));
        return path ? fetched(url, 200, readFileSync(path, 'utf8')) : fetched(url, 404, '');
      };
      const own = `https://data.example/${expected.file.split('/').at(-1)}`;
      const { ads, failure, chain } = await unwrap(fetched(own, 200, text), read);
      assert.ok(ENDS[expected.class]?.includes(failure ?? 'ads'), `${failure}`);
      const resolution = expected.wrapperResolution;
      if (resolution?.loop) assert.equal(failure, 'loop');
      if (resolution?.unresolved) assert.equal(failure, 'refused');
      if (resolution?.depth && failure === null && expected.class === 'wrapper') {
        assert.equal(ads[0]?.wrappers.length, resolution.depth);
        assert.equal(chain.length, resolution.chain.length);
      }
    });
  }
});
