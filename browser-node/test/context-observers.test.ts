import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ContextObservers } from '../src/browser/context-observers.ts';

type Listener = (method: string, params: unknown, sessionId: string | undefined) => void;

/** A fake browser-level CDP session: records the commands it gets and emits events. */
class FakeBrowser {
  readonly commands: string[] = [];
  targets: object[] = [];
  sessions = 0;
  fails = false;
  #listener: Listener = () => undefined;

  readonly attach = async () => {
    if (this.fails) throw new Error('the browser is gone');
    this.sessions += 1;
    return {
      command: async (method: string, params: object | undefined, _deadlineMs: number, sessionId = '') => {
        const { targetId = '', sessionId: left = '' } = (params ?? {}) as { targetId?: string; sessionId?: string };
        this.commands.push([method, targetId, left, sessionId].filter(Boolean).join(' '));
        return method === 'Target.getTargets' ? { targetInfos: this.targets } : {};
      },
      listen: (listener: Listener) => {
        this.#listener = listener;
      },
      close: () => undefined,
    };
  };

  attached(sessionId: string, browserContextId: string, parentId?: string): void {
    const targetInfo = { targetId: `target of ${sessionId}`, type: 'page', browserContextId };
    this.#listener('Target.attachedToTarget', { sessionId, targetInfo }, parentId);
  }

  tells(method: string, sessionId: string): void {
    this.#listener(method, {}, sessionId);
  }
}

function observed(observers: ContextObservers, contextId: string) {
  const heard: string[] = [];
  const observation = observers.observe(contextId, (method, params, sessionId) => {
    const { sessionId: own = '' } = params as { sessionId?: string };
    heard.push([method, own, sessionId].filter(Boolean).join(' '));
  });
  return { heard, ...observation };
}

describe('the observers of the contexts of a browser', () => {
  it('the observers of a browser share one session, and each receives only events of targets in its own context', async () => {
    const browser = new FakeBrowser();
    const observers = new ContextObservers(browser.attach);
    const [first, second] = [observed(observers, 'one'), observed(observers, 'two')];
    await Promise.all([first.begun, second.begun]);
    browser.attached('tab 1', 'one');
    browser.attached('tab 2', 'two');
    browser.attached('frame', 'one', 'tab 1');
    browser.tells('Page.loadEventFired', 'frame');
    browser.tells('Page.loadEventFired', 'tab 2');
    assert.deepEqual(first.heard, [
      'Target.attachedToTarget tab 1',
      'Target.attachedToTarget frame tab 1',
      'Page.loadEventFired frame',
    ]);
    assert.deepEqual(second.heard, ['Target.attachedToTarget tab 2', 'Page.loadEventFired tab 2']);
    assert.equal(browser.sessions, 1);
    assert.deepEqual(browser.commands, ['Target.setAutoAttach']);
  });

  it('targets of contexts without an observer are detached', async () => {
    const browser = new FakeBrowser();
    const observers = new ContextObservers(browser.attach);
    const only = observed(observers, 'one');
    await only.begun;
    browser.attached('stray', 'another');
    browser.attached('tab', 'one');
    only.close();
    await turn();
    browser.tells('Page.loadEventFired', 'tab');
    assert.deepEqual(only.heard, ['Target.attachedToTarget tab']);
    assert.deepEqual(browser.commands, [
      'Target.setAutoAttach',
      'Target.detachFromTarget stray',
      'Target.detachFromTarget tab',
    ]);
  });

  it('a later observer of a context is attached to its existing targets, and to no others', async () => {
    const browser = new FakeBrowser();
    const observers = new ContextObservers(browser.attach);
    const first = observed(observers, 'one');
    await first.begun;
    first.close();
    browser.targets = [
      { targetId: 'worker', type: 'service_worker', browserContextId: 'one' },
      { targetId: 'frame', type: 'iframe', browserContextId: 'one' },
      { targetId: 'other', type: 'page', browserContextId: 'two' },
    ];
    await observed(observers, 'one').begun;
    assert.deepEqual(browser.commands.slice(1), ['Target.getTargets', 'Target.attachToTarget worker']);
  });

  it('after a failed command, the next observer opens a new session', async () => {
    const browser = new FakeBrowser();
    browser.fails = true;
    const observers = new ContextObservers(browser.attach);
    await assert.rejects(observed(observers, 'one').begun, /gone/);
    browser.fails = false;
    await observed(observers, 'one').begun;
    assert.equal(browser.sessions, 1);
  });
});
