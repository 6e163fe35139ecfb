import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Natives } from '../src/capture/page-scripts/natives.ts';
import { watchTimers } from '../src/capture/page-scripts/watch-timers.ts';

describe('timers of a page', () => {
  /** The subjects of what is reported of a timer with this source. */
  function reportsOf(timer: 'setTimeout' | 'setInterval', source: string): Set<string> {
    const subjects = new Set<string>();
    const { window } = globalThis;
    const precede: Natives['precede'] = (_, name, before, after) => {
      if (name !== timer) return;
      before(null, source, 2_000, undefined);
      after?.(1, source, 2_000);
    };
    const tab: { parent?: object; top?: object } = {};
    Object.assign(globalThis, { window: Object.assign(tab, { parent: tab, top: tab }) });
    try {
      watchTimers({ precede, sourceOf: String } as unknown as Natives, (subject) => subjects.add(subject));
    } finally {
      Object.assign(globalThis, { window });
    }
    return subjects;
  }

  it('a timer navigates if its source does so by any of the usual ways, and no regular expression is used for it', () => {
    'before'.match(/before/);
    for (const source of [
      ...[
        'location="/"',
        'window.location = next',
        '$location=1',
        'location\t[name]=1',
        'location . href\n= a',
        'location.search=1',
      ],
      ...[
        'top.location.pathname =a',
        'location.assign(1)',
        'location . replace',
        'location.reload()',
        'f.submit( )',
        'a\n.\u2003click ()',
      ],
      ...['window.open(a)', 'window . open', 'navigation.navigate(a)', 'relocation=1;location=2'],
    ])
      assert.ok(reportsOf('setTimeout', source).has('navigates'), source);
    assert.equal((RegExp as unknown as { lastMatch: string }).lastMatch, 'before');
    for (const source of [
      ...[
        'location==a',
        'relocation=1',
        'location.hash=1',
        'location.href==a',
        'location.replaced',
        'locations=1',
        'f.submit(1)',
      ],
      ...['submit()', 'windows.open()', 'window.opened', 'navigation.navigated', 'locati', 'location', ''],
    ])
      assert.ok(!reportsOf('setTimeout', source).has('navigates'), source);
  });

  it('an interval is waited for if its source counts down', () => {
    for (const source of ['--left', 'left-=1', 'n<1', 'n <= 0', 'n>\n1', 'n>=0 ', 'n==0', 'n === 0', 'n!==0.5'])
      assert.ok(reportsOf('setInterval', source).has('pending'), source);
    for (const source of ['n+=1', 'n<10', 'n<=2', 'n=0', 'n==01', 'n < x0'])
      assert.ok(!reportsOf('setInterval', source).has('pending'), source);
  });
});
