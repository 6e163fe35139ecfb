import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { OwnPlaces } from '../../src/platform/own-places.ts';

describe('places of owners', () => {
  test('an owner has so many tasks under way; its others wait, in their order, and those of another owner do not', async () => {
    const places = new OwnPlaces(2);
    const ends: (() => void)[] = [];
    const begun: string[] = [];
    const run = (owner: string, name: string) =>
      places.run(owner, () => {
        begun.push(name);
        return new Promise<string>((resolve) => ends.push(() => resolve(name)));
      });
    const all = [run('ours', 'a'), run('ours', 'b'), run('ours', 'c'), run('ours', 'd'), run('theirs', 'e')];
    await turn();
    assert.deepEqual(begun, ['a', 'b', 'e']);
    ends[0]!();
    assert.equal(await all[0], 'a');
    await turn();
    assert.deepEqual(begun, ['a', 'b', 'e', 'c']);
    for (let at = 1; at < 5; at++) {
      ends[at]!();
      await turn();
    }
    assert.deepEqual(await Promise.all(all), ['a', 'b', 'c', 'd', 'e']);
    assert.equal(await places.run('ours', async () => 'later'), 'later');
  });

  test('a task that fails leaves its place', async () => {
    const places = new OwnPlaces(1);
    const fail = () => places.run('ours', () => Promise.reject(new Error('it failed')));
    await Promise.all([assert.rejects(fail(), /it failed/), assert.rejects(fail(), /it failed/)]);
    assert.equal(await places.run('ours', async () => 'next'), 'next');
  });
});
