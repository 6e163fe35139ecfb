import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { presentVast, videoOf } from '../src/crawling/captures/present-vast.ts';
import { buildReport } from '../src/scanning/reports/build-report.ts';
import { reportPage } from '../src/scanning/reports/report-page.ts';
import { sampleEvidence, sampleScan, sampleTagWords } from './support/sample-scan.ts';
import { sampleAd, sampleTracker, sampleVast } from './support/sample-vast.ts';

describe('the metadata of a video ad', () => {
  it('is that of the first ad in the document that has a video, in whichever order a pod is played', () => {
    const [first, second] = [
      { ...sampleAd, position: 0, duration_ms: 1_000 },
      { ...sampleAd, position: 1, duration_ms: 2_000 },
    ];
    assert.equal(videoOf(sampleVast({ ads: [second, first] }))?.duration_ms, 1_000);
    assert.equal(videoOf(sampleVast({ ads: [second, { ...first, media_files: 0 }] }))?.duration_ms, 2_000);
  });

  it('is empty where the document says nothing, and is not there without an ad', () => {
    const bare = { ...sampleAd, duration_ms: null, mediafile_url: '', media: [], media_files: 0 };
    assert.deepEqual(
      [videoOf(sampleVast({ ads: [bare] }))?.duration_ms, videoOf(sampleVast({ ads: [bare] }))?.mediafile_url],
      [0, ''],
    );
    assert.equal(videoOf(sampleVast({ ads: [] })), null);
  });
});

describe('the report of a video ad tag', () => {
  const render = (vast = sampleVast(), artifacts: string[] = ['creative.jpeg']) =>
    reportPage(
      buildReport(
        sampleScan({ target: { kind: 'vast_tag', value: '' } }),
        { ...sampleEvidence([]), vast: presentVast(vast), artifacts: new Set(artifacts) },
        sampleTagWords,
      ),
      { stylesheet: 'report.css', icon: 'icon.svg' },
    );

  it('shows a frame, the wrapper ladder and every tracker declared against fired', () => {
    const page = render();
    assert.match(page, /<img src="[^"]*\/creative-screenshot\?w=800"/);
    assert.match(page, /class="rung depth-0"[\s\S]*exchange\.example[\s\S]*class="rung depth-1"[\s\S]*server\.example/);
    assert.match(page, /1 of 2 fired/);
    assert.match(page, /impression[\s\S]*at 1\.2 s[\s\S]*video at 40 ms/);
    assert.match(page, /1 were not due[\s\S]*skip/);
    assert.doesNotMatch(page, /undefined|NaN|\[object/);
  });

  it('says what went wrong', () => {
    const failed = { ...sampleAd, shown: 'nothing' as const, error_code: 401, media: [] };
    const page = render(sampleVast({ ads: [failed], trackers: [{ ...sampleTracker, status_code: 404 }] }), []);
    assert.match(page, /error 401/);
    assert.match(page, /No frame could be taken/);
    assert.match(page, /class="lost"/);
    assert.doesNotMatch(render(sampleVast({ ads: [], trackers: [] })), /id="video"|id="trackers"/);
    assert.doesNotMatch(page, /id="companions"/);
    const pictured = render(sampleVast(), ['companion-0.jpeg', 'companion-1.jpeg']);
    assert.match(pictured, /id="companions"[\s\S]+companions\/0\/screenshot\?w=800[\s\S]+companions\/1\/screenshot/);
  });

  it('escapes what the documents say', () => {
    const evil = '"><script>alert(1)</script>';
    const page = render(
      sampleVast({
        ads: [{ ...sampleAd, title: evil }],
        trackers: [{ ...sampleTracker, event: evil, url: `https://x.example/${evil}` }],
      }),
    );
    assert.doesNotMatch(page, /<script/);
  });
});
