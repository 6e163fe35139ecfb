import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CapturedVast } from '@adsweep/shared/capture/vast.ts';
import { presentVast, videoOf } from '../../../src/crawling/captures/present-vast.ts';
import { sampleAd, sampleVast } from '../../support/sample-vast.ts';

describe('the presented result of a VAST tag', () => {
  it('has the number of omitted items for each list', () => {
    const numbers = (parts: Partial<CapturedVast>) => {
      const { wrappers_left_out, ads_left_out, trackers_left_out } = presentVast(sampleVast(parts));
      return [wrappers_left_out, ads_left_out, trackers_left_out];
    };
    assert.deepEqual(numbers({ rungs_left_out: 5, ads_left_out: 6, trackers_left_out: 7 }), [5, 6, 7]);
    assert.deepEqual(numbers({}), [0, 0, 0]);
  });
});

describe('the metadata of a video ad', () => {
  it('is that of the first ad in the document that has a video, regardless of the order in which a pod is played', () => {
    const [first, second] = [
      { ...sampleAd, position: 0, duration_ms: 1_000 },
      { ...sampleAd, position: 1, duration_ms: 2_000 },
    ];
    assert.equal(videoOf(sampleVast({ ads: [second, first] }))?.duration_ms, 1_000);
    assert.equal(videoOf(sampleVast({ ads: [second, { ...first, media_files: 0 }] }))?.duration_ms, 2_000);
  });

  it('is empty if the document has none, and null without an ad', () => {
    const bare = { ...sampleAd, duration_ms: null, mediafile_url: '', media: [], media_files: 0 };
    assert.deepEqual(
      [videoOf(sampleVast({ ads: [bare] }))?.duration_ms, videoOf(sampleVast({ ads: [bare] }))?.mediafile_url],
      [0, ''],
    );
    assert.equal(videoOf(sampleVast({ ads: [] })), null);
  });
});
