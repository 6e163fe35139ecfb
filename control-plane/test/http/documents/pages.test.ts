import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import MiniSearch from 'minisearch';
import { renderDocument } from '../../../src/http/documents/render-document.ts';
import { type RunningApi, runningApi } from '../../support/running-api.ts';

const FOLDER = join(import.meta.dirname, '../../../../infra/docs');
const PAGE_BYTES_MAX = 150 * 1024;
const contents: Record<string, string[]> = JSON.parse(readFileSync(join(FOLDER, 'contents.json'), 'utf8'));
const names = Object.values(contents).flat();

describe('the documents', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  const read = (path: string) => api.get(path, { key: null });
  const pathOf = (name: string) => (name === 'index' ? '/docs' : `/docs/${name}`);

  test('are the files of the folder, each once', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
    assert.deepEqual([...names].sort(), files.map((name) => name.replace('.md', '')).sort());
  });

  test('are pages without scripts under a strict policy, of less than 150 KB each', async () => {
    for (const name of names) {
      const { status, headers, text } = await read(pathOf(name));
      assert.equal(status, 200, name);
      assert.match(
        headers.get('content-security-policy') ?? '',
        /^default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';/,
      );
      assert.ok(Buffer.byteLength(text) < PAGE_BYTES_MAX, name);
      assert.ok(!/<script|\son\w+=|style=/.test(text), name);
      assert.match(text, /<html lang="en">[\s\S]*<h1 id=[^>]*>[^<]+/);
    }
  });

  test('have links that lead somewhere: to pages, to parts of them, and to nothing of this workspace', async () => {
    const texts = new Map<string, string>();
    const textOf = async (path: string): Promise<string> => {
      const known = texts.get(path);
      if (known !== undefined) return known;
      const answer = await read(path);
      assert.equal(answer.status, 200, path);
      texts.set(path, answer.text);
      return answer.text;
    };
    for (const name of names) {
      const text = await textOf(pathOf(name));
      for (const [, link = ''] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (/^https:\/\/[a-z.]+/.test(link)) continue;
        // The service may be served below a path of its host.
        const { pathname, hash } = new URL(link, `https://adsweep.example/below${pathOf(name)}`);
        assert.match(pathname, /^\/below\//, `${name}: ${link}`);
        const target = await textOf(pathname.replace('/below', ''));
        if (hash !== '' && pathname !== '/below/docs/api')
          assert.ok(target.includes(`id="${decodeURIComponent(hash.slice(1))}"`), `${name}: ${link}`);
      }
    }
  });

  test('name operations that the API has', async () => {
    const known = new Set(api.routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`));
    for (const name of names) {
      const text = readFileSync(join(FOLDER, `${name}.md`), 'utf8');
      for (const [written, method, path = ''] of text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/api\/[\w/{}-]+)/g))
        assert.ok(known.has(`${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`), `${name}: ${written}`);
    }
  });

  test('are found by their words, by beginnings of words and with a slip, the heading first', async () => {
    const first = async (words: string) => {
      const { text } = await read(`/docs/search?q=${encodeURIComponent(words)}`);
      return text.match(/<ol class="found"><li><a href="([^"]+)"/)?.[1];
    };
    assert.equal(await first('quota_exhausted'), '../docs/errors#billingquota_exhausted');
    assert.equal(await first('scanning.tags.detected'), '../docs/events#scanningtagsdetected');
    assert.match((await first('webhook')) ?? '', /^\.\.\/docs\/(quickstart-webhooks|guide|concepts)/);
    assert.match((await first('ADSWEEP_SLOTS')) ?? '', /^\.\.\/docs\/(settings|quickstart-capacity|guide-scaling)/);
    assert.match((await first('gitlab')) ?? '', /^\.\.\/docs\/guide-ci/);
    assert.match((await first('asistants')) ?? '', /^\.\.\/docs\/guide-assistants/);
    assert.equal(await first('zzzzqqqq'), undefined);
  });

  test('are searched for at most 12 words, each once, so that a stranger cannot make a search expensive', async (t) => {
    const search = t.mock.method(MiniSearch.prototype, 'search');
    await read(`/docs/search?q=${'s+'.repeat(100)}`);
    await read(`/docs/search?q=${'a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+'.repeat(3)}`);
    const sought = search.mock.calls.map((call) => String(call.arguments[0]));
    assert.deepEqual(sought, ['s', 'a b c d e f g h i j k l']);
  });

  test('show what was searched for as text, whatever it is', async () => {
    const words = '"><script>alert(1)</script>\u202e';
    const { status, text } = await read(`/docs/search?q=${encodeURIComponent(words)}`);
    assert.equal(status, 200);
    assert.ok(!text.includes('<script>'));
    assert.ok(text.includes('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;[U+202E]'));
    assert.equal((await read(`/docs/search?q=${'x'.repeat(20_000)}`)).status, 200);
    assert.equal((await read('/docs/search')).status, 200);
  });

  test('are read only, and no other file of the folder is served', async () => {
    assert.equal((await api.call('POST', '/docs', { key: null })).status, 405);
    assert.equal((await api.call('HEAD', '/docs/errors', { key: null })).status, 200);
    for (const path of [
      '/docs/contents.json',
      '/docs/index.md',
      '/docs/..%2ftest',
      '/docs/constructor',
      '/docs/nothing',
    ])
      assert.equal((await read(path)).status, 404, path);
  });

  test('lead people on who follow a link to a page that there is no more, and those who add a slash to the first one', async () => {
    const { headers, text } = await read('/docs/nothing');
    assert.match(headers.get('content-type') ?? '', /^text\/html/);
    assert.match(text, /<h1>There is no such page<\/h1>[\s\S]*href="\.\.\/docs\/errors"/);
    const slash = await fetch(`http://127.0.0.1:${api.port}/docs/`, { redirect: 'manual' });
    assert.deepEqual([slash.status, slash.headers.get('location')], [302, '../docs']);
  });
});

test('markup in a document is text, and a link leads only where a browser may go', () => {
  const { body } = renderDocument(
    '# A <b>title</b>\n\n<script>x</script> [a](javascript:alert(1)) [b](errors.md#x) ![c](data:text/html,x)',
    '../',
  );
  const text = body.toString();
  assert.ok(!/<script|<b>|href="javascript|src="data:text/.test(text), text);
  assert.ok(text.includes('<a href="../docs/errors#x">b</a>'));
  assert.throws(() => renderDocument('No title', ''), /begins with its title/);
});

test('a cell names its column, for windows in which the cells of a row stand below each other', () => {
  const { body } = renderDocument(
    '# T\n\n| `name` | "default" |\n|---|---|\n| a | 1 |\n| b | 2 |\n\n| other |\n|---|\n| c |',
    '',
  );
  const labels = [...body.toString().matchAll(/<td data-label="(.*?)">(.*?)<\/td>/g)].map(([, ...found]) => found);
  assert.deepEqual(labels, [
    ['name', 'a'],
    ['&quot;default&quot;', '1'],
    ['name', 'b'],
    ['&quot;default&quot;', '2'],
    ['other', 'c'],
  ]);
});
