import assert from 'node:assert/strict';
import { it } from 'node:test';
import sharp from 'sharp';
import { hasOneColour } from '../src/capture/sweep/keep-ads.ts';

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
