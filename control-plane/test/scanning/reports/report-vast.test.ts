import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CapturedTracker, CapturedVast } from '@adsweep/shared/capture/vast.ts';
import { presentVast } from '../../../src/crawling/captures/present-vast.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { renderEvidence } from '../../support/rendered-report.ts';
import { HOSTILE, sampleEvidence, sampleLanding, sampleTag } from '../../support/sample-scan.ts';
import { sampleAd, sampleTracker, sampleVast } from '../../support/sample-vast.ts';

const tracker = (event: string, at: number | null, status_code: number): CapturedTracker => ({
  ...sampleTracker,
  part: 'linear',
  event,
  requested_at_ms: at,
  playhead_ms: at,
  status_code,
});
const TRACKERS = [
  tracker('complete', 4_000, 200),
  tracker('start', 100, 200),
  tracker('midpoint', 2_000, 404),
  tracker('pause', null, 0),
];

function render(
  parts: Partial<CapturedVast> = {},
  artifacts = ['creative.jpeg', 'companion-1.jpeg'],
  changes: Partial<ScanRecord> = {},
): string {
  const target = { kind: 'vast_tag' as const, value: 'https://private.example/tag' };
  const evidence = {
    ...sampleEvidence([sampleLanding(0), sampleLanding(1)]),
    vast: presentVast(sampleVast({ trackers: TRACKERS, ...parts })),
    artifacts: new Map(artifacts.map((name) => [name, { width: 1, height: 1 }])),
  };
  return renderEvidence({ target, ...changes }, evidence);
}

describe('the report of a VAST tag', () => {
  it('shows a frame of the video first, and its landings side by side', () => {
    const page = render();
    const parts = ['/creative-screenshot?w=800', 'id="findings"', 'id="wrappers"', 'id="trackers"', 'id="landings"'];
    const found = parts.map((part) => page.indexOf(part));
    assert.ok(!found.includes(-1), String(found));
    assert.deepEqual(
      found,
      found.toSorted((one, other) => one - other),
    );
    assert.match(page, /Landings <span class="count">2 tabs[\s\S]*class="side-by-side"/);
    assert.match(page, /companions\/1\/screenshot/);
    assert.match(render({}, ['companion-24.jpeg']), /companions\/24\/screenshot/);
    assert.doesNotMatch(page, /companions\/0|private|undefined|NaN|\[object/);
  });

  it('lists the wrapper chain', () => {
    assert.match(render(), /2 documents[\s\S]*depth-0[\s\S]*exchange\.example[\s\S]*depth-1[\s\S]*server\.example/);
  });

  it('lists the declared trackers in the order in which they fired, and marks those that failed', () => {
    const page = render();
    assert.match(page, /Trackers <span class="count">3 of 4 fired, 1 failed/);
    assert.match(
      page,
      /class="fired"><b>start[\s\S]*class="lost"><b>midpoint[\s\S]*404[\s\S]*class="fired"><b>complete[\s\S]*1 was not requested[\s\S]*class="idle"><b>pause/,
    );
    assert.match(page, /at 2\.0 s[\s\S]*video at 2\.0 s/);
    assert.doesNotMatch(page, /not listed/);
    const cut = render({ rungs_left_out: 32, ads_left_out: 33, trackers_left_out: 31 });
    for (const [id, count] of Object.entries({ wrappers: 32, video: 33, trackers: 31 }))
      assert.match(cut, new RegExp(`id="${id}"(?:(?!</section>)[^])*and ${count} more that are not listed`));
  });

  it('keeps the publisher page of a document that the client sent private', () => {
    const publisher = 'https://private.example/article';
    const [rung] = sampleVast().rungs;
    const target = { kind: 'vast_tag' as const, value: ' <VAST version="4.2"></VAST>' };
    const tags = [sampleTag('back_button', 'why', publisher)];
    const page = render({ rungs: [{ ...rung!, url: publisher }] }, [], { target, tags });
    assert.match(page, /id="wrappers"[\s\S]*the document in the request[\s\S]*has an ad/);
    assert.doesNotMatch(page, /private/);
  });

  it('names the ad of each tracker of a pod', () => {
    assert.doesNotMatch(render(), /<span>ad \d/);
    const pod = render({
      ads: [sampleAd, { ...sampleAd, position: 1, title: 'Second' }],
      trackers: [{ ...tracker('start', 5, 200), ad: 1 }],
    });
    assert.match(
      pod,
      /Second[\s\S]*<span>ad 2<\/span>[\s\S]*id="trackers"[\s\S]*<span>ad 2<\/span><span>document 2<\/span>/,
    );
  });

  it('explains the error codes and outcomes of a failed ad', () => {
    const failed = { ...sampleAd, shown: 'nothing' as const, error_code: 401, media: [] };
    const page = render({ ads: [failed] }, []);
    assert.match(page, /error 401: the video file was not found/);
    const [rung] = sampleVast().rungs;
    const large = render({ failure: 'too_large', rungs: [{ ...rung!, outcome: 'too_large' }], ads: [] });
    assert.match(large, /is larger than 500,000 characters/);
    assert.match(page, /There is no screenshot/);
    assert.doesNotMatch(page, /id="companions"/);
    assert.doesNotMatch(render({ ads: [], trackers: [] }), /id="video"|id="trackers"/);
  });

  it('escapes all texts of the documents', () => {
    const words = { event: HOSTILE.title, url: HOSTILE.url, offset: HOSTILE.detail };
    const [rung] = sampleVast().rungs;
    const page = render({
      rungs: [{ ...rung!, url: HOSTILE.longUrl, ad_system: HOSTILE.title, vast_version: HOSTILE.detail }],
      ads: [{ ...sampleAd, rung: 0, wrappers: [], title: HOSTILE.title }],
      trackers: [
        { ...tracker('start', 5, 200), ...words },
        { ...tracker('pause', null, 0), ...words },
      ],
    });
    assert.doesNotMatch(page, /<script|<style|\son\w+="|<meta http-equiv/);
    assert.match(page, /&lt;script&gt;/);
  });
});
