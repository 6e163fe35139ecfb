import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { screenshots, showModel } from '../../../src/analysis/model/show-model.ts';
import { QueueFull } from '../../../src/platform/bounded-queue.ts';
import { ObjectsUnavailable } from '../../../src/platform/objects/object-store.ts';
import { sampleLanding, sampleScan } from '../../support/sample-scan.ts';

const picture = { width: 1, height: 1, sha256: 'a', bytes: 1, content_type: 'image/jpeg' };
const findPicture = async () => ({ ...picture, organizationId: 'ours', read: async () => Readable.from([]) });
const judged = { landings: [{ ...sampleLanding(0), opener_url: '', site_name: '' }], documents: [], creative: null };
const show = (resize: () => Promise<Buffer>) => {
  const screenshotFor = screenshots(findPicture, { resize }, createLogger('test', 'silent'));
  return showModel(screenshotFor)(sampleScan(), { ...judged, creativeHtml: '' } as never);
};

describe('what a model is shown', () => {
  it('has the screenshot, also if the queue of pictures was full at first', async () => {
    let calls = 0;
    const shown = await show(async () => {
      calls += 1;
      if (calls === 1) throw new QueueFull('too many');
      return Buffer.from('picture');
    });
    assert.deepEqual([String(shown.screenshot), shown.lacksScreenshot, calls], ['picture', undefined, 2]);
  });

  it('waits for the files while they cannot be reached', async () => {
    const unreachable = () => Promise.reject(new ObjectsUnavailable('the bucket cannot be used'));
    await assert.rejects(show(unreachable), ObjectsUnavailable);
  });

  it('says that it lacks a screenshot that could not be resized', async () => {
    const shown = await show(async () => {
      throw new Error('too slow');
    });
    assert.deepEqual([shown.screenshot, shown.lacksScreenshot], [null, true]);
  });
});
