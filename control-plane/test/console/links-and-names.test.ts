import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Parser } from 'htmlparser2';
import { PERMISSIONS } from '../../src/http/caller.ts';
import { consoleBrowser } from '../support/console-browser.ts';
import { type ConsoleWorld, consoleWorld, OPERATOR_PAGES, pagesOf } from '../support/console-world.ts';
import { type RunningApi, runningApi } from '../support/running-api.ts';

/** The addresses of the console that the elements of a page name, without their fragments. */
function addressesIn(page: string): string[] {
  const found = new Set<string>();
  const onopentag = (_: string, { href, src }: Record<string, string>) => {
    for (const address of [href, src])
      if (address?.startsWith('/console')) found.add(address.slice('/console'.length).replace(/#.*/, ''));
  };
  new Parser({ onopentag }).end(page);
  return [...found];
}

/** What the buttons of a page, and whatever it unfolds, are called by a screen reader. */
function buttonsIn(page: string): string[] {
  const names: string[] = [];
  let open = '';
  let name = '';
  new Parser({
    onopentag(tag, attributes) {
      if (tag !== 'button' && tag !== 'summary') return;
      [open, name] = [tag, attributes['aria-label'] ?? ''];
    },
    ontext(text) {
      if (open !== '') name += text;
    },
    onclosetag(tag) {
      if (tag !== open) return;
      names.push(name.replaceAll(/\s+/g, ' ').trim());
      open = '';
    },
  }).end(page);
  return names;
}

const repeatedIn = (names: string[]): string[] => [
  ...new Set(names.filter((name, index) => names.indexOf(name) !== index)),
];

describe('on the pages of the console', () => {
  let api: RunningApi;
  let world: ConsoleWorld;
  let browser: ReturnType<typeof consoleBrowser>;
  before(async () => {
    api = await runningApi();
    await consoleWorld(api);
    // A second one of everything, under other names.
    world = await consoleWorld(api, { words: (text, max = 1_000) => `${text} again`.slice(0, max) });
    for (const name of ['Weekly', 'Daily']) await api.post('/api/v1/campaign-groups', { name });
    for (const nodeId of ['one', 'two'])
      await api.domains.crawling.dependencies.nodes.report(
        { nodeId, instance: nodeId },
        { slots: 4, busy: 0, draining: false, adsweep_version: '1', browser_version: '1' },
      );
    browser = consoleBrowser(api);
  });
  after(() => api.stop());

  test('no two buttons have the same accessible name: those of a row name it', async () => {
    const cookie = await browser.signIn(await api.keyThatMay(...PERMISSIONS));
    for (const path of [...pagesOf(world), ...OPERATOR_PAGES]) {
      const { status, text } = await browser.get(path, cookie);
      assert.equal(status, 200, path);
      assert.deepEqual([path, repeatedIn(buttonsIn(text))], [path, []]);
    }
  });

  for (const permission of PERMISSIONS)
    test(`a key that has ${permission} alone sees no link or picture that is refused for a missing permission`, async () => {
      const cookie = await browser.signIn(await api.keyThatMay(permission));
      const refused: string[] = [];
      const seen = new Map<string, string>([['', 'the address bar']]);
      for (const [path, from] of seen) {
        const { status, headers, text, to } = await browser.get(path, cookie);
        if (status === 403) refused.push(`${path} from ${from}`);
        const isPage = headers.get('content-type')?.startsWith('text/html');
        const next = isPage ? addressesIn(text) : to === null ? [] : [to.slice('/console'.length)];
        for (const address of next) if (!seen.has(address)) seen.set(address, path);
      }
      assert.deepEqual(refused, []);
    });
});
