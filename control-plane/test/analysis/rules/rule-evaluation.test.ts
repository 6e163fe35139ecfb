import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { corpusData } from '../../../../shared/test/support/corpus-data.ts';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import type { Finding } from '../../../src/analysis/detectors/detector.ts';
import { matchCombos } from '../../../src/analysis/rules/evaluation/evaluate-rules.ts';
import { type ComboConfig, combo } from '../../../src/analysis/rules/rule-types/combo.ts';
import type { FoundTag } from '../../../src/analysis/rules/rule-types/rule-type.ts';
import { foldText, WordAutomaton } from '../../../src/analysis/rules/search/word-automaton.ts';
import { AnalysisThreads } from '../../../src/analysis/threads/analysis-threads.ts';
import { SYSTEM_TAGS } from '../../../src/reference/tags/system-tags.ts';
import {
  domains,
  evidence,
  onBodies,
  onChain,
  onContent,
  onRequests,
  rule,
  searchIn,
  words,
} from '../../support/rule-search.ts';
import { captureOf, gzJson } from '../../support/running-farm.ts';
import { turnsOf } from '../../support/turns-of.ts';

const threads = new AnalysisThreads(2);
after(() => threads.close());
const { search, found } = searchIn(threads);

it('rules are tested on evidence whose files an earlier version took unread, without what cannot be read', async () => {
  const seen = evidence({ requests: [{ url: 'https://cdn.example/kit.js' }] });
  const groups = [rule('text', onContent('no such text')), rule('request', onRequests('kit'))].map((one) =>
    JSON.stringify([one]),
  );
  for (const documents of [gzJson({}), gzJson([null]), gzJson('text'), Buffer.from('no gzip')]) {
    const { inputs, outcomes } = threads.tryRules({ ...seen, parts: { ...seen.parts, documents } }, groups, 1_000);
    const found = (await outcomes).map(({ matches, finished }) => [matches.length, finished.length]);
    assert.deepEqual(found, [
      [0, 1],
      [1, 1],
    ]);
    assert.deepEqual((await inputs).subject.documents, []);
  }
});

