import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { PerOwnerLimit } from '../../src/platform/per-owner-limit.ts';

describe('the limit of each owner', () => {
  test('an owner has so many tasks under way; its others wait, in their order, and those of another owner do not', async () => {
    const limit = new PerOwnerLimit(2);
    const ends: (() => void)[] = [];
    const begun: string[] = [];
    const run = (owner: string, name: string) =>
      limit.run(owner, () => {
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
    assert.equal(await limit.run('ours', async () => 'later'), 'later');
  });

  test('a task that fails leaves its place', async () => {
    const limit = new PerOwnerLimit(1);
    const fail = () => limit.run('ours', () => Promise.reject(new Error('it failed')));
    await Promise.all([assert.rejects(fail(), /it failed/), assert.rejects(fail(), /it failed/)]);
    assert.equal(await limit.run('ours', async () => 'next'), 'next');
  });
});
