import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SubRequest } from '@adsweep/shared/capture/hop.ts';
import { FAILURE_CODES } from '@adsweep/shared/failures.ts';
import { SCAN_STATUSES } from '@adsweep/shared/scan/scan-status.ts';
import { buildReport, type SeenLanding } from '../src/scanning/reports/build-report.ts';
import { html } from '../src/scanning/reports/html.ts';
import { missingReportPage, reportPage } from '../src/scanning/reports/report-page.ts';
import { requestsByCompany } from '../src/scanning/reports/requests-by-company.ts';
import { showChain } from '../src/scanning/reports/show-chain.ts';
import { showUrl, splitUrl } from '../src/scanning/reports/show-url.ts';
import { durationWords, failureWords } from '../src/scanning/reports/words.ts';
import type { ScanRecord } from '../src/scanning/scans/state/scan.ts';
import {
  HOSTILE,
  hostileLandings,
  sampleEvidence,
  sampleHop,
  sampleLanding,
  sampleScan,
  sampleTag,
  sampleTagWords,
} from './support/sample-scan.ts';

const ASSETS = { stylesheet: 'assets/report.css', icon: 'assets/icon.svg' };

function render(changes: Partial<ScanRecord> = {}, landings: SeenLanding[] = [sampleLanding(0)]): string {
  return reportPage(buildReport(sampleScan(changes), sampleEvidence(landings), sampleTagWords), ASSETS);
}

/** Every tag of a document with its attributes, as a tokenizer sees them. */
const tagsOf = (page: string): string[] => [...page.matchAll(/<[a-z!][^>]*>/gi)].map(([tag]) => tag);
const namesOf = (page: string): Set<string> => new Set(tagsOf(page).map((tag) => /^<([a-z!0-9]+)/i.exec(tag)![1]!));

