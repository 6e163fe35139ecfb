import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Attempt } from '../src/lease/make-attempt.ts';
import { CaptureWorld } from './support/capture-world.ts';

const CAPPED = 'https://capped.example/';
/** An ad with a frequency cap: it counts its views in a cookie and in the storage of its origin. */
const CAPPED_PAGE = `<title>-</title><script>
  const views = Number(/views=(\\d+)/.exec(document.cookie)?.[1] ?? 0) + 1;
  document.cookie = 'views=' + views + '; path=/; max-age=3600';
  localStorage.views = Number(localStorage.views ?? 0) + 1;
  document.title = 'cookie ' + views + ', storage ' + localStorage.views;
  fetch('/seen-' + views);
  alert('hello');
</script>`;

const titleOf = ({ capture }: Attempt) => capture?.landings[0]?.page_title;
const pathsOf = ({ capture }: Attempt) =>
  (capture?.requests ?? []).map(({ url }) => new URL(url).pathname).filter((path) => path.startsWith('/seen-'));
const dialogsOf = ({ capture }: Attempt) =>
  (capture?.observations ?? []).filter(({ kind }) => kind === 'dialogs').map(({ facts }) => facts);

describe('shared repeat groups', { concurrency: 2 }, () => {
  let world: CaptureWorld;
  before(async () => {
    world = await CaptureWorld.start('--ignore-certificate-errors');
    world.site.setPage(CAPPED, CAPPED_PAGE);
  });
  after(() => world.close());

  it('§4.2.24 a shared repeat group sees what its earlier members stored, and no other group does', async () => {
    const groups = await Promise.all([1, 2].map(() => world.attempts('repeat_group', [CAPPED, CAPPED, CAPPED])));
    for (const group of groups) {
      assert.deepEqual(group.map(titleOf), ['cookie 1, storage 1', 'cookie 2, storage 2', 'cookie 3, storage 3']);
      assert.deepEqual(group.map(pathsOf), [['/seen-1'], ['/seen-2'], ['/seen-3']], 'each tells of its own requests');
      assert.deepEqual(group.map(dialogsOf), [[{ count: 1 }], [{ count: 1 }], [{ count: 1 }]]);
      assert.deepEqual(
        group.map(({ failure, capture }) => [failure, capture?.landings.length]),
        Array(3).fill([null, 1]),
      );
    }
    const [alone] = await world.attempts('page', [CAPPED]);
    assert.equal(titleOf(alone!), 'cookie 1, storage 1');
  });

  it('§4.2.24 a shared repeat group goes on with the next member after one that fails', async () => {
    const attempts = await world.attempts('repeat_group', [CAPPED, 'http://dns-fault.example/', CAPPED]);
    assert.deepEqual(
      attempts.map(({ failure }) => failure?.code ?? null),
      [null, 'navigation: DNS', null],
    );
    assert.equal(titleOf(attempts[2]!), 'cookie 2, storage 2');
  });
});