describe('rules that search texts', () => {
  it('§2.6.2 regexp_request_url searches every request; the older URL rules only the redirect chain', async () => {
    const requests = [{ url: 'https://cdn.evil.example/kit.js' }, { url: 'https://beacon.example/b', landing: null }];
    const all = [
      rule('request', onRequests('evil|beacon|tracker')),
      rule('chain', onChain('evil|tracker')),
      rule('word', words('stopword_url', 'EVIL', 'Tracker')),
      rule('domain', domains('evil.example', 'tracker.example')),
    ];
    assert.deepEqual((await found({ requests }, ...all)).toSorted(), [
      'chain hop https://t.tracker.example/c',
      'domain hop https://t.tracker.example/c',
      'request hop https://t.tracker.example/c',
      'request request https://beacon.example/b',
      'request request https://cdn.evil.example/kit.js',
      'word hop https://t.tracker.example/c',
    ]);
  });

  it('§2.6.7 a domain written in Unicode matches the host of a URL, with the final dot of a complete name too', async () => {
    const chain = ['https://xn--bcher-kva.example/', 'https://a.evil.example./', 'https://notevil.example/'];
    const rules = [rule('unicode', domains('BÜCHER.example')), rule('plain', domains('Evil.example'))];
    assert.deepEqual(await found({ chain }, ...rules), [
      'unicode hop https://xn--bcher-kva.example/',
      'plain hop https://a.evil.example./',
    ]);
  });

  it('§2.6.16 stopword_url finds words as a URL shows them, serialised and decoded', async () => {
    const last = 'https://xn--bcher-kva.example/gr%C3%BCn%20tee+x?q=free+spins%2C%E4%zz&broken=%C3%28#an%20end';
    const seen = { chain: ['https://start.example/?q=free%20plays%2', last] };
    const matching = {
      ...{ host: 'bücher.example', punycode: 'XN--BCHER', path: 'GRÜN TEE+x', encoded: 'gr%c3%bcn%20tee' },
      ...{ query: 'free spins,', plus: 'free+spins%2C', broken: '%zz', half: '%C3(', hash: 'an end' },
    };
    const missing = { pathPlus: 'tee x', twice: 'free spins, ä' };
    const all = Object.entries({ ...matching, ...missing });
    const matches = await found(seen, ...all.map(([id, word]) => rule(id, words('stopword_url', word))));
    assert.deepEqual(
      matches.toSorted(),
      Object.keys(matching)
        .map((id) => `${id} hop ${last}`)
        .toSorted(),
    );
    const other = await found(seen, rule('cut', words('stopword_url', 'free plays%2')));
    assert.equal(other.length, 1, 'a percent sequence that is cut off stays as it is');
  });

  it('§2.6.3 regexp_request_body searches bodies and not their URLs; too large bodies are not searched', async () => {
    const body = { resource_type: 'script', content_type: 'text/javascript', bytes: 9 };
    const bodies = [
      { ...body, url: 'https://a.example/eval.js', text: 'var x = 1' },
      { ...body, url: 'https://b.example/b.js', text: 'eval(atob("x"))' },
      { ...body, url: 'https://c.example/large.js', text: null },
    ];
    const rules = [rule('body', onBodies('eval')), rule('page', onContent('eval'))];
    assert.deepEqual(await found({ bodies }, ...rules), ['body content https://b.example/b.js']);
  });

  it('§2.6.5 content rules search title, visible text and HTML, and a match names the landing', async () => {
    const seen = { text: 'Win a PRIZE today', html: '<p hidden>secret-kit</p>' };
    assert.deepEqual(
      await found(
        seen,
        rule('title', onContent('A page')),
        rule('text', words('stopword_content', 'prize')),
        rule('html', onContent('secret-\\w+')),
        rule('none', words('stopword_content', 'lottery')),
      ),
      [
        'text text https://shop.example/landing',
        'title title https://shop.example/landing',
        'html html https://shop.example/landing',
      ],
    );
  });

  it('§2.6.6 words match in any letter case and after Unicode NFKC', async () => {
    const seen = { text: 'Das ＣＡＳＩＮＯ der Groß\u0065\u0301n ﬁnance' };
    const rules = ['casino', 'GROSSE', 'großén', 'FINANCE'].map((word) => rule(word, words('stopword_content', word)));
    const hits = (await found(seen, ...rules)).map((hit) => hit.split(' ')[0]);
    assert.deepEqual(hits.toSorted(), ['FINANCE', 'casino', 'großén']);
  });

  it('§2.6.6 words match in Turkish capitals, whose i has a dot or none, with the excerpt at the match', async () => {
    const text = 'İYİ HABER: ÖDÜL KAZANDINIZ, İNDİRİN';
    const list = ['kazandınız', 'KAZANDINIZ', 'indirin', 'İndirin'];
    const matches = await found({ text }, ...list.map((word) => rule(word, words('stopword_content', word))));
    assert.deepEqual(matches.map((hit) => hit.split(' ')[0]).toSorted(), list.toSorted());
    const hits: string[] = [];
    const folded = foldText(text);
    new WordAutomaton(list).search(folded, ({ start, end }) => hits.push(folded.slice(start, end)));
    assert.deepEqual([...new Set(hits)], ['kazandiniz', 'indirin']);
  });

  it('§2.6.7 a domain matches with its subdomains, and not as a part of another name', async () => {
    const names = ['tracker.example', 't.tracker.example', 'racker.example', 'deep.t.tracker.example', 'EXAMPLE.com'];
    const hits = await found({}, ...names.map((name) => rule(name, domains(name))));
    assert.deepEqual(
      hits.map((hit) => hit.split(' ')[0]),
      ['t.tracker.example', 'tracker.example'],
    );
  });

  it('§4.2.11 no rule searches skipped domains', async () => {
    const requests = [{ url: 'https://cdn.start.example/a' }, { url: 'https://t.tracker.example/b' }];
    const all = [rule('request', onRequests('.')), rule('chain', onChain('start|tracker|shop'))];
    const urls = (await found({ requests, ignore: 2 }, ...all)).map((hit) => hit.split(' ')[2]);
    assert.deepEqual([...new Set(urls)], ['https://shop.example/landing']);
  });

  it('§2.6.8 a match has its position and an excerpt', async () => {
    const text = `${'x '.repeat(100)}the best casino bonus${' y'.repeat(100)}`;
    const [outcome] = await search(evidence({ text }), [[rule('casino', onContent('ca[a-z]+o'))]]);
    const [match] = outcome!.matches;
    assert.deepEqual([match!.place, match!.landing, match!.start], ['text', 0, 209]);
    assert.match(match!.excerpt, /^….*the best «casino» bonus y.*…$/);
  });
});

