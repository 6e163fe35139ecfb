import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readArguments } from '../read-arguments.ts';

const SCRIPT = join(import.meta.dirname, '../run.ts');

const runCorpus = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
};

describe('the arguments of npm run corpus', () => {
  it('are runs, cases at once, a corpus and subjects, each of which may be left out', () => {
    const read = (...args: string[]) => readArguments(args, ['vast', 'taxonomy']);
    assert.deepEqual(read(), { times: 10, atOnce: 4, only: undefined, subjects: [] });
    assert.deepEqual(read('1'), { times: 1, atOnce: 4, only: undefined, subjects: [] });
    assert.deepEqual(read('vast'), { times: 10, atOnce: 4, only: 'vast', subjects: [] });
    assert.deepEqual(read('1', '2', 'vast', 'a', 'b'), { times: 1, atOnce: 2, only: 'vast', subjects: ['a', 'b'] });
  });

  it('are refused with another number than a positive integer, a third number or an unknown corpus', () => {
    for (const args of [
      ['0'],
      ['-1'],
      ['1.5'],
      ['1', '0', 'vast'],
      ['1', '2', '3'],
      ['1', '2', 'no-such'],
      ['fetched'],
    ])
      assert.equal(readArguments(args, ['vast']), null, args.join(' '));
  });
});

describe('npm run corpus', () => {
  it('prints its usage and exits with 2 when the corpus is unknown', () => {
    const { status, stdout, stderr } = runCorpus('no-such-corpus');
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, /^usage: npm run corpus -- \[runs\] \[at once\] \[corpus\].*\n.*\ncorpora: .*\bvast\b/);
  });

  it('exits with 1 and saves no scores when no case was run', () => {
    const { status, stdout, stderr } = runCorpus('1', '1', 'public-suffixes', 'no_such_subject');
    assert.equal(status, 1);
    assert.doesNotMatch(stdout, /\| subject \|/);
    assert.match(stderr, /no case was run/);
  });
});
