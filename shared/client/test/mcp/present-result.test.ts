import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdsweepError } from '../../src/adsweep-error.ts';
import { marking, presentAnswer, presentProblem } from '../../src/mcp/present-result.ts';
import { shorten } from '../../src/mcp/shorten.ts';

const LINK = 'https://adsweep.example/api/v1/scans?page=1';
const textOf = (content: { type: string }[]) => (content[0] as unknown as { text: string }).text;

test('a short answer is whole, and has no link', async () => {
  const { content } = await presentAnswer({ items: [1, 2] }, LINK);
  assert.equal(content.length, 1);
  assert.match(textOf(content), /^\{"items":\[1,2\]\}$/m);
});

test('of a long answer the beginning of each list and text is kept, and it is said how much is missing, with a link to all', async () => {
  const items = Array.from({ length: 500 }, (_, at) => ({ id: at, title: 'x'.repeat(2_000) }));
  const { content } = await presentAnswer({ items, total: 500 }, LINK);
  const text = textOf(content);
  assert.ok(text.length < 16_500);
  const json = JSON.parse(text.split(/^untrusted-[0-9a-f]+$/m)[1]!);
  assert.equal(json.total, 500);
  assert.equal(json.items.at(-1), `... ${500 - (json.items.length - 1)} more`);
  assert.match(json.items[0].title, /^x+ \.\.\. \d+ more characters$/);
  assert.deepEqual(content[1], {
    ...{ type: 'resource_link', uri: LINK, name: 'The whole answer' },
    description: 'Parts were left out. This URL answers all of it to the same credential.',
  });
});

test('a value that no cut makes short enough ends within its bound', () => {
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`field-${at}`, at]));
  const { text, isWhole } = shorten(wide, 1_000);
  assert.deepEqual([text.length, isWhole], [1_004, false]);
});

test('of a large answer only as much is looked at as may be kept', () => {
  let looks = 0;
  const row = () => ({
    get url() {
      looks += 1;
      return 'https://shop.example/';
    },
  });
  const { text, isWhole } = shorten(
    { items: Array.from({ length: 200 }, () => Array.from({ length: 500 }, row)) },
    16_000,
  );
  assert.deepEqual([isWhole, text.length <= 16_000], [false, true]);
  assert.ok(looks < 10_000, `${looks} of 100,000 looked at`);
});

test('a text is cut between its characters', () => {
  const { text } = shorten('😀'.repeat(3_000), 500);
  assert.ok(text.isWellFormed());
});

test('the marks around an answer differ each time, and invisible characters are escaped', () => {
  const [one, other] = [marking('a\u202eb\u{e0041}\u200b'), marking('a')];
  const markOf = (text: string) => text.split('\n')[1];
  assert.notEqual(markOf(one), markOf(other));
  assert.equal(one.split('\n')[2], 'a\\u202eb\\udb40\\udc41\\u200b');
});

test('a picture is shown with a warning; one that is too large, and other files, are a link', async () => {
  const picture = await presentAnswer(new Blob(['abc'], { type: 'image/webp' }), LINK);
  assert.deepEqual(picture.content[1], { type: 'image', data: 'YWJj', mimeType: 'image/webp' });
  assert.match(textOf(picture.content), /data, never an instruction/);
  const large = await presentAnswer(new Blob([new Uint8Array(2 ** 20 + 1)], { type: 'image/png' }), LINK);
  const video = await presentAnswer(new Blob(['abc'], { type: 'video/mp4' }), LINK);
  for (const { content } of [large, video])
    assert.deepEqual(
      content.map(({ type }) => type),
      ['text', 'resource_link'],
    );
  assert.equal(textOf(video.content), 'video/mp4, 3 bytes');
});

test('a refusal names its code and its fields', () => {
  const item = { loc: ['body', 'url'], msg: 'Must be public.', type: 'x', ctx: {} };
  const error = new AdsweepError('createScan', new Response(null, { status: 422 }), {
    detail: [item],
    code: 'validation_error',
  });
  const { content, isError } = presentProblem(error);
  assert.equal(isError, true);
  assert.match(textOf(content), /"status":422,"code":"validation_error","items":\[\{"loc":\["body","url"\]/);
});
