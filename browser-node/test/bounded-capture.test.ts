import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Capture, CaptureSchema, emptyCapture } from '@adsweep/shared/capture/capture.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { CAPTURE_BYTES_MAX, CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { Value } from 'typebox/value';
import { type Attempt, keepLoudest } from '../src/capture/collectors/autosound.ts';
import { fitCapture } from '../src/capture/fit-capture.ts';
import { FairList } from '../src/capture/session/fair-list.ts';
import { clipUrl, hasImpossibleHost } from '../src/capture/session/urls.ts';

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const url = (id: number, length: number) => `https://host-${id}.example/`.padEnd(length, 'x');
const request = (id: number, resource_type: string, length: number): NetworkRequest => ({
  id,
  url: url(id, length),
  method: 'GET',
  resource_type,
  status_code: 200,
  content_type: 'text/plain',
  body_size: 1,
  timestamp_ms: id,
  landing: 0,
  hop: 0,
  initiator: id === 0 ? null : 0,
});
const capture = (change: Partial<Capture>): Capture => ({
  ...emptyCapture({
    started_at: '2026-11-22T00:00:00.000Z',
    elapsed_ms: 1,
    browser: { name: 'chromium', version: '1' },
  }),
  ...change,
});
const landing = (ord: number, hops: number) => ({
  ord,
  opener_url: url(ord, CAPTURE_URL_LENGTH_MAX),
  final_url: url(ord, CAPTURE_URL_LENGTH_MAX),
  page_title: 'x'.repeat(1_024),
  site_name: '',
  redirect_chain: Array.from({ length: hops }, (_, id) => ({
    url: url(id, CAPTURE_URL_LENGTH_MAX),
    kind: 'http' as const,
    status_code: 302,
    content_type: '',
    body_size: 0,
    timestamp_ms: id,
    redirected_from: url(id - 1, CAPTURE_URL_LENGTH_MAX),
  })),
  screenshot: null,
  opened_at_ms: 0,
  elapsed_ms: 1,
});

describe('capture sizes', () => {
  it('the size of a capture is unchanged if it fits', () => {
    const small = capture({ requests: [request(0, 'document', 100)] });
    assert.deepEqual(fitCapture(small), small);
  });

  it('the size of a capture is reduced by leaving out the requests with the lowest priority, with a note', () => {
    const kinds = ['document', 'script', 'media', 'image'];
    const requests = Array.from({ length: 1_000 }, (_, id) => request(id, kinds[id % 4] as string, 5_000));
    const { requests: kept, notes } = fitCapture(capture({ requests }));
    const left = Map.groupBy(kept, ({ resource_type }) => resource_type);
    assert.equal(left.get('document')?.length, 250);
    assert.equal(left.get('script')?.length, 250);
    assert.equal(left.get('media'), undefined);
    assert.match(notes[0]?.text ?? '', new RegExp(`^${1_000 - kept.length} requests are left out`));
    const ids = new Set(kept.map(({ id }) => id));
    for (const { initiator } of kept) assert.ok(initiator === null || ids.has(initiator));
  });

  it('the size of a capture stays below the limit of the node API for any page', () => {
    const worst = capture({
      landings: Array.from({ length: 10 }, (_, ord) => landing(ord, 200)),
      requests: Array.from({ length: 5_000 }, (_, id) => request(id, 'script', CAPTURE_URL_LENGTH_MAX)),
      observations: Array.from({ length: 200 }, (_, id) => ({
        kind: 'back_button' as const,
        landing: 0,
        url: url(id, CAPTURE_URL_LENGTH_MAX),
        facts: { pushes: 1, copies: 1, popstate_listener: true, probe_url: url(id, CAPTURE_URL_LENGTH_MAX) },
      })),
      notes: Array.from({ length: 200 }, () => ({ collector: 'x'.repeat(100), text: 'x'.repeat(500) })),
    });
    const fitted = fitCapture(worst);
    assert.ok(bytesOf(fitted) < CAPTURE_BYTES_MAX, `${bytesOf(fitted)} bytes`);
    assert.deepEqual([...Value.Errors(CaptureSchema, fitted)], []);
    assert.equal(fitted.landings[9]?.redirect_chain.length, 200);
  });

  it('URLs are cut to the agreed length, and impossible host names are recognized', () => {
    assert.equal(clipUrl('http://a.example/'), 'http://a.example/');
    assert.equal(clipUrl(url(1, 1_000_000)).length, CAPTURE_URL_LENGTH_MAX);
    assert.equal(hasImpossibleHost(`https://${'a'.repeat(253)}:65535/`), false);
    assert.equal(hasImpossibleHost(`https://${'a'.repeat(14_000)}/`), true);
    assert.equal(hasImpossibleHost(`https://a.example/${'a'.repeat(14_000)}`), false);
  });
});

