import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { type Attempt, keepLoudest } from '../src/capture/collectors/autosound.ts';
import { FairList } from '../src/capture/session/fair-list.ts';
import { clipUrl, hasImpossibleHost } from '../src/capture/session/urls.ts';

const url = (id: number, length: number) => `https://host-${id}.example/`.padEnd(length, 'x');

it('URLs are cut to the agreed length, and impossible host names are recognized', () => {
  assert.equal(clipUrl('http://a.example/'), 'http://a.example/');
  assert.equal(clipUrl(url(1, 1_000_000)).length, CAPTURE_URL_LENGTH_MAX);
  assert.equal(hasImpossibleHost(`https://${'a'.repeat(253)}:65535/`), false);
  assert.equal(hasImpossibleHost(`https://${'a'.repeat(14_000)}/`), true);
  assert.equal(hasImpossibleHost(`https://a.example/${'a'.repeat(14_000)}`), false);
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
