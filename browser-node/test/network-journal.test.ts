import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DevTools, TargetSession } from '../src/capture/devtools/devtools.ts';
import { NetworkJournal } from '../src/capture/session/network-journal.ts';

/** A journal of a tab, and the requests that the tab makes and gets answered. */
function recorded() {
  const listeners = new Map<string, (payload: object, session: TargetSession) => void>();
  const devtools = {
    on: (event: string, listener: (payload: object, session: TargetSession) => void) => listeners.set(event, listener),
    sessions: () => [],
  } as unknown as DevTools;
  const journal = new NetworkJournal(devtools, new Map());
  const tab = { targetId: 'tab', type: 'page', parent: null } as unknown as TargetSession;
  let requests = 0;
  const request = (type: string, url: string) => {
    requests += 1;
    const requestId = `request-${requests}`;
    const sent = { request: { url, method: 'GET' }, initiator: {}, loaderId: 'load', frameId: 'tab' };
    listeners.get('Network.requestWillBeSent')?.({ ...sent, requestId, type, timestamp: requests, wallTime: 1 }, tab);
    return { end: () => listeners.get('Network.loadingFinished')?.({ requestId }, tab) };
  };
  return { journal, request };
}

test('requests are polling if a script repeats them whatever their query, and are loading if they are new, or are images', () => {
  const { journal, request } = recorded();
  const pending = (type: string, url: string) => {
    const { end } = request(type, url);
    const counts = [journal.underWay(), journal.underWay(undefined, false)];
    end();
    return counts;
  };
  for (let at = 0; at < 3; at += 1) assert.deepEqual(pending('Fetch', `http://shop.example/news?${at}`), [1, 1]);
  const { lastLoadingAt } = journal;
  assert.deepEqual(pending('Fetch', 'http://shop.example/news?3'), [1, 0]);
  assert.equal(journal.lastLoadingAt, lastLoadingAt);
  assert.ok(journal.lastActivityAt > lastLoadingAt);
  assert.deepEqual(pending('Fetch', 'http://shop.example/other'), [1, 1]);
  for (let at = 0; at < 5; at += 1) assert.deepEqual(pending('Image', `http://shop.example/resized?${at}`), [1, 1]);
});