describe('html', () => {
  it('escapes what is inserted, in text and in attributes', () => {
    const made = html`<a title="${`"'><script>&`}">${'<b>&amp;'}</a>`;
    assert.equal(String(made), '<a title="&quot;&#39;&gt;&lt;script&gt;&amp;">&lt;b&gt;&amp;amp;</a>');
  });

  it('takes its own markup as it is, lists one by one, and nothing as nothing', () => {
    assert.equal(
      String(html`<ul>${[1, 2].map((n) => html`<li>${n}</li>`)}${null}${false}</ul>`),
      '<ul><li>1</li><li>2</li></ul>',
    );
  });

  it('does not take an object that only looks like markup', () => {
    const fake = { toString: () => '<script>' } as unknown as string;
    assert.throws(() => String(html`${fake}`));
  });

  it('spells out characters that turn text round or show nothing, and leaves joiners, tabs and lines', () => {
    assert.equal(String(html`${'a\u202Egnp.exe'}`), 'a[U+202E]gnp.exe');
    assert.equal(
      String(html`${'\u0000\u200B\u2066\uFEFF\u{E0041}'}${String.fromCharCode(0xd800)}`),
      '[U+0000][U+200B][U+2066][U+FEFF][U+E0041][U+D800]',
    );
    assert.equal(String(html`${'👩\u200D💻\n\t'}`), '👩\u200D💻\n\t');
  });
});

describe('a public report', () => {
  for (const status of SCAN_STATUSES) {
    it(`says in words that a scan is ${status}`, () => {
      const page = render({ status, error: status === 'failed' ? 'navigation: TIMEOUT' : '' });
      assert.match(page, /^<!doctype html>/);
      assert.match(page, /<h1>[^<]+<\/h1>/);
      const underWay = !['completed', 'partial', 'failed', 'cancelled'].includes(status);
      assert.equal(page.includes('http-equiv="refresh" content="5"'), underWay);
      assert.doesNotMatch(page, /undefined|null|NaN|\[object/);
    });
  }

  it('renders before anything was seen', () => {
    const nothing = { exit: null, capture: null, classification: null, tags: [], crawled_at: null, completed_at: null };
    const page = render({ status: 'pending', ...nothing }, []);
    assert.doesNotMatch(page, /<img|id="chain"|undefined|null/);
  });

  it('shows target, place, device, time, findings, classification and the chain', () => {
    const page = render();
    for (const text of [
      'go.redirects.example',
      'Germany',
      'Austria',
      'Pixel 8',
      '21 Nov 2025, 20:07 UTC',
      'Sweepstakes',
    ])
      assert.ok(page.includes(text), text);
    assert.match(page, /2 findings/);
    assert.match(page, /5 steps over 4 hosts, 361 ms/);
    assert.match(page, /HTTP 302[\s\S]*HTTP 307[\s\S]*meta refresh[\s\S]*>script</);
    assert.match(page, /<img src="AbCdEfGhIjKlMnOpQrStUv\/screenshot\?w=800"/);
  });

  it('§2.1.16 shows the place of the scan in custom taxonomies', () => {
    const taxonomy = { taxonomy_id: '1', taxonomy_name: 'Our verticals', taxonomy_slug: 'our', taxonomy_version: 1 };
    const place = { leaf_node_id: '2', tier1: 'Games', tier2: 'Casino', tier3: null, tier4: null, used_default: false };
    const classification = { ...sampleScan().classification!, custom_taxonomies: [{ ...taxonomy, ...place }] };
    assert.match(render({ classification }), /Our verticals<\/dt><dd><bdi>Games › Casino/);
  });

  it('shows what was asked of the exit and what was got, and that it was not checked', () => {
    assert.match(render(), /Country<\/th><td><bdi>Germany<\/bdi><\/td><td><bdi>Austria/);
    assert.match(render(), /Pool<\/th><td><bdi>mobile<\/bdi><\/td><td><bdi>mobile/);
    const unchecked = { ...sampleScan().exit!, observed_country_code: null };
    assert.match(render({ exit: unchecked }), /Germany<\/bdi><\/td><td><bdi>not checked/);
    assert.doesNotMatch(render({ exit: null }), /Asked for<\/th>/);
  });

  it('puts the gravest finding first and takes its colour', () => {
    const page = render({ tags: [sampleTag('creative_interactive', ''), sampleTag('ios_exploit', '')] });
    assert.match(page, /class="verdict high"/);
    assert.ok(page.indexOf('iOS exploit attempt') < page.indexOf('Interactive creative'));
  });

  it('§2.6.8 says which rule found something and where, with the hit marked', () => {
    const excerpt = '…<script>/kit/«exploit-42»/ <b>«x»</b>';
    const match = { rule_id: 'private-rule', rule_name: 'Kits & more', rule_type: 'regexp_content', excerpt };
    const place = { place: 'html' as const, landing: 1, offset: 512, elapsed_ms: 3 };
    const page = render({ tags: [{ ...sampleTag('ios_exploit', 'Rule of old'), match: { ...match, ...place } }] });
    assert.match(page, /The rule <bdi>“Kits &amp; more”<\/bdi> found it in the HTML of landing 1, at 512:/);
    assert.match(page, /…&lt;script&gt;\/kit\/<mark>exploit-42<\/mark>\/ &lt;b&gt;«x»&lt;\/b&gt;/);
    assert.doesNotMatch(page, /private|Rule of old/);
  });

  it('§8.4 says which rules were skipped', () => {
    const error = 'checks: rules skipped, the time budget was spent: "Casino words" 3 more';
    const page = render({ status: 'partial', error });
    assert.match(page, /rules skipped, the time budget was spent: &quot;Casino words&quot; 3 more/);
    assert.doesNotMatch(render({ status: 'partial' }), /\(\)|undefined/);
  });

  it('§2.5.2 §4.2.17 leaves out tags that are archived, unknown or not public, their details too', () => {
    const page = render({ tags: [sampleTag('note_to_self', 'private detail'), sampleTag('gone', 'private detail')] });
    assert.match(page, /No findings/);
    assert.doesNotMatch(page, /private|gone|note_to_self/);
  });

  it('§1.5 gives away nothing but the scan itself', () => {
    for (const status of SCAN_STATUSES) {
      const page = render({ status }, [sampleLanding(0), sampleLanding(1)]);
      assert.doesNotMatch(page, /private/i, status);
      assert.doesNotMatch(page, /203\.0\.113\.7|5f0c0c1e/, status);
    }
  });

  it('does not repeat the text of an ad tag, which is the client’s own', () => {
    const page = render({
      target: { kind: 'ad_tag', value: '<script src="https://private.example/tag.js"></script>' },
    });
    assert.match(page, /Ad tag/);
    assert.doesNotMatch(page, /private/);
  });

  it('explains every failure in plain words, with the evidence so far', () => {
    for (const error of FAILURE_CODES) {
      assert.notEqual(failureWords(error), failureWords('made up'), error);
      const page = render({ status: 'failed', error, retry_attempt: 2 });
      assert.ok(page.includes(error) && page.includes('id="chain"'), error);
      assert.match(page, /Attempts<\/dt><dd><bdi>3/);
    }
  });

  it('shows tabs that opened with their own chains and pictures', () => {
    const page = render({}, [sampleLanding(0), sampleLanding(1), sampleLanding(2, { screenshot: null })]);
    assert.match(page, /AbCdEfGhIjKlMnOpQrStUv\/landings\/1\/screenshot\?w=800/);
    assert.doesNotMatch(page, /landings\/2\/screenshot/);
    assert.match(page, /No picture could be taken/);
  });

  it('names what was scanned in the title, so that several reports can be told apart', () => {
    assert.match(render(), /<title>2 findings: go\.redirects\.example - Adsweep<\/title>/);
    const target = { kind: 'vast_tag' as const, value: 'https://private.example/tag' };
    assert.match(render({ target }), /<title>2 findings: Video ad tag - Adsweep<\/title>/);
  });

  it('names a finding once, with every place where it was made', () => {
    const tags = ['one', 'two', 'three'].map((detail) => sampleTag('back_button', detail));
    const page = render({ tags });
    assert.match(page, /<bdi>Back button hijacked<\/bdi>\u00a0×\u00a03<\/li>/);
    assert.equal(page.split('<article class="finding').length, 2);
    for (const detail of ['one', 'two', 'three']) assert.ok(page.includes(`<bdi>${detail}</bdi>`), detail);
  });

  it('folds a long detail, with all of it one click away', () => {
    const detail = `Trackers that failed: ${'https://track.example/pixel?id=1 '.repeat(20)}the last words`;
    const page = render({ tags: [sampleTag('back_button', detail)] }).replaceAll('<wbr>', '');
    assert.match(
      page,
      /<summary><bdi>Trackers that failed: https.{100,200}…<\/bdi> <span class="more">all 6\d\d characters/,
    );
    assert.match(page, /the last words<\/bdi><\/details>/);
  });

  it('keeps the place of a picture before it is loaded, by the shape of the device', () => {
    assert.match(render(), /<a class="shot tall"/);
    assert.match(render({ emulator_id: 'windows_chrome' }), /<a class="shot"/);
  });

  it('shows no picture of a page that was never there', () => {
    const nothing = sampleLanding(0, { screenshot: null, page_title: '' });
    assert.doesNotMatch(render({ status: 'failed', error: 'navigation: DNS' }, [nothing]), /class="window"/);
  });

  it('says in which tab nothing was found', () => {
    const gone = sampleLanding(1, { redirect_chain: [sampleHop('http://gone.example/', 'initial', 404, 9)] });
    assert.match(render({}, [sampleLanding(0), gone]), /<span class="code bad">404 Not Found<\/span><\/p><details/);
  });

  it('says so where a link leads nowhere', () => {
    assert.match(missingReportPage(ASSETS), /There is no such report/);
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

  it('has no element and no attribute that a harmless one has not', () => {
    const harmless = render({}, [sampleLanding(0, { final_url: HOSTILE.longUrl }), sampleLanding(1)]);
    assert.deepEqual(namesOf(page).difference(namesOf(harmless)), new Set());
    assert.ok(!namesOf(page).has('script') && !namesOf(page).has('style'));
    for (const tag of tagsOf(page)) assert.doesNotMatch(tag, /\son\w+=|javascript:|http:\/\/|style=/i);
  });

  it('links to nothing but its own pictures', () => {
    const links = tagsOf(page).flatMap((tag) => [...tag.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, link]) => link));
    assert.ok(links.length > 0);
    for (const link of links)
      assert.match(link!, /^(AbCdEfGhIjKlMnOpQrStUv\/[a-z0-9/]+(\?w=800)?|assets\/[a-z]+\.\w+)$/);
  });

  it('holds no character that turns text round', () => {
    assert.doesNotMatch(page, /\p{Bidi_Control}/u);
    assert.ok(!page.includes('\0'));
    assert.match(page, /\[U\+202E\]/);
  });

  it('bounds what it repeats', () => {
    const url = `http://long.example/${'a'.repeat(60_000)}`;
    const chain = Array.from({ length: 200 }, (_, index) =>
      sampleHop(`http://loop.example/${index}`, 'script', 200, index),
    );
    const long = render({}, [sampleLanding(0, { final_url: url, page_title: url, redirect_chain: chain })]);
    assert.ok(long.length < 120_000, `${long.length} characters`);
    assert.match(long, /170 more steps/);
  });
});

