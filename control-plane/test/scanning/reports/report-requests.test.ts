import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SubRequest } from '@adsweep/shared/capture/hop.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { buildReport } from '../../../src/scanning/reports/build-report.ts';
import { requestsByCompany } from '../../../src/scanning/reports/requests-by-company.ts';
import { render, renderEvidence, reportPage, tagsOf } from '../../support/rendered-report.ts';
import {
  HOSTILE,
  sampleEvidence,
  sampleHop,
  sampleLanding,
  sampleScan,
  sampleTag,
  sampleTagWords,
} from '../../support/sample-scan.ts';
import { sampleAds } from '../../support/sample-sweep.ts';

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
  const creative = { width: 300, height: 250, page_url, redirect_chain: [root], requests: [] };
  const shownWith = (changes: Partial<typeof creative>, tags = sampleScan().tags) =>
    renderEvidence(
      { target: { kind: 'ad_tag', value: '<b>private</b>' }, tags },
      {
        ...sampleEvidence([sampleLanding(0), sampleLanding(1)]),
        creative: { ...creative, ...changes },
        artifacts: new Map([['creative.jpeg', { width: 300, height: 250 }]]),
      },
    );

  it('shows the creative at its size, whether it is interactive, its requests and its landings', () => {
    const page = shownWith({});
    assert.match(page, /<img src="[^"]*creative-screenshot\?w=1000" width="300" height="250"/);
    assert.match(page, /300 × 250 pixels/);
    assert.match(page, /Interactive: some of its buttons/);
    assert.match(page, /What the creative loaded <span class="count">2</);
    assert.match(page, /Landings <span class="count">2 tabs/);
    assert.doesNotMatch(shownWith({}, []), /Interactive: some/);
    assert.match(shownWith({ width: 0, height: 0 }, []), /nothing was rendered/);
    const target = { kind: 'ad_tag' as const, value: '<b>private</b>' };
    assert.match(renderEvidence({ target }, { ...sampleEvidence([]), creative }), /Landings<\/h2>[\s\S]*No tab opened/);
  });

  it('§2.5.2 says whether the creative is interactive only where that is known and its tag is not archived', () => {
    const shown = (changes: Partial<ScanRecord>, tagWords = sampleTagWords) => {
      const scan = sampleScan({ target: { kind: 'ad_tag', value: '<b></b>' }, tags: [], ...changes });
      const page = reportPage(buildReport(scan, { ...sampleEvidence([sampleLanding(0)]), creative }, tagWords));
      return /Interactive: some|All of its buttons/.exec(page)?.[0];
    };
    const { tags } = sampleScan();
    const archived = (slug: string) => (slug === 'creative_interactive' ? null : sampleTagWords(slug));
    assert.equal(shown({}), 'All of its buttons');
    assert.equal(shown({ tags, status: 'partial' }), 'Interactive: some');
    for (const status of ['checking', 'rechecking', 'partial', 'failed'] as const)
      assert.equal(shown({ status }), undefined, status);
    assert.equal(shown({ ad_block: { ...sampleAds(1)[0]!, ad_kind: 'video' } }), undefined);
    assert.equal(shown({}, archived), undefined);
    assert.equal(shown({ tags }, archived), undefined);
  });

  it('lists the requests that its budget allows, and the number of those left out', () => {
    const many = Array.from({ length: 300 }, () => ({ ...pixel, url: `http://a.example/${'a'.repeat(60_000)}` }));
    const page = shownWith({ redirect_chain: [{ ...root, sub_requests: many }] });
    assert.match(page, /What the creative loaded <span class="count">300<[\s\S]*2\d\d more are left out/);
    assert.ok(page.length < 120_000, `${page.length} characters`);
  });

  it('keeps the publisher page private, and escapes the URLs of requests', () => {
    const page = shownWith({});
    assert.doesNotMatch(page, /private/);
    const match = {
      rule_id: 'rule',
      rule_name: 'Publishers',
      rule_type: 'regexp_url',
      landing: null,
      offset: 8,
      elapsed_ms: 1,
    };
    const hits = [
      { ...match, place: 'hop' as const, excerpt: 'https://«private».example/article' },
      { ...match, place: 'html' as const, excerpt: '<b>«private»</b>' },
    ].map((hit) => ({ ...sampleTag('ios_exploit', 'private', page_url), match: hit }));
    const withHits = shownWith({}, hits);
    assert.doesNotMatch(withHits, /private/);
    const withDetail = shownWith({}, [sampleTag('ios_exploit', `5.0 MB at ${page_url}?id=1; and more`)]);
    assert.doesNotMatch(withDetail, /private/);
    assert.match(withDetail, /5\.0 MB at the page and more/);
    assert.match(withHits, /“Publishers”<\/bdi> matched in a hop of the redirect chain, at 8\./);
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

  it('are grouped by the company behind their host, in the order of the first request to each', () => {
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

  it('of a type that is no type count as others, whatever its name', () => {
    const types = ['__proto__', 'constructor', 'no-type'];
    const requests = types.map((type, at) => request(`https://shop.example/${at}`, type, at));
    const page = render({}, [
      sampleLanding(0, { redirect_chain: [document('https://shop.example/', 0, ...requests)] }),
    ]);
    assert.match(page, /<span>3 others<\/span>/);
  });

  it('do not include those to the publisher page and those without a host', () => {
    const own = document('https://private.example/article', 0, request('data:image/gif;base64,AA', 'image', 1));
    assert.equal(requestsByCompany([own], 'private.example'), null);
  });

  it('are drawn on a timeline', () => {
    const page = render({}, [
      { ...sampleLanding(0), redirect_chain: [document('https://www.shop.example/', 100, google, pixel)] },
    ]);
    assert.match(page, /Requests by company <span class="count">3 companies, 4 requests, 300 ms/);
    assert.match(page, /<rect class="of-scripts" x="32.83%"/);
    assert.match(page, /<bdi>Google Analytics<\/bdi>/);
    assert.match(page, /<span>1 script<\/span>/);
  });
});
