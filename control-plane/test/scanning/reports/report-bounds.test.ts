import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slow } from '../../../../shared/test/support/slow.ts';
import { presentVast } from '../../../src/crawling/captures/present-vast.ts';
import { REPORT_BYTES_MAX } from '../../../src/scanning/reports/byte-budget.ts';
import { render, renderEvidence } from '../../support/rendered-report.ts';
import { sampleEvidence, sampleHop, sampleLanding, sampleTag } from '../../support/sample-scan.ts';
import { sampleAd, sampleTracker, sampleVast } from '../../support/sample-vast.ts';

/** Each of these characters takes eight bytes of a report. */
const longUrl = (index: number, length: number) => `http://h${index}.example/?${'\u202e'.repeat(length)}`;

const longChain = (hops: number, length: number) =>
  Array.from({ length: hops }, (_, index) => sampleHop(longUrl(index, length), 'script', 200, index));

/** Already its first steps have no budget. */
const CHAIN = longChain(40, 9_000);

const findings = Array.from({ length: 200 }, (_, index) =>
  sampleTag(index % 2 ? 'ios_exploit' : 'back_button', '\u202e'.repeat(2_000), longUrl(index, 8_000)),
);

const bytesOf = (page: string): number => Buffer.byteLength(page);

describe('the size of a report', slow, () => {
  it('has a bound, however many findings, tabs and steps there are and however long their texts are', () => {
    const tabs = Array.from({ length: 50 }, (_, ord) =>
      sampleLanding(ord, {
        page_title: '\u202e'.repeat(9_000),
        final_url: longUrl(ord, 9_000),
        redirect_chain: CHAIN,
      }),
    );
    const page = render({ tags: findings, target: { kind: 'url', value: longUrl(0, 30_000) } }, tabs);
    assert.ok(bytesOf(page) <= REPORT_BYTES_MAX, `${bytesOf(page)} bytes`);
    assert.ok(page.includes('more steps are left out'));
  });

  it('has a bound for a creative and for a video ad too', () => {
    const chain = CHAIN.map((hop) => ({
      ...hop,
      sub_requests: Array.from({ length: 20 }, (_, index) => ({
        url: longUrl(index, 9_000),
        resource_type: 'script',
        status_code: 200,
        content_type: 'text/html',
        body_size: 1,
        timestamp_ms: index,
        children: [],
      })),
    }));
    const creative = {
      width: 300,
      height: 250,
      page_url: 'https://publisher.example/',
      redirect_chain: chain,
      requests: [],
    };
    const evidence = { ...sampleEvidence([]), creative };
    const adTag = { target: { kind: 'ad_tag' as const, value: '<b>' } };
    const tabs = Array.from({ length: 50 }, (_, ord) => sampleLanding(ord, { redirect_chain: CHAIN }));
    const ofCreative = renderEvidence({ ...adTag, tags: findings }, { ...evidence, landings: tabs });
    assert.ok(bytesOf(ofCreative) <= REPORT_BYTES_MAX, `${bytesOf(ofCreative)} bytes`);

    const text = '\u202e'.repeat(300);
    const trackers = Array.from({ length: 500 }, (_, at) => ({
      ...sampleTracker,
      event: text,
      url: longUrl(at, 9_000),
      requested_at_ms: at,
    }));
    const ads = Array.from({ length: 10 }, () => ({
      ...sampleAd,
      title: text,
      media: [{ ...sampleAd.media[0]!, url: longUrl(0, 9_000) }],
    }));
    const capture = sampleVast({ trackers, ads });
    const rungs = Array.from({ length: 25 }, () => ({ ...capture.rungs[0]!, url: longUrl(0, 9_000), ad_system: text }));
    const ofVideo = renderEvidence(
      { target: { kind: 'vast_tag', value: '<VAST/>' }, tags: findings },
      { ...sampleEvidence(tabs), vast: presentVast({ ...capture, rungs }) },
    );
    assert.ok(bytesOf(ofVideo) <= REPORT_BYTES_MAX, `${bytesOf(ofVideo)} bytes`);
  });

  it('always shows the last step of a chain, and says how many it leaves out', () => {
    const page = render({}, [sampleLanding(0, { redirect_chain: longChain(200, 2_000) })]);
    assert.ok(page.includes('<b>h199.example</b>'));
    assert.ok(/\d+ more steps are left out/.test(page));
    assert.ok(page.includes('GET /api/v1/scans/{id}'));
  });

  it('leaves nothing out of a report of ordinary size', () => {
    const chain = Array.from({ length: 60 }, (_, index) =>
      sampleHop(`https://h${index}.example/?a=${'b'.repeat(200)}`, 'http', 302, index),
    );
    const page = render({}, [sampleLanding(0, { redirect_chain: chain }), sampleLanding(1)]);
    assert.ok(!page.includes('left out'));
  });
});
