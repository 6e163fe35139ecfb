import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TargetSession } from '../src/capture/devtools/devtools.ts';
import type { PageElement } from '../src/capture/discovery/found-ad.ts';
import { joinReadings, type SeenBlock } from '../src/capture/discovery/join-readings.ts';

const element = (backendNodeId: number): PageElement => ({
  session: { targetId: 'page' } as TargetSession,
  backendNodeId,
});
/** A block whose one frame has the name of its ad. */
const block = (ad: string, backendNodeId: number, y: number, more: Partial<SeenBlock> = {}): SeenBlock => ({
  ...{ kind: 'banner', signals: ['ad_server_frame'], scripts: [], network: ad, networkHost: `${ad}.test` },
  ...{ box: { x: 0, y, width: 300, height: 250 }, element: element(backendNodeId), around: [element(backendNodeId)] },
  ...{
    description: `#slot-${backendNodeId}`,
    frameIds: [ad],
    isPinned: false,
    inPage: null,
    overlay: null,
    closeButton: null,
  },
  ...more,
});
const joined = (first: SeenBlock[], last: SeenBlock[]) =>
  joinReadings(first, last).map(({ box, network, frameIds }) => [network, box.y, ...frameIds]);

it('of slots that are described alike, each keeps its own ad when the first one is not there any more', () => {
  const alike = { description: '#ad-*' };
  const first = [block('a', 1, 0, alike), block('b', 2, 300, alike)];
  assert.deepEqual(joined(first, [block('b', 2, 50, alike)]), [
    ['a', 0, 'a'],
    ['b', 50, 'b'],
  ]);
  // Its element was made anew.
  assert.deepEqual(joined(first, [block('b', 3, 600, alike)]), [
    ['a', 0, 'a'],
    ['b', 600, 'b'],
  ]);
});

it('an ad that moved to the place of another, which moved too, is the ad that it was', () => {
  const first = [block('a', 1, 0), block('b', 2, 300)];
  const last = [block('new', 3, 0), block('a', 1, 300), block('b', 2, 600)];
  assert.deepEqual(joined(first, last), [
    ['new', 0, 'new'],
    ['a', 300, 'a'],
    ['b', 600, 'b'],
  ]);
});

it('a slot that refreshed is one block with the first ad that was seen, also in another element or elsewhere', () => {
  const first = [block('a', 1, 0), block('b', 2, 300)];
  const last = [block('c', 3, 0), block('d', 4, 900, { description: '#slot-2' })];
  assert.deepEqual(joined(first, last), [
    ['a', 0, 'a', 'c'],
    ['b', 900, 'b', 'd'],
  ]);
});
