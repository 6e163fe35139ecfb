import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { ContextObservers, CROWDED } from '../src/browser/context-observers.ts';
import { UnroutedTraffic } from '../src/browser/unrouted-traffic.ts';

/** The observers of a browser whose events are given to them here, as its connection gives them. */
function observedBrowser() {
  const observers = new ContextObservers(async () => ({}), createLogger('test', 'silent'));
  const tell = (method: string, params: object, sessionId?: string) =>
    observers.incoming({ method, params: params as Record<string, unknown>, ...(sessionId && { sessionId }) });
  const attach = (sessionId: string, browserContextId: string, parentId?: string, info: object = {}) => {
    const targetInfo = { targetId: `target of ${sessionId}`, type: 'page', browserContextId, ...info };
    return tell('Target.attachedToTarget', { sessionId, targetInfo }, parentId);
  };
  return { observers, tell, attach };
}

function observed(observers: ContextObservers, contextId: string, refused = '') {
  const heard: string[] = [];
  const observation = observers.observe(contextId, (method, params, sessionId) => {
    const { sessionId: own = '' } = params as { sessionId?: string };
    heard.push([method, own, sessionId].filter(Boolean).join(' '));
    return own === '' || own !== refused;
  });
  observation.begin();
  return { heard, ...observation };
}