describe('a shown URL', () => {
  it('is never a link, and its host stands out', () => {
    assert.equal(
      String(showUrl('https://a.example/b?c')),
      '<bdi class="url"><span class="dim">https://</span><b>a.example</b><span class="dim">/<wbr>b?<wbr>c</span></bdi>',
    );
  });

  it('names the host that is really visited, whatever stands before an @', () => {
    assert.deepEqual(splitUrl('http://bank.example@evil.example:8080/x@y'), {
      before: 'http://bank.example@',
      host: 'evil.example:8080',
      after: '/x@y',
    });
    for (const url of ['javascript:alert(1)//a', 'about:blank', 'http://a.exa\tmple/', 'no url', ''])
      assert.deepEqual(splitUrl(url), { before: url, host: '', after: '' });
  });

  it('may be broken after its signs, never within a word or a host, and is copied as it is', () => {
    const url = 'https://user@a.example/way-to/offer.html?id=1&next=%2Fend;x#top';
    const shown = String(showUrl(url));
    assert.match(shown, /<b>a\.example<\/b>/);
    assert.ok(
      shown.includes('/<wbr>way-<wbr>to/<wbr>offer.<wbr>html?<wbr>id=<wbr>1&amp;<wbr>next=<wbr>%2Fend;<wbr>x#top'),
    );
    assert.equal(shown.replace(/<[^>]+>/g, '').replace(/&amp;/g, '&'), url);
  });

  it('is shortened in the middle where it is long, and all of it is one click away', () => {
    const shown = String(showUrl(`https://a.example/${'abcdefghij'.repeat(300)}/the-end.html`));
    const [, short = ''] = /<summary>(.*)<\/summary>/.exec(shown) ?? [];
    const text = short.replace(/<[^>]+>/g, '');
    assert.match(text, /^https:\/\/a\.example\/abcdefghij\S{40,90}…\S+\/the-end\.html all 3031 characters$/);
    assert.ok(shown.includes('abcdefghij'.repeat(300)));
  });

  it('shows the host whatever stands before it', () => {
    const shown = String(showUrl(`https://${'bank.example-'.repeat(300)}@evil.example/`));
    const [, short = ''] = /<summary>(.*)<\/summary>/.exec(shown) ?? [];
    assert.match(short, /…[^<]*(<wbr>[^<]*)*<\/span><b>evil\.example<\/b>/);
  });
});