describe('fair lists', () => {
  it('a fair list drops items of the largest group when its limit is lowered', () => {
    const list = new FairList<string>(6);
    for (const one of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) list.add(one, one.slice(0, 1));
    assert.equal(list.limitTo(5), 1);
    assert.equal(list.limitTo(3), 2);
    assert.deepEqual([...list], ['a1', 'b1', 'c1']);
    assert.equal(list.add('a5', 'a'), 'a5');
  });

  it('a fair list keeps an item of a small group when a flood of another group follows', () => {
    const list = new FairList<{ of: string }>(10);
    const add = (of: string) => list.add({ of }, of);
    for (let i = 0; i < 30; i++) add('flood');
    assert.equal(add('quiet')?.of, 'flood');
    for (let i = 0; i < 30; i++) add('flood');
    const kept = [...list].map(({ of }) => of);
    assert.equal(kept.length, 10);
    assert.equal(kept.filter((of) => of === 'quiet').length, 1);
  });

  it('a fair list returns the items that it drops', () => {
    const list = new FairList<string>(2);
    assert.equal(list.add('a', 'one'), null);
    assert.equal(list.add('b', 'one'), null);
    assert.equal(list.add('c', 'one'), 'c');
    assert.equal(list.add('d', 'two'), 'b');
    assert.equal(list.add('e', 'three'), 'e');
    assert.deepEqual([...list], ['a', 'd']);
  });
});

describe('attempts to play sound', () => {
  const moment = (change: Partial<Attempt>): Attempt => ({
    via: 'play',
    muted: false,
    volume: 1,
    started: false,
    has_audio: false,
    ...change,
  });

  it('of many attempts to play sound, the loudest are kept', () => {
    const attempts = new Map<string, Attempt>();
    for (let id = 0; id < 12; id++) keepLoudest(attempts, `muted ${id}`, moment({ muted: true, has_audio: true }));
    keepLoudest(attempts, 'loud', moment({ has_audio: true }));
    for (let id = 0; id < 12; id++) keepLoudest(attempts, `later ${id}`, moment({ muted: true, has_audio: true }));
    assert.equal(attempts.size, 10);
    assert.ok(attempts.has('loud'));
  });

  it('attempts to play sound are reported at their loudest, whatever the order of their samples', () => {
    const moments = [moment({ volume: 0.5 }), moment({ muted: true, has_audio: true, started: true })];
    for (const order of [moments, moments.toReversed()]) {
      const attempts = new Map<string, Attempt>();
      for (const one of order) keepLoudest(attempts, 'a', one);
      const heard = { via: 'play', muted: false, volume: 0.5, started: true, has_audio: true };
      assert.deepEqual(attempts.get('a'), heard);
    }
  });

  it('attempts to play sound do not combine the volume of a muted sample with an audible sample at volume 0', () => {
    const attempts = new Map<string, Attempt>();
    keepLoudest(attempts, 'a', moment({ muted: true, volume: 1 }));
    keepLoudest(attempts, 'a', moment({ volume: 0 }));
    assert.equal(attempts.get('a')?.volume, 0);
  });
});