describe('the search for many words', () => {
  it('finds the same as a search for each word', () => {
    const random = seededRandom(7);
    const pick = (length: number) => Array.from({ length }, () => 'ab '[Math.floor(random() * 3)]).join('');
    for (let round = 0; round < 200; round++) {
      const list = Array.from({ length: 8 }, () => pick(1 + Math.floor(random() * 4)));
      const text = pick(60);
      const expected = list.flatMap((word, at) =>
        [...text].flatMap((_, start) => (text.startsWith(word, start) ? [`${at} ${start}`] : [])),
      );
      const hits: string[] = [];
      new WordAutomaton(list).search(foldText(text), ({ word, start }) => hits.push(`${word} ${start}`));
      assert.deepEqual(hits.toSorted(), expected.toSorted());
    }
  });

  it('keeps the first match of each rule and only some others where hundreds of rules match long URLs', async () => {
    const long = Array.from({ length: 100 }, (_, at) => `https://hop-${at}.example/`.padEnd(8_000, 'x'));
    const seen = { ...evidence(), capture: gzJson(captureOf(long)) };
    const rules = Array.from({ length: 400 }, (_, id) => rule(`rule-${id}`, words('stopword_url', 'https')));
    const [outcome] = await search(seen, [rules]);
    assert.equal(new Set(outcome!.matches.map(({ rule_id }) => rule_id)).size, 400);
    assert.ok(outcome!.matches.length < 600, `${outcome!.matches.length} matches`);
  });

  it('§2.6.15 takes as many words as an owner may have', async () => {
    const word = (rule: number, at: number) => `${rule}-${at}-`.padEnd(480, 'x');
    const rules = Array.from({ length: 500 }, (_, id) =>
      rule(`rule-${id}`, words('stopword_url', ...Array.from({ length: 17 }, (_, at) => word(id, at)), 'tracker')),
    );
    const group = JSON.stringify(rules);
    assert.ok(group.length > 4_000_000);
    const { outcomes } = threads.tryRules(evidence(), [group], 60_000);
    const [outcome] = await outcomes;
    assert.deepEqual([outcome?.ended, outcome?.matches.length], ['run', 500]);
  });
});

