import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import type { BrowserContext, Page } from 'playwright-core';
import type { DevTools, TargetSession } from '../src/capture/devtools/devtools.ts';
import { ContextListeners } from '../src/capture/session/context-listeners.ts';
import type { Ending } from '../src/capture/session/ending.ts';
import { OpenTabs } from '../src/capture/session/open-tabs.ts';
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

it('of many tabs the first and the last are kept; once they are to be recorded, none is closed for a later one', async () => {
  const context = new EventEmitter();
  const known = new Map<string, Tab>();
  const sessionOf = async ({ name }: Page & { name: string }) => ({ targetId: name });
  const tabs = new OpenTabs(
    new ContextListeners(context as unknown as BrowserContext),
    { sessionOf, onAttached: () => undefined } as unknown as DevTools,
    known,
    {} as Ending,
    { limits: { tabs: 20, landings: 4, capture_bytes: 1 } },
  );
  const open = async (...names: string[]) => {
    for (const name of names) {
      known.set(name, { session: { targetId: name }, openedAt: known.size } as unknown as Tab);
      const isClosed = () => false;
      context.emit('page', { name, on: () => undefined, isClosed, close: async () => undefined } as unknown as Page);
      await tabs.joined();
    }
    return tabs.all.map(({ tab }) => tab.session.targetId).join(' ');
  };
  assert.equal(await open('a', 'b', 'c', 'd', 'e', 'f'), 'a b e f');
  tabs.keepPresent();
  assert.equal(await open('g', 'h'), 'a b e f');
});

it('a tab that is discarded is closed and does not count, whether it had been reported or not', async () => {
  const context = new EventEmitter();
  const known = new Map<string, Tab>();
  const sessionOf = async ({ name }: Page & { name: string }) => ({ targetId: name });
  const tabs = new OpenTabs(
    new ContextListeners(context as unknown as BrowserContext),
    { sessionOf, onAttached: () => undefined } as unknown as DevTools,
    known,
    {} as Ending,
    { limits: { tabs: 20, landings: 4, capture_bytes: 1 } },
  );
  const closed: string[] = [];
  const open = async (name: string) => {
    known.set(name, { session: { targetId: name }, openedAt: known.size } as unknown as Tab);
    const close = async () => closed.push(name);
    context.emit('page', { name, on: () => undefined, isClosed: () => false, close } as unknown as Page);
    await tabs.joined();
  };
  tabs.discard('late');
  for (const name of ['first', 'repeated', 'late', 'last']) await open(name);
  tabs.discard('repeated');
  assert.deepEqual(
    tabs.all.map(({ tab }) => tab.session.targetId),
    ['first', 'last'],
  );
  assert.deepEqual([closed.sort(), tabs.uninspected], [['late', 'repeated'], 0]);
});

it('a tab that opens while tabs are refused loads nothing, and one that was open before does', () => {
  const known = new Map<string, Tab>();
  const attached: ((session: TargetSession) => void)[] = [];
  const onAttached = (listener: (session: TargetSession) => void) => attached.push(listener);
  const tabs = new OpenTabs(
    new ContextListeners(new EventEmitter() as unknown as BrowserContext),
    { onAttached } as unknown as DevTools,
    known,
    {} as Ending,
    { limits: { tabs: 20, landings: 4, capture_bytes: 1 } },
  );
  const open = (targetId: string) => {
    const session = { type: 'page', targetId } as TargetSession;
    known.set(targetId, new Tab(session));
    for (const listener of attached) listener(session);
  };
  open('landing');
  tabs.refuseFurther();
  open('checked');
  assert.deepEqual(
    [...known.values()].map(({ loadsNothingFromMs }) => loadsNothingFromMs),
    [Number.POSITIVE_INFINITY, 0],
  );
});

it('a tab that stays open and cannot be inspected is closed and counts as uninspected; one that closed before has nothing to show', async () => {
  const context = new EventEmitter();
  const limits = { tabs: 10, landings: 10, capture_bytes: 1 };
  const sessionOf = async () => Promise.reject(new DeadlineError('the session of a tab', 5_000));
  const devtools = { sessionOf, onAttached: () => undefined };
  const tabs = new OpenTabs(
    new ContextListeners(context as unknown as BrowserContext),
    devtools as unknown as DevTools,
    new Map(),
    {} as Ending,
    { limits },
  );
  const closed: string[] = [];
  const page = (name: string, isClosed: boolean) => {
    const close = async () => closed.push(name);
    return { on: () => undefined, isClosed: () => isClosed, close } as unknown as Page;
  };
  context.emit('page', page('gone', true));
  context.emit('page', page('silent', false));
  await tabs.joined();
  assert.deepEqual([tabs.opened, tabs.uninspected, tabs.all.length, closed], [2, 1, 0, ['silent']]);
});
