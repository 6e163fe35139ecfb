import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Box } from '../src/capture/box.ts';
import { findAdBlocks } from '../src/capture/discovery/find-blocks.ts';
import { describeSlot } from '../src/capture/discovery/identity.ts';
import type { PageDocument, PageFacts, PageNode } from '../src/capture/discovery/page-facts.ts';
import { PageIndex } from '../src/capture/discovery/page-index.ts';

const BOX: Box = { x: 0, y: 0, width: 300, height: 250 };
const node = (parent: number, tag: string, attributes = {}, box: Box = BOX): PageNode => ({
  ...{ parent, tag, attributes, text: '', box, isShown: true, paints: tag === 'img', position: 'static' },
  backendNodeId: 0,
});
const PAGE: Box = { x: 0, y: 0, width: 1000, height: 100_000 };
const ROOT = [node(-1, '#document', {}, PAGE), node(0, 'html', {}, PAGE), node(1, 'body', {}, PAGE)];
const pageOf = (nodes: PageNode[], more: Partial<PageFacts> = {}): PageIndex => {
  const main: PageDocument = {
    ...{ frameId: 'main', parentFrameId: null, url: 'http://news.test/', owner: null, isRead: true },
    nodes: [...ROOT, ...nodes],
  };
  const size = { page: { width: 1000, height: 100_000 }, view: { width: 1000, height: 600 } };
  return new PageIndex({ documents: [main], requests: [], ...size, ...more });
};

it('of thousands of slots on a page the first hundred are listed, and the others are counted', () => {
  const slots = Array.from({ length: 1_500 }, (_, index) =>
    node(2, 'iframe', { src: `http://ads.exoclick.com/${index}` }, { ...BOX, y: 260 * index }),
  );
  const page = pageOf(slots.flatMap((slot, index) => [slot, node(3 + index * 2, 'img', {}, slot.box as Box)]));
  const { blocks, left } = findAdBlocks(page, 100);
  assert.deepEqual([blocks.length, left, blocks[1]?.box.y], [100, 1_400, 260]);
});

it('thousands of native containers and pictures beside ad scripts are searched a bounded number of times', () => {
  const requests = [
    {
      url: 'http://ads.teads.tv/vast',
      resourceType: 'xhr',
      contentType: 'text/xml',
      frameId: 'main',
      scripts: [],
      atMs: 1,
    },
  ];
  const nodes = Array.from({ length: 5_000 }, (_, index) => [
    node(3 + index * 4 - (index > 0 ? 4 : 1), 'div', { id: `taboola-${index}` }),
    node(3 + index * 4, 'a', { href: 'http://shop.test/' }),
    node(4 + index * 4, 'img', { src: 'http://cdn.test/a.png' }),
    node(3 + index * 4, 'video', {}),
  ]).flat();
  assert.deepEqual(findAdBlocks(pageOf(nodes, { requests }), 100).left, 0);
});

it('a picture of an ad size that leads to another site is no ad without a mark, and one with a mark is', () => {
  const banner = (mark: object) => [
    node(2, 'div', mark),
    node(3, 'a', { href: 'http://shop.test/' }),
    node(4, 'img', {}),
  ];
  assert.deepEqual(findAdBlocks(pageOf(banner({})), 100).blocks, []);
  const [found] = findAdBlocks(pageOf(banner({ class: 'box sponsored' })), 100).blocks;
  assert.deepEqual([found?.kind, found?.signals, found?.networkHost], ['banner', ['ad_label', 'ad_size'], '']);
});

it('a sponsored link in a text marks what is in the link, and not the picture beside it', () => {
  const article = (inLink: PageNode[]) => [
    node(2, 'div'),
    node(3, 'p'),
    node(4, 'a', { href: 'http://shop.test/', rel: 'sponsored nofollow' }),
    node(3, 'img', {}, { ...BOX, y: 300 }),
    ...inLink,
  ];
  const found = (inLink: PageNode[]) => findAdBlocks(pageOf(article(inLink)), 100).blocks.map(({ box }) => box.y);
  assert.deepEqual(found([{ ...node(5, '#text'), text: 'a shop', paints: true }]), []);
  assert.deepEqual(found([node(5, 'img')]), [0]);
});

it('a label is the word alone, in any script, and no sentence or name with the word', () => {
  const under = (text: string) => {
    const banner = [node(2, 'div'), node(3, 'a', { href: 'http://shop.test/' }), node(4, 'img', {})];
    return findAdBlocks(pageOf([...banner, { ...node(3, '#text'), text }]), 100).blocks.length;
  };
  for (const label of [
    '広告',
    '【広告】',
    'Реклама ✕',
    'Реклама. ООО «Ромашка»',
    '· إعلان ·',
    'विज्ञापन',
    'ℹ️ Ad',
    'Sponsored by Łódź',
  ])
    assert.equal(under(label), 1, label);
  for (const text of [
    '広告なしで視聴',
    'Социальная реклама',
    'Рекламация',
    'Без рекламы',
    'Реклама и право',
    'إعلانات مبوبة للسيارات',
    'كل إعلان',
  ])
    assert.equal(under(text), 0, text);
});

it('a slot has the same description when its ids carry other random numbers, and two slots have two', () => {
  const described = (id: string) => {
    const page = pageOf([node(2, 'div', { id }), node(3, 'iframe', { id: `${id}_frame` })]);
    return describeSlot(page, { document: 0, node: 4 }, BOX);
  };
  assert.equal(described('div-gpt-ad-1699999999999-0'), described('div-gpt-ad-1700000000001-0'));
  assert.notEqual(described('div-gpt-ad-1699999999999-0'), described('div-gpt-ad-1699999999999-1'));
});
