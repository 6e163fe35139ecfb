import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { note } from '@adsweep/shared/capture/notes.ts';
import { FAILURE_CODES } from '@adsweep/shared/failures.ts';
import { SCAN_STATUSES } from '@adsweep/shared/scan/scan-status.ts';
import { missingEvidence } from '../../../src/analysis/evidence/missing-evidence.ts';
import { ByteBudget } from '../../../src/scanning/reports/byte-budget.ts';
import { clip } from '../../../src/scanning/reports/report.ts';
import { missingReportPage } from '../../../src/scanning/reports/report-page.ts';
import { showChain } from '../../../src/scanning/reports/show-landings.ts';
import { durationWords, failureWords } from '../../../src/scanning/reports/words.ts';
import { ASSETS, render, renderEvidence } from '../../support/rendered-report.ts';
import { sampleEvidence, sampleHop, sampleLanding, sampleScan, sampleTag } from '../../support/sample-scan.ts';

describe('a public report', () => {
  for (const status of SCAN_STATUSES) {
    it(`describes the status ${status} in words`, () => {
      const page = render({ status, error: status === 'failed' ? 'navigation: TIMEOUT' : '' });
      assert.match(page, /^<!doctype html>/);
      assert.match(page, /<h1>[^<]+<\/h1>/);
      const inProgress = !['completed', 'partial', 'failed', 'cancelled'].includes(status);
      assert.equal(page.includes('>Reload every 5 seconds</a>'), inProgress);
      assert.doesNotMatch(page, /undefined|null|NaN|\[object/);
    });
  }

  it('does not say of a scan that was cancelled before its next attempt that it never started', () => {
    const page = render({ status: 'cancelled', retry_attempt: 1, loaded: true });
    assert.match(page, /It was cancelled while it waited for a browser/);
  });

  it('cuts no text within a character', () => {
    assert.equal(clip('ab👩', 3), 'ab\ufffd… (1 more characters)');
    for (let max = 1; max < 9; max++) assert.ok(clip('👩👧👩👧👩', max).isWellFormed(), `${max}`);
  });

  it('renders before anything was loaded', () => {
    const nothing = { exit: null, capture: null, classification: null, tags: [], crawled_at: null, completed_at: null };
    const page = render({ status: 'pending', ...nothing }, []);
    assert.doesNotMatch(page, /<img|id="chain"|undefined|null/);
  });

  it('shows target, countries, device, time, findings, classification and redirect chain', () => {
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

  it('§2.1.16 shows the categories of the scan in custom taxonomies', () => {
    const taxonomy = { taxonomy_id: '1', taxonomy_name: 'Our verticals', taxonomy_slug: 'our', taxonomy_version: 1 };
    const category = {
      leaf_node_id: '2',
      tier1: 'Games',
      tier2: 'Casino',
      tier3: null,
      tier4: null,
      used_default: false,
    };
    const classification = { ...sampleScan().classification!, custom_taxonomies: [{ ...taxonomy, ...category }] };
    assert.match(render({ classification }), /Our verticals<\/dt><dd><bdi>Games › Casino/);
  });

  it('shows the requested and the actual exit, and whether its country was not checked or not verified', () => {
    assert.match(render(), /Country<\/th><td><bdi>Germany<\/bdi><\/td><td><bdi>Austria/);
    assert.match(render(), /Proxy type<\/th><td><bdi>mobile<\/bdi><\/td><td><bdi>mobile/);
    const unchecked = { ...sampleScan().exit!, observed_country_code: null };
    assert.match(render({ exit: unchecked }), /Germany<\/bdi><\/td><td><bdi>not checked/);
    assert.match(render({ exit: { ...unchecked, verified: false } }), /<bdi>not verified/);
    assert.doesNotMatch(render({ exit: null }), /Actual<\/th>/);
  });

  it('says what was not captured, first what checks rest on, and that a complete analysis is one of what was captured', () => {
    const notes = [
      note('dialogs', { count: 2 }),
      note('picture', { landing: 0 }),
      note('text', { landing: 0 }),
      note('collector_timed_out', { collector: 'autosound' }),
    ];
    const evidence = { ...sampleEvidence([sampleLanding(0, { screenshot: null })]), notes };
    const error = `checks: ai_verdict (failed), ${missingEvidence(notes).join(', ')}`;
    const partial = renderEvidence({ status: 'partial', error, tags: [] }, evidence);
    assert.match(
      partial,
      /The analysis is incomplete. Missing: ai_verdict \(failed\). What could not be captured is listed/,
    );
    assert.match(partial, /class="verdict low"/);
    const [, list = ''] = /Limits of this scan<\/h2><ul>(.*?)<\/ul>/s.exec(partial) ?? [];
    assert.deepEqual(
      list
        .replaceAll(/<\/(li|b)>/g, '|')
        .replaceAll(/<[^>]*>/g, '')
        .split('|')
        .filter(Boolean),
      [
        'The screenshot of landing 0 could not be taken.',
        'The text of landing 0 could not be read.',
        'Incomplete checks: scareware, phishing_form, malicious_script, fake_update, paste_to_run and 3 more',
        'Sound could not be recorded in time.',
        'Incomplete checks: autosound, scareware',
        '2 dialogs were closed.',
      ],
    );
    const completed = renderEvidence({ status: 'completed', error: '' }, { ...evidence, notes: [notes[0]!] });
    assert.match(completed, /The analysis of what was captured is complete/);
    assert.doesNotMatch(render(), /Limits of this scan/);
    assert.match(render(), /The analysis is complete\./);
  });

  it('lists the most severe finding first and has its colour', () => {
    const page = render({ tags: [sampleTag('creative_interactive', ''), sampleTag('ios_exploit', '')] });
    assert.match(page, /class="verdict high"/);
    assert.ok(page.indexOf('iOS exploit attempt') < page.indexOf('Interactive creative'));
  });

  it('§2.6.8 names the rule of a finding and where it matched, with the hit marked', () => {
    const excerpt = '…<script>/kit/«exploit-42»/ <b>«x»</b>';
    const match = { rule_id: 'private-rule', rule_name: 'Kits & more', rule_type: 'regexp_content', excerpt };
    const position = { place: 'html' as const, landing: 1, offset: 512, elapsed_ms: 3 };
    const page = render({ tags: [{ ...sampleTag('ios_exploit', 'Rule of old'), match: { ...match, ...position } }] });
    assert.match(page, /The rule <bdi>“Kits &amp; more”<\/bdi> matched in the HTML of landing 1, at 512:/);
    assert.match(page, /…&lt;script&gt;\/kit\/<mark>exploit-42<\/mark>\/ &lt;b&gt;«x»&lt;\/b&gt;/);
    assert.doesNotMatch(page, /private|Rule of old/);
  });

  it('§8.4 names the rules that were skipped', () => {
    const error = 'checks: rules skipped, the time budget was spent: "Casino words" 3 more';
    const page = render({ status: 'partial', error });
    assert.match(page, /rules skipped, the time budget was spent: &quot;Casino words&quot; 3 more/);
    assert.doesNotMatch(render({ status: 'partial' }), /\(\)|undefined/);
  });

  it('describes what a partial scan lacks in words', () => {
    const page = render({ status: 'partial', error: 'checks: ai_verdict (none), AI rule "Casino words" (refused)' });
    assert.match(page, /Missing: the verdict of the AI model, AI rule &quot;Casino words&quot; \(it refused\)\./);
    assert.match(render({ status: 'partial', error: 'checks: constructor' }), /Missing: constructor\./);
  });

  it('names the error status that a page returned, and does not show such a scan as clean', () => {
    const gone = [sampleLanding(0, { redirect_chain: [sampleHop('http://gone.example/', 'initial', 404, 9)] })];
    const page = render({ tags: [] }, gone);
    assert.match(
      page,
      /class="verdict low"[\s\S]*No findings[\s\S]*The page returned 404 Not Found\. The analysis is complete/,
    );
    assert.match(render({}, gone), /The page returned 404 Not Found/);
    assert.match(render({ tags: [] }), /class="verdict clean"/);
    const target = { kind: 'ad_tag' as const, value: '<b>ad</b>' };
    assert.doesNotMatch(render({ target, tags: [] }, gone), /The page returned/);
  });

  it('§2.5.2 §4.2.17 contains neither tags that are archived, unknown or not public, nor their details', () => {
    const page = render({ tags: [sampleTag('note_to_self', 'private detail'), sampleTag('gone', 'private detail')] });
    assert.match(page, /No findings/);
    assert.doesNotMatch(page, /private|gone|note_to_self/);
  });

  it('§1.5 reveals nothing but the scan itself', () => {
    for (const status of SCAN_STATUSES) {
      const page = render({ status }, [sampleLanding(0), sampleLanding(1)]);
      assert.doesNotMatch(page, /private/i, status);
      assert.doesNotMatch(page, /203\.0\.113\.7|5f0c0c1e/, status);
    }
  });

  it('does not contain the text of an ad tag, which is private to the client', () => {
    const page = render({
      target: { kind: 'ad_tag', value: '<script src="https://private.example/tag.js"></script>' },
    });
    assert.match(page, /Ad tag/);
    assert.doesNotMatch(page, /private/);
  });

  it('explains every failure in a sentence, with the evidence that was captured', () => {
    for (const error of FAILURE_CODES) {
      assert.notEqual(failureWords(error), failureWords('made up'), error);
      const page = render({ status: 'failed', error, retry_attempt: 2 });
      assert.ok(page.includes(error) && page.includes('id="chain"'), error);
      assert.match(page, /Attempts<\/dt><dd><bdi>3/);
    }
  });

  it('shows each tab that opened with its own redirect chain and screenshot', () => {
    const page = render({}, [sampleLanding(0), sampleLanding(1), sampleLanding(2, { screenshot: null })]);
    assert.match(page, /AbCdEfGhIjKlMnOpQrStUv\/landings\/1\/screenshot\?w=800/);
    assert.doesNotMatch(page, /landings\/2\/screenshot/);
    assert.match(page, /There is no screenshot/);
    assert.match(page, /<span>landing 1<\/span>[\s\S]*<span>landing 2<\/span>/);
  });

  it('names the target in its title, which distinguishes it from other reports', () => {
    assert.match(render(), /<title>2 findings: go\.redirects\.example - Adsweep<\/title>/);
    const target = { kind: 'vast_tag' as const, value: 'https://private.example/tag' };
    assert.match(render({ target }), /<title>2 findings: Video ad tag - Adsweep<\/title>/);
  });

  it('names a finding once, with all of its occurrences', () => {
    const tags = ['one', 'two', 'three'].map((detail) => sampleTag('back_button', detail));
    const page = render({ tags });
    assert.match(page, /<bdi>Back button hijacked<\/bdi>\u00a0×\u00a03<\/li>/);
    assert.equal(page.split('<article class="finding').length, 2);
    for (const detail of ['one', 'two', 'three']) assert.ok(page.includes(`<bdi>${detail}</bdi>`), detail);
  });

  it('collapses a long detail, which the reader can expand', () => {
    const detail = `Trackers that failed: ${'https://track.example/pixel?id=1 '.repeat(20)}the last words`;
    const page = render({ tags: [sampleTag('back_button', detail)] }).replaceAll('<wbr>', '');
    assert.match(
      page,
      /<summary><bdi>Trackers that failed: https.{100,200}…<\/bdi> <span class="more">all 6\d\d characters/,
    );
    assert.match(page, /the last words<\/bdi><\/details>/);
  });

  it('reserves space for a screenshot in the shape of the device', () => {
    assert.match(render(), /<a class="shot tall"/);
    assert.match(render({ emulator_id: 'windows_chrome' }), /<a class="shot"/);
  });

  it('shows no window for a page that was not loaded', () => {
    const nothing = sampleLanding(0, { screenshot: null, page_title: '' });
    assert.doesNotMatch(render({ status: 'failed', error: 'navigation: DNS' }, [nothing]), /class="window"/);
  });

  it('shows the error status of the tab whose page was not found', () => {
    const gone = sampleLanding(1, { redirect_chain: [sampleHop('http://gone.example/', 'initial', 404, 9)] });
    assert.match(
      render({}, [sampleLanding(0), gone]),
      /landing 1<\/span><span class="code bad">404 Not Found<\/span><\/p><details/,
    );
  });

  it('says that it was not found if the link is wrong', () => {
    assert.match(missingReportPage(ASSETS), /Report not found/);
  });
});

describe('the redirect chain in a report', () => {
  it('names an HTTP redirect by its status code, and says where there was no response', () => {
    const shown = String(
      showChain(
        [
          { url: 'http://a.example/', kind: 'initial', status_code: 301, content_type: '', at_ms: 0 },
          { url: 'http://b.example/', kind: 'http', status_code: 0, content_type: '', at_ms: 9 },
        ],
        new ByteBudget(10_000),
      ),
    );
    assert.match(shown, /HTTP 301[\s\S]*no response/);
  });

  it('shows durations in units that suit their length', () => {
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
