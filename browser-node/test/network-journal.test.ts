import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DevTools, TargetSession } from '../src/capture/devtools/devtools.ts';
import { NetworkJournal } from '../src/capture/session/network-journal.ts';
import { PendingRequests } from '../src/capture/session/pending-requests.ts';
import { recordRequests } from '../src/capture/session/record-requests.ts';
import { Tab } from '../src/capture/session/tab.ts';

/** The record of a tab's requests, those that are pending, and what makes the tab request something and get answers. */
function recorded() {
  const listeners = new Map<string, (payload: object, session: TargetSession) => void>();
  const devtools = {
    on: (event: string, listener: (payload: object, session: TargetSession) => void) => listeners.set(event, listener),
    sessions: () => [],
  } as unknown as DevTools;
  const tabs = new Map<string, Tab>();
  const journal = new NetworkJournal(tabs);
  const pendingRequests = new PendingRequests();
  recordRequests(devtools, tabs, { journal, pendingRequests });
  const tab = { targetId: 'tab', type: 'page', parent: null } as unknown as TargetSession;
  let requests = 0;
  const worker = { targetId: 'worker', type: 'service_worker', parent: null } as unknown as TargetSession;
  const request = (type: string, url: string, by = tab) => {
    requests += 1;
    const requestId = `request-${requests}`;
    const sent = { request: { url, method: 'GET' }, initiator: {}, loaderId: 'load', frameId: 'tab' };
    listeners.get('Network.requestWillBeSent')?.({ ...sent, requestId, type, timestamp: requests, wallTime: 1 }, by);
    return {
      answer: (fromServiceWorker: boolean) => {
        const response = { status: 200, headers: {}, mimeType: '', fromServiceWorker };
        listeners.get('Network.responseReceived')?.({ requestId, response }, by);
      },
      end: () => listeners.get('Network.loadingFinished')?.({ requestId }, by),
    };
  };
  return { journal, pendingRequests, tabs, request, worker };
}

test('requests are polling if a script repeats them whatever their query, and are loading if they are new, or are images', () => {
  const { pendingRequests, request } = recorded();
  const pending = (type: string, url: string) => {
    const { end } = request(type, url);
    const counts = [pendingRequests.count(), pendingRequests.count(undefined, false)];
    end();
    return counts;
  };
  for (let at = 0; at < 3; at += 1) assert.deepEqual(pending('Fetch', `http://shop.example/news?${at}`), [1, 1]);
  const { lastLoadingAt } = pendingRequests;
  assert.deepEqual(pending('Fetch', 'http://shop.example/news?3'), [1, 0]);
  assert.equal(pendingRequests.lastLoadingAt, lastLoadingAt);
  assert.ok(pendingRequests.lastActivityAt > lastLoadingAt);
  assert.deepEqual(pending('Fetch', 'http://shop.example/other'), [1, 1]);
  for (let at = 0; at < 5; at += 1) assert.deepEqual(pending('Image', `http://shop.example/resized?${at}`), [1, 1]);
});

test('a request that a service worker makes for its page is recorded once, as the one of the page, and those of its own as well', () => {
  const { journal, request, worker } = recorded();
  request('Fetch', 'http://shop.example/a.js', worker);
  request('Script', 'http://shop.example/a.js').answer(true);
  request('Fetch', 'http://shop.example/a.js', worker);
  request('Script', 'http://shop.example/own').answer(false);
  request('Fetch', 'http://shop.example/own', worker);
  assert.deepEqual(
    journal.sent().map(({ url, tab }) => [url, tab]),
    [
      ['http://shop.example/a.js', 'tab'],
      ['http://shop.example/a.js', null],
      ['http://shop.example/own', 'tab'],
      ['http://shop.example/own', null],
    ],
  );
});

test('a page load of a tab that loads nothing is not recorded, although the tab closed before anybody stopped it; its other requests are', () => {
  const { journal, tabs, request } = recorded();
  const session = { targetId: 'checked', type: 'page', parent: null } as unknown as TargetSession;
  const opened = new Tab(session);
  opened.loadsNothingFromMs = 0;
  tabs.set('checked', opened);
  request('Document', 'http://ads.example/click', session);
  request('Image', 'http://ads.example/pixel', session);
  request('Document', 'http://shop.example/frame');
  assert.deepEqual(
    journal.sent().map(({ url }) => url),
    ['http://ads.example/pixel', 'http://shop.example/frame'],
  );
});
