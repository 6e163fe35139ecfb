import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { html } from '../../../src/http/pages/html.ts';
import { showUrl, splitUrl } from '../../../src/scanning/reports/show-url.ts';
import { render, tagsOf } from '../../support/rendered-report.ts';
import { HOSTILE, hostileLandings, sampleHop, sampleLanding, sampleTag } from '../../support/sample-scan.ts';

const namesOf = (page: string): Set<string> => new Set(tagsOf(page).map((tag) => /^<([a-z!0-9]+)/i.exec(tag)![1]!));

describe('the html template', () => {
  it('escapes inserted values in text and in attributes', () => {
    const made = html`<a title="${`"'><script>&`}">${'<b>&amp;'}</a>`;
    assert.equal(String(made), '<a title="&quot;&#39;&gt;&lt;script&gt;&amp;">&lt;b&gt;&amp;amp;</a>');
  });

  it('inserts its own markup unescaped, lists item by item, and omits null and false', () => {
    assert.equal(
      String(html`<ul>${[1, 2].map((n) => html`<li>${n}</li>`)}${null}${false}</ul>`),
      '<ul><li>1</li><li>2</li></ul>',
    );
  });

  it('escapes an object that only looks like markup', () => {
    const fake = { toString: () => '<script>' } as unknown as string;
    assert.throws(() => String(html`${fake}`));
  });

  it('replaces invisible and bidirectional control characters with their code points, but not joiners, tabs and line breaks', () => {
    assert.equal(String(html`${'a\u202Egnp.exe'}`), 'a[U+202E]gnp.exe');
    assert.equal(String(html`${'\u3164\u115f\uffa0\u2800'}`), '[U+3164][U+115F][U+FFA0][U+2800]');
    assert.equal(String(html`${'\u2764\ufe0f \u845b\u{e0100}'}`), '\u2764\ufe0f \u845b\u{e0100}');
    assert.equal(
      String(html`${'\u0000\u200B\u2066\uFEFF\u{E0041}'}${String.fromCharCode(0xd800)}`),
      '[U+0000][U+200B][U+2066][U+FEFF][U+E0041][U+D800]',
    );
    assert.equal(String(html`${'👩\u200D💻\n\t'}`), '👩\u200D💻\n\t');
  });
});

describe('a report of a hostile page', () => {
  const hostile = {
    target: { kind: 'url' as const, value: HOSTILE.longUrl },
    status: 'partial' as const,
    classification: { brand: HOSTILE.title, ai_category: null, iab_v3: null, custom_taxonomies: [] },
    tags: [
      sampleTag('ios_exploit', HOSTILE.detail, HOSTILE.longUrl),
      sampleTag('back_button', HOSTILE.title, HOSTILE.url),
    ],
  };
  const page = render(hostile, hostileLandings());

  it('has no element and no attribute that the report of a harmless page does not have', () => {
    const harmless = render({}, [sampleLanding(0, { final_url: HOSTILE.longUrl }), sampleLanding(1)]);
    assert.deepEqual(namesOf(page).difference(namesOf(harmless)), new Set());
    assert.ok(!namesOf(page).has('script') && !namesOf(page).has('style'));
    for (const tag of tagsOf(page)) assert.doesNotMatch(tag, /\son\w+=|javascript:|http:\/\/|style=/i);
  });

  it('links only to its own pictures', () => {
    const links = tagsOf(page).flatMap((tag) => [...tag.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, link]) => link));
    assert.ok(links.length > 0);
    for (const link of links)
      assert.match(link!, /^(#page-end|AbCdEfGhIjKlMnOpQrStUv\/[a-z0-9/]+(\?w=800)?|assets\/[a-z]+\.\w+)$/);
  });

  it('contains no bidirectional control characters', () => {
    assert.doesNotMatch(page, /\p{Bidi_Control}/u);
    assert.ok(!page.includes('\0'));
    assert.match(page, /\[U\+202E\]/);
  });

  it('limits the length of the texts that it repeats', () => {
    const url = `http://long.example/${'a'.repeat(60_000)}`;
    const chain = Array.from({ length: 200 }, (_, index) =>
      sampleHop(`http://loop.example/${index}`, 'script', 200, index),
    );
    const long = render({}, [sampleLanding(0, { final_url: url, page_title: url, redirect_chain: chain })]);
    assert.ok(long.length < 120_000, `${long.length} characters`);
    assert.match(long, /170 more steps/);
  });
});

describe('a URL in a report', () => {
  it('is not a link, and its host is highlighted', () => {
    assert.equal(
      String(showUrl('https://a.example/b?c')),
      '<bdi class="url"><span class="dim">https://</span><b>a.example</b><span class="dim">/<wbr>b?<wbr>c</span></bdi>',
    );
  });

  it('highlights the host that a browser would visit, not a user name before an @', () => {
    assert.deepEqual(splitUrl('http://bank.example@evil.example:8080/x@y'), {
      before: 'http://bank.example@',
      host: 'evil.example:8080',
      after: '/x@y',
    });
    for (const url of ['javascript:alert(1)//a', 'about:blank', 'http://a.exa\tmple/', 'no url', ''])
      assert.deepEqual(splitUrl(url), { before: url, host: '', after: '' });
  });

  it('allows line breaks after punctuation but not within a word or a host, and is copied unchanged', () => {
    const url = 'https://user@a.example/way-to/offer.html?id=1&next=%2Fend;x#top';
    const shown = String(showUrl(url));
    assert.match(shown, /<b>a\.example<\/b>/);
    assert.ok(
      shown.includes('/<wbr>way-<wbr>to/<wbr>offer.<wbr>html?<wbr>id=<wbr>1&amp;<wbr>next=<wbr>%2Fend;<wbr>x#top'),
    );
    assert.equal(shown.replace(/<[^>]+>/g, '').replace(/&amp;/g, '&'), url);
  });

  it('is shortened in the middle if it is long, and can be expanded', () => {
    const shown = String(showUrl(`https://a.example/${'abcdefghij'.repeat(300)}/the-end.html`));
    const [, short = ''] = /<summary>(.*)<\/summary>/.exec(shown) ?? [];
    const text = short.replace(/<[^>]+>/g, '');
    assert.match(text, /^https:\/\/a\.example\/abcdefghij\S{40,90}…\S+\/the-end\.html all 3031 characters$/);
    assert.ok(shown.includes('abcdefghij'.repeat(300)));
  });

  it('shows its host even if a long user name precedes it', () => {
    const shown = String(showUrl(`https://${'bank.example-'.repeat(300)}@evil.example/`));
    const [, short = ''] = /<summary>(.*)<\/summary>/.exec(shown) ?? [];
    assert.match(short, /…[^<]*(<wbr>[^<]*)*<\/span><b>evil\.example<\/b>/);
  });
});
