import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Target } from '@adsweep/shared/scan/target.ts';
import { chooseCreative, innermostWithUrl, pathOf, type SeenFrame } from '../src/capture/harness/choose-creative.ts';
import { centreOf, gridOver } from '../src/capture/harness/clickables.ts';
import { isClickThrough } from '../src/capture/harness/page-loads.ts';
import { hasElement, isTagUrl, placementPage, placementSize } from '../src/capture/harness/placement.ts';
import { deniedHosts, publisherFragment, publisherUrl } from '../src/capture/harness/publisher-url.ts';

const box = (x: number, y: number, width: number, height: number) => ({ x, y, width, height });
const picture = (...of: Parameters<typeof box>) => ({ kind: 'picture' as const, ...box(...of) });
const frame = (frameId: string, more: Partial<SeenFrame>): SeenFrame => ({
  frameId,
  parentId: null,
  url: `https://${frameId}.example/`,
  box: null,
  visuals: [],
  ...more,
});

describe('the creative of an ad', () => {
  it('the creative of an ad is everything that the page shows', () => {
    const page = frame('page', { visuals: [picture(0, 0, 300, 200), picture(0, 200, 300, 50)] });
    assert.deepEqual(chooseCreative([page], 'page', false), { frameId: 'page', box: box(0, 0, 300, 250) });
  });

  it('the creative of an ad is the innermost frame that covers most of the visible content, with the box of the frame that fills the placement', () => {
    const frames = [
      frame('page', { visuals: [picture(0, 0, 1, 1)] }),
      frame('outer', { parentId: 'page', box: box(10, 10, 300, 250) }),
      frame('inner', { parentId: 'outer', box: box(10, 10, 300, 250), visuals: [picture(10, 10, 300, 250)] }),
    ];
    assert.deepEqual(chooseCreative(frames, 'page', false), { frameId: 'inner', box: box(10, 10, 300, 250) });
    assert.deepEqual(
      pathOf(frames, 'inner').map(({ frameId }) => frameId),
      ['inner', 'outer', 'page'],
    );
  });

  it('the creative of an ad has the size of its frame around a line of text, and its own in a frame that is too large', () => {
    const around = (visuals: SeenFrame['visuals']) => [
      frame('page', {}),
      frame('ad', { parentId: 'page', box: box(0, 0, 970, 250), visuals }),
    ];
    const line = { ...picture(0, 0, 280, 18), kind: 'text' as const };
    assert.deepEqual(chooseCreative(around([line]), 'page', false)?.box, box(0, 0, 970, 250));
    assert.deepEqual(chooseCreative(around([picture(0, 0, 300, 250)]), 'page', false)?.box, box(0, 0, 300, 250));
  });

  it('the creative of an ad is the element of the size of an ad on a page with other content', () => {
    const page = frame('page', { visuals: [picture(0, 0, 900, 60), picture(20, 100, 300, 250)] });
    assert.deepEqual(chooseCreative([page], 'page', true)?.box, box(20, 100, 300, 250));
    assert.deepEqual(chooseCreative([page], 'page', false)?.box, box(0, 0, 900, 350));
  });

  it('the creative of an ad is null if there are only pixels, hidden frames and empty frames', () => {
    const frames = [
      frame('page', { visuals: [picture(0, 0, 4, 4)] }),
      frame('hidden', { parentId: 'page', visuals: [picture(0, 0, 300, 250)] }),
      frame('empty', { parentId: 'page', box: box(0, 0, 300, 250) }),
    ];
    assert.equal(chooseCreative(frames, 'page', false), null);
  });

  it('the creative of an ad belongs to the innermost document with a URL of its own', () => {
    const path = [frame('written', { url: 'about:srcdoc' }), frame('ad', {}), frame('page', {})];
    assert.equal(innermostWithUrl(path)?.frameId, 'ad');
    const written = frame('written', { url: 'https://ads.example/frame' });
    assert.equal(innermostWithUrl([written, frame('ad', { url: written.url }), frame('page', {})])?.frameId, 'ad');
  });
});

describe('page loads after a click', () => {
  it('a page load after a click is a click-through, unless the creative loads itself again', () => {
    const from = 'https://ads.example/frame?slide=1';
    assert.equal(isClickThrough({ from, to: 'https://shop.example/' }), true);
    assert.equal(isClickThrough({ from, to: 'https://ads.example/click' }), true);
    assert.equal(isClickThrough({ from, to: 'https://ads.example/frame?slide=2' }), false);
    assert.equal(isClickThrough({ from: 'about:srcdoc', to: 'https://shop.example/' }), true);
    assert.equal(isClickThrough({ from, to: 'market://details?id=x' }), false);
  });
});