describe('the report of an ad tag', () => {
  const pixel = {
    url: HOSTILE.url,
    resource_type: 'image',
    status_code: 200,
    content_type: 'image/gif',
    body_size: 43,
    timestamp_ms: 60,
    children: [],
  };
  const page_url = 'https://private.example/article';
  const root = { ...sampleHop(page_url, 'initial', 200, 0), sub_requests: [{ ...pixel, children: [pixel] }] };
  const creative = { width: 300, height: 250, page_url, redirect_chain: [root] };
  const shownWith = (changes: Partial<typeof creative>, tags = sampleScan().tags) =>
    reportPage(
      buildReport(
        sampleScan({ target: { kind: 'ad_tag', value: '<b>private</b>' }, tags }),
        {
          ...sampleEvidence([sampleLanding(0), sampleLanding(1)]),
          creative: { ...creative, ...changes },
          artifacts: new Set(['creative.jpeg']),
        },
        sampleTagWords,
      ),
      ASSETS,
    );

  it('shows the creative at its size, whether it is interactive, what it loaded and where it leads', () => {
    const page = shownWith({});
    assert.match(page, /<img src="[^"]*creative-screenshot\?w=1000" width="300" height="250"/);
    assert.match(page, /300 × 250 pixels/);
    assert.match(page, /Interactive: some of its buttons/);
    assert.match(page, /What the creative loaded <span class="count">2</);
    assert.match(page, /Where it leads <span class="count">2 tabs/);
    assert.doesNotMatch(shownWith({}, []), /Interactive: some/);
    assert.match(shownWith({ width: 0, height: 0 }, []), /nothing was rendered/);
  });

  it('lists two hundred requests, and says how many more there were', () => {
    const many = Array.from({ length: 3_000 }, () => ({ ...pixel, url: `http://a.example/${'a'.repeat(60_000)}` }));
    const page = shownWith({ redirect_chain: [{ ...root, sub_requests: many }] });
    assert.match(page, /What the creative loaded <span class="count">3000<[\s\S]*and 2800 more/);
    assert.ok(page.length < 700_000, `${page.length} characters`);
  });

  it('keeps the page that it stands on private, and escapes what it asked for', () => {
    const page = shownWith({});
    assert.doesNotMatch(page, /private/);
    assert.deepEqual(
      tagsOf(page).filter((tag) => /onmouseover|<script/.test(tag)),
      [],
    );
  });
});

