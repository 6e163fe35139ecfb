import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CREATIVE_HTML } from '@adsweep/shared/capture/artifacts.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import sharp from 'sharp';
import type { FoundAd } from '../src/capture/discovery/found-ad.ts';
import type { CaptureSession } from '../src/capture/session/capture-session.ts';
import { Ending } from '../src/capture/session/ending.ts';
import { StoredFile } from '../src/capture/session/stored-file.ts';
import { hasOneColour, keepAd } from '../src/capture/sweep/keep-ads.ts';

/** A page whose ad was found and cannot be brought into view any more. */
const target = {
  targetId: 'page',
  send: async (method: string) => {
    if (method === 'DOM.getOuterHTML') return { outerHTML: '<b>ad</b>' };
    throw new Error('it does not answer');
  },
};
const session = {
  ending: new Ending(),
  logger: createLogger('test', 'silent'),
  notes: [],
  startedAt: performance.now(),
} as unknown as CaptureSession;
const ad = {
  tab: { tab: { session: target, url: 'https://news.example/' } },
  block: { ad_kind: 'banner', x: 0, y: 0, width: 300, height: 250 },
  element: { session: target, backendNodeId: 1 },
  frameIds: [],
} as unknown as FoundAd;

const SIZE = { width: 300, height: 250 };
const banner = (background: string, shapes = '') =>
  sharp(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="300" height="250">${shapes}</svg>`))
    .resize(SIZE)
    .flatten({ background })
    .jpeg({ quality: 90 })
    .toBuffer();

it('the picture of a frame that was not drawn yet has one colour, whichever the page has behind it', async () => {
  for (const colour of ['#ffffff', '#000000', '#aaccee']) assert.ok(await hasOneColour(await banner(colour)), colour);
});

it('a picture with a short line of text or a thin border has more', async () => {
  const text = await banner('#ffffff', '<rect x="10" y="10" width="60" height="2" fill="#222"/>');
  const border = await banner('#ffffff', '<rect width="300" height="250" fill="none" stroke="#999" stroke-width="2"/>');
  assert.deepEqual([await hasOneColour(text), await hasOneColour(border)], [false, false]);
});

it('what is no picture has none', async () => {
  assert.equal(await hasOneColour(Buffer.from('<svg')), false);
});

it('an ad is kept in memory where the disk takes no file', async () => {
  const temporary = process.env.TMPDIR;
  process.env.TMPDIR = '/nowhere';
  try {
    const { files } = await keepAd(session, ad);
    assert.deepEqual(
      files.map(({ name, bytes }) => [name, bytes instanceof StoredFile ? 'on the disk' : String(bytes)]),
      [[CREATIVE_HTML, '<b>ad</b>']],
    );
  } finally {
    if (temporary === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = temporary;
  }
});
