import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TargetSession } from '../src/capture/devtools/devtools.ts';
import { Tab } from '../src/capture/session/tab.ts';

/** A tab that shows a document before it is watched. */
async function caughtUp(state: string, url: string): Promise<Tab> {
  const tab = new Tab({ send: async () => ({ result: { value: `${state} ${url}` } }) } as unknown as TargetSession);
  await tab.catchUp();
  return tab;
}

describe('a tab that began to navigate before it was watched', () => {
  it('has the document that it shows by then', async () => {
    const { url, committed, refused, loadedAt } = await caughtUp('complete', 'https://shop.example/');
    assert.deepEqual([url, committed, refused, loadedAt !== null], ['https://shop.example/', true, false, true]);
  });

  it('shows nothing of its target where that could not be loaded, or not yet', async () => {
    for (const [shown, isRefused] of [
      ['chrome-error://chromewebdata/', true],
      ['about:blank', false],
    ] as const) {
      const { url, committed, refused } = await caughtUp('complete', shown);
      assert.deepEqual([url, committed, refused], ['', false, isRefused], shown);
    }
  });
});