describe('the requests of a report by company', () => {
  const request = (
    url: string,
    resource_type: string,
    timestamp_ms: number,
    children: SubRequest[] = [],
  ): SubRequest => ({
    url,
    resource_type,
    status_code: 200,
    content_type: '',
    body_size: 1_000,
    timestamp_ms,
    children,
  });
  const document = (url: string, timestamp_ms: number, ...sub_requests: SubRequest[]) => ({
    ...sampleHop(url, 'initial', 200, timestamp_ms),
    body_size: 500,
    sub_requests,
  });
  const pixel = request('https://pixel.tracker.example/p.gif', 'image', 300);
  const google = request('https://www.google-analytics.com/analytics.js', 'script', 200, [
    request('https://www.google-analytics.com/collect', 'xhr', 400),
  ]);

  it('are grouped by who is behind their host, the one that was asked first comes first', () => {
    const seen = requestsByCompany([document('https://www.shop.example/', 100, google, pixel)], '');
    assert.deepEqual([seen?.from_ms, seen?.until_ms, seen?.requests, seen?.left_out], [100, 400, 4, 0]);
    assert.deepEqual(
      seen?.companies.map(({ name, domains, requests, bytes, groups, marks }) => [
        name,
        domains,
        requests,
        bytes,
        groups.map(({ group, requests }) => `${requests} ${group}`),
        marks.map(({ at_ms }) => at_ms),
      ]),
      [
        ['shop.example', [], 1, 500, ['1 documents'], [100]],
        ['Google Analytics', ['google-analytics.com'], 2, 2_000, ['1 scripts', '1 calls'], [200, 400]],
        ['tracker.example', [], 1, 1_000, ['1 pictures'], [300]],
      ],
    );
  });

  it('leave out the publisher that an ad stands on, and what has no host', () => {
    const own = document('https://private.example/article', 0, request('data:image/gif;base64,AA', 'image', 1));
    assert.equal(requestsByCompany([own], 'private.example'), null);
  });

  it('are drawn on a line of time', () => {
    const page = render({}, [
      { ...sampleLanding(0), redirect_chain: [document('https://www.shop.example/', 100, google, pixel)] },
    ]);
    assert.match(page, /Requests by company <span class="count">3 companies, 4 requests, 300 ms/);
    assert.match(page, /<rect class="of-scripts" x="32.83%"/);
    assert.match(page, /<bdi>Google Analytics<\/bdi>/);
    assert.match(page, /<span>1 script<\/span>/);
  });
});

describe('a shown chain', () => {
  it('names an HTTP redirect by the code that caused it, and says where no answer came', () => {
    const shown = String(
      showChain([
        { url: 'http://a.example/', kind: 'initial', status_code: 301, content_type: '', at_ms: 0 },
        { url: 'http://b.example/', kind: 'http', status_code: 0, content_type: '', at_ms: 9 },
      ]),
    );
    assert.match(shown, /HTTP 301[\s\S]*no answer/);
  });

  it('counts in units that people use', () => {
    assert.deepEqual([0, 999, 1_000, 59_949, 59_950, 3_599_499, 7_260_000].map(durationWords), [
      '0 ms',
      '999 ms',
      '1.0 s',
      '59.9 s',
      '1 min 0 s',
      '59 min 59 s',
      '2 h 1 min',
    ]);
  });
});