describe('§2.6.4 combos', () => {
  const tag = (tag_slug: string, url = '', category = 'custom'): FoundTag => ({ tag_slug, url, category });
  const on = (config: ComboConfig, ...found: FoundTag[]) => combo.match(config, found, ['u1', 'u2', 'u3']);

  it('count conditions over the whole scan by default, and all that are given must hold', () => {
    const config: ComboConfig = { all_of: ['a'], any_of: ['b', 'c', 'd'], any_of_min: 2, none_of: ['x'] };
    assert.deepEqual(on(config, tag('a', 'u1'), tag('b', 'u2'), tag('c')), ['']);
    assert.deepEqual(on(config, tag('a'), tag('b')), [], 'one of three is too few');
    assert.deepEqual(on(config, tag('a'), tag('b'), tag('c'), tag('x', 'u3')), []);
    assert.deepEqual(
      on({ tag_category: 'security', count_gte: 2 }, tag('a', '', 'security'), tag('a', 'u1', 'security')),
      [],
    );
    assert.deepEqual(
      on({ tag_category: 'security', count_gte: 2 }, tag('a', '', 'security'), tag('b', '', 'security')),
      [''],
    );
  });

  it('with match_scope url hold on one link, and are attached only to that link', () => {
    const config: ComboConfig = { match_scope: 'url', all_of: ['a', 'b'] };
    assert.deepEqual(on(config, tag('a', 'u1'), tag('b', 'u2')), []);
    assert.deepEqual(on(config, tag('a', 'u1'), tag('b', 'u2'), tag('b', 'u1')), ['u1']);
    assert.deepEqual(on({ match_scope: 'url', none_of: ['a'] }, tag('a', 'u1')), ['u2', 'u3']);
  });

  it('with match_scope url are attached to the first 20 of many links', () => {
    const links = Array.from({ length: 2_000 }, (_, at) => `https://hop-${at}.example/`);
    const tagged = links.map((url) => tag('a', url));
    assert.deepEqual(combo.match({ match_scope: 'url', none_of: ['b'] }, [], links), links.slice(0, 20));
    assert.deepEqual(combo.match({ match_scope: 'url', all_of: ['a'] }, tagged, links), links.slice(0, 20));
  });

  it('are matched one after the other, with pauses', async () => {
    const config: ComboConfig = { none_of: ['a'] };
    const combos = Array.from({ length: 50 }, (_, at) => rule(`rule-${at}`, { rule_type: 'combo', config }));
    let findings: Finding[] = [];
    const turns = await turnsOf(async () => {
      findings = await matchCombos(combos, [], new Map(), []);
    });
    assert.equal(findings.length, 50);
    assert.ok(turns >= 50, `${turns} turns of the event loop`);
  });

  it('look at no tag that a combo assigned', async () => {
    const tags = new Map(SYSTEM_TAGS.map((one) => [one.slug, { ...one, organization_id: null, archived_at: null }]));
    const combos = (config: ComboConfig) => [rule('autosound', { rule_type: 'combo', config })];
    const found = await matchCombos(combos({ none_of: ['back_button'] }), [], tags, []);
    assert.deepEqual(
      found.map(({ tag_slug }) => tag_slug),
      ['autosound'],
    );
    assert.deepEqual(await matchCombos(combos({ all_of: ['autosound'] }), found, tags, []), []);
  });

  it('stay on the whole scan if none of their inputs has a link', () => {
    const config: ComboConfig = { match_scope: 'url', all_of: ['autosound', 'back_button'] };
    assert.deepEqual(on(config, tag('autosound'), tag('back_button')), ['']);
    assert.deepEqual(on(config, tag('autosound'), tag('back_button', 'u1')), []);
  });
});

describe('§2.6.1 expressions', () => {
  for (const name of ['regex/et-uri-pcre.json', 'regex/regexlib-patterns.json'])
    it(`of ${name} are refused exactly where RE2 refuses them`, { skip: corpusData(name).skip }, async () => {
      const rows = read<{ pattern: string; re2Ok: boolean }[]>(name).filter(({ pattern }) => pattern !== '');
      const problems = await threads.problemsOf(
        'organization',
        rows.map(({ pattern }) => pattern),
      );
      const wrong = rows.filter(({ re2Ok }, at) => re2Ok !== (problems[at] === null)).map(({ pattern }) => pattern);
      assert.deepEqual(wrong, []);
    });
});

function read<T>(name: string): T {
  return JSON.parse(readFileSync(corpusData(name).path, 'utf8')) as T;
}