describe('placements', () => {
  it('a placement has the size that the tag names', () => {
    const sizes = [
      '<img width="728" height=90>',
      '<div style="width:320px;height:50px">',
      'slot([160, 600])',
      'ad-970x250.js',
    ];
    assert.deepEqual(
      sizes.map(placementSize).map(({ width, height }) => `${width}x${height}`),
      ['728x90', '320x50', '160x600', '970x250'],
    );
    for (const none of ['<b>ad</b>', '<div style="width:100%;height:100%">', '<img width="1" height="1">'])
      assert.deepEqual(placementSize(none), { width: 300, height: 250 }, none);
  });

  it('a placement contains a frame for a URL, and a snippet unchanged', () => {
    assert.match(
      placementPage('news.example', ' https://ads.example/?a=1&b="x" '),
      /<iframe src="https:\/\/ads\.example\/\?a=1&amp;b=&quot;x&quot;"/,
    );
    assert.match(placementPage('news.example', '<b>ad</b>'), /<div id="ad-slot"[^>]*><b>ad<\/b><\/div>/);
    assert.deepEqual(['https://a.example/', '<a href="https://a.example/">'].map(isTagUrl), [true, false]);
  });

  it('a tag without an element outside of comments is refused; comments end as in browsers', () => {
    const shown = ['<b>', '<!-- a --><b>', '<!--><b>', '<!---><b>', '<!-- a --!><b>', '<script><!-- a // --></script>'];
    const empty = ['1 < 2', '<!-- <b> -->', '<!-- <b>', '<!----', `${'<!--'.repeat(100_000)}<b>`];
    assert.deepEqual([...shown, ...empty].map(hasElement), [...shown.map(() => true), ...empty.map(() => false)]);
  });

  it('§4.2.13 a placement is on the referrer, or on a URL with the scheme of the tag', () => {
    assert.equal(publisherFragment('https://news.example/a?b#c'), '#c');
    assert.deepEqual([null, 'https://news.example/', 'no address#c'].map(publisherFragment), ['', '', '']);
    assert.equal(publisherUrl('https://news.example/a?b#c', ''), 'https://news.example/a?b');
    assert.equal(publisherUrl(null, '<script src="http://ads.example/">'), 'http://www.example.com/');
    assert.equal(publisherUrl(null, '<script src="//ads.example/">'), 'https://www.example.com/');
  });

  it('a placement denies the publisher to the exit, unless the tag itself names it', () => {
    const denied = (kind: Target['kind'], value: string, referrer: string | null = 'https://news.example:444/a') =>
      deniedHosts({ kind, value }, referrer);
    assert.deepEqual(denied('ad_tag', '<img src="https://ads.example/1.gif">'), ['news.example']);
    assert.deepEqual(denied('vast_tag', 'https://video.example/tag.xml'), ['news.example']);
    assert.deepEqual(denied('ad_tag', '<img src="https://cdn.news.example/1.gif">'), ['news.example']);
    assert.deepEqual(denied('ad_tag', '<img src="https://NEWS.example:444/1.gif">'), []);
    assert.deepEqual(denied('ad_tag', '<b>an ad</b>', null), ['www.example.com']);
    assert.deepEqual(denied('ad_tag', '<b>an ad</b>', `https://${'a.'.repeat(200)}example/`), []);
    assert.deepEqual(denied('url', 'https://shop.example/'), []);
  });
});

describe('click points', () => {
  const view = { width: 400, height: 300 };

  it('the grid of click points covers the visible part of a creative evenly, with bounded size', () => {
    const points = gridOver(box(0, 0, 300, 250), view);
    assert.ok(points.length > 600 && points.length <= 1_300, String(points.length));
    assert.ok(points.every(({ x, y }) => x > 0 && x < 300 && y > 0 && y < 250));
    assert.ok(gridOver(box(0, 0, 5_000, 5_000), view).every(({ x, y }) => x < 400 && y < 300));
    assert.deepEqual(gridOver(box(500, 0, 10, 10), view), []);
    assert.equal(gridOver(box(0, 0, 2, 2), view).length, 1);
  });

  it('the grid of click points has its centre in the middle of the visible part', () => {
    assert.deepEqual(centreOf(box(0, 0, 300, 250), view), { x: 150, y: 125 });
    assert.deepEqual(centreOf(box(0, 0, 600, 600), view), { x: 200, y: 150 });
    assert.equal(centreOf(box(0, 400, 10, 10), view), null);
  });
});