describe('the observers of the contexts of a browser', () => {
  it('each receives only events of targets in its own context, and Playwright all of them', () => {
    const { observers, tell, attach } = observedBrowser();
    const [first, second] = [observed(observers, 'one'), observed(observers, 'two')];
    const passed = [
      attach('tab 1', 'one'),
      attach('tab 2', 'two'),
      attach('stray', 'another'),
      attach('frame', 'one', 'tab 1'),
      tell('Page.loadEventFired', {}, 'frame'),
      tell('Page.loadEventFired', {}, 'tab 2'),
      tell('Page.loadEventFired', {}, 'stray'),
      tell('Target.detachedFromTarget', { sessionId: 'frame' }, 'tab 1'),
      tell('Page.loadEventFired', {}, 'frame'),
    ];
    assert.ok(passed.every(Boolean));
    assert.deepEqual(first.heard, [
      'Target.attachedToTarget tab 1',
      'Target.attachedToTarget frame tab 1',
      'Page.loadEventFired frame',
      'Target.detachedFromTarget frame tab 1',
    ]);
    assert.deepEqual(second.heard, ['Target.attachedToTarget tab 2', 'Page.loadEventFired tab 2']);
  });

  it('a later observer receives the targets that its context has, and the earlier one nothing more', () => {
    const { observers, tell, attach } = observedBrowser();
    const first = observed(observers, 'one');
    for (const [session, parent] of [['tab'], ['frame', 'tab'], ['gone', 'tab']] as const)
      attach(session, 'one', parent);
    tell('Target.detachedFromTarget', { sessionId: 'gone' }, 'tab');
    first.close();
    attach('popup', 'one');
    const before = first.heard.length;
    const later = observed(observers, 'one');
    tell('Page.loadEventFired', {}, 'popup');
    first.close();
    tell('Page.loadEventFired', {}, 'frame');
    const attached = ['tab', 'frame tab', 'popup'].map((session) => `Target.attachedToTarget ${session}`);
    assert.deepEqual(later.heard, [...attached, 'Page.loadEventFired popup', 'Page.loadEventFired frame']);
    assert.equal(first.heard.length, before);
  });

  it('a target that its observer refuses is hidden from Playwright, so that nobody resumes it', () => {
    const { observers, attach } = observedBrowser();
    observed(observers, 'one', 'one too many');
    assert.deepEqual([attach('tab', 'one'), attach('one too many', 'one', 'tab')], [true, false]);
  });

  it('a target counts once: not again for a single command, and a service worker not as one of its page', () => {
    const { observers, tell, attach } = observedBrowser();
    const { heard } = observed(observers, 'one');
    attach('tab', 'one');
    assert.ok(attach('again', 'one', undefined, { targetId: 'target of tab' }));
    assert.ok(attach('of the page', 'one', 'tab', { type: 'service_worker' }));
    tell('Page.loadEventFired', {}, 'again');
    tell('Target.detachedFromTarget', { sessionId: 'again' });
    observers.emit('target of tab', 'Adsweep.messageFlood');
    assert.deepEqual(heard, ['Target.attachedToTarget tab', 'Adsweep.messageFlood']);
  });

  it('of the contexts with several tabs and frames, the one with the most is sent that it is crowded, each once; where the CPU is crowded, workers count too', () => {
    const { observers, attach } = observedBrowser();
    const contexts = ['one', 'two', 'three'].map((id) => observed(observers, id));
    for (const tab of ['one', 'two', 'three', 'unobserved']) attach(tab, tab);
    for (let n = 0; n < 3; n += 1) attach(`frame ${n} of two`, 'two', 'two', { type: 'iframe' });
    attach('frame of one', 'one', 'one', { type: 'iframe' });
    for (let n = 0; n < 9; n += 1) attach(`worker ${n} of three`, 'three', 'three', { type: 'worker' });
    for (let n = 0; n < 9; n += 1) attach(`frame ${n}`, 'unobserved', 'unobserved', { type: 'iframe' });
    const told = () => contexts.map(({ heard }) => heard.filter((event) => event === CROWDED).length);
    assert.deepEqual([observers.emitCrowded(5, 'memory'), told()], [false, [0, 0, 0]]);
    assert.deepEqual([observers.emitCrowded(4, 'memory'), told()], [true, [0, 1, 0]]);
    assert.deepEqual([observers.emitCrowded(2, 'memory'), told()], [true, [1, 1, 0]]);
    assert.deepEqual([observers.emitCrowded(2, 'memory'), told()], [false, [1, 1, 0]]);
    assert.deepEqual([observers.emitCrowded(11, 'cpu'), told()], [false, [1, 1, 0]]);
    assert.deepEqual([observers.emitCrowded(10, 'cpu'), told()], [true, [1, 1, 1]]);
  });

  it('of the contexts, the one in which a page or frame crashes when that is expected is sent that it is crowded, before the crash', () => {
    const { observers, tell, attach } = observedBrowser();
    const [first, second] = [observed(observers, 'one'), observed(observers, 'two')];
    for (const context of ['one', 'two']) attach(context, context);
    attach('frame', 'two', 'two', { type: 'iframe' });
    tell('Inspector.targetCrashed', {}, 'one');
    const hasCrashed = observers.expectCrash();
    assert.equal(hasCrashed(), false);
    tell('Inspector.targetCrashed', {}, 'frame');
    assert.equal(hasCrashed(), true);
    assert.deepEqual(first.heard.slice(1), ['Inspector.targetCrashed one']);
    assert.deepEqual(second.heard.slice(2), [CROWDED, 'Inspector.targetCrashed frame']);
    assert.deepEqual(
      ['one', 'two'].map((context) => observers.hasCrashed(context)),
      [false, true],
    );
  });

  it('an observer that fails keeps no event from Playwright', () => {
    const { observers, tell, attach } = observedBrowser();
    observers.observe('one', () => {
      throw new Error('unexpected');
    });
    assert.deepEqual([attach('tab', 'one'), tell('Page.loadEventFired', {}, 'tab')], [true, true]);
  });

  it('Playwright gets the network traffic of targets whose requests it routes, with their workers, and of sessions for single commands', () => {
    const { observers, tell, attach } = observedBrowser();
    const routed = new Set(['routed']);
    const traffic = new UnroutedTraffic(
      (sessionId) => observers.lineOf(sessionId),
      (sessionId) => routed.has(sessionId),
    );
    for (const tab of ['routed', 'tab']) {
      attach(tab, 'one');
      attach(`worker of ${tab}`, 'one', tab);
    }
    attach('again', 'one', undefined, { targetId: 'target of tab' });
    const passes = (sessionId: string, method = 'Network.requestWillBeSent') => traffic.incoming({ method, sessionId });
    const sessions = ['routed', 'worker of routed', 'again', 'tab', 'worker of tab'];
    assert.deepEqual(
      sessions.map((session) => passes(session)),
      [true, true, true, false, false],
    );
    assert.equal(passes('tab', 'Page.frameNavigated'), true);
    routed.add('tab');
    assert.equal(passes('worker of tab'), true);
    tell('Target.detachedFromTarget', { sessionId: 'tab' });
    assert.deepEqual(observers.lineOf('tab'), []);
  });
});
