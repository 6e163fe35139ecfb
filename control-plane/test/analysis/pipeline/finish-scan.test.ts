import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { note } from '@adsweep/shared/capture/notes.ts';
import type { Observation } from '@adsweep/shared/capture/observations/index.ts';
import { detectors } from '../../../src/analysis/detectors/detect.ts';
import type { Detector } from '../../../src/analysis/detectors/detector.ts';
import type { Need } from '../../../src/analysis/evidence/evidence.ts';
import { unpackScan } from '../../../src/analysis/evidence/packed-scan.ts';
import { finishCrawled } from '../../../src/analysis/pipeline/worker.ts';
import type { Analyse } from '../../../src/analysis/threads/analysis-threads.ts';
import { inspect } from '../../../src/analysis/threads/inspect.ts';
import type { ReadPackedCapture } from '../../../src/crawling/captures/capture-record.ts';
import { changeScan } from '../../../src/scan/change-scan.ts';
import type { ArtifactRecord } from '../../../src/scanning/artifacts/artifact.ts';
import { NO_SCAN_EVIDENCE } from '../../../src/scanning/scans/api/evidence.ts';
import { presentScan } from '../../../src/scanning/scans/api/present-scan.ts';
import { adBlocks } from '../../support/ad-blocks.ts';
import { addRule, checkCrawled, crawledScan, followUpsOf, LOUD, ownTag, slugsOf } from '../../support/checked-scans.ts';
import { captureOf, gzJson, named, type RunningFarm, requestOf, runningFarm } from '../../support/running-farm.ts';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

const crawled = (observations?: Observation[]) => crawledScan(farm, observations);
const work = () => checkCrawled(farm);
const slowly = (read: ReadPackedCapture, ms: number): ReadPackedCapture => {
  return (scan) => new Promise((resolve) => setTimeout(() => resolve(read(scan)), ms));
};
const [TAGS, COMPLETED] = ['scanning.tags.detected', 'scanning.scan.completed'];

describe('the analysis after a crawl', () => {
  it('§6.2 emits the event about tags, if there are any, before the one about the completed scan', async () => {
    const [tagged, clean] = [await crawled(), await crawled([])];
    assert.equal(await work(), 2);
    assert.deepEqual(followUpsOf(await farm.read(tagged._id)), ['charge', TAGS, COMPLETED]);
    assert.deepEqual(followUpsOf(await farm.read(clean._id)), ['charge', COMPLETED]);
    assert.equal((await farm.read(clean._id)).status, 'completed');
  });

  it('§2.5.2 §2.5.4 does not assign an archived tag or name it in events; restoring the tag does not change earlier scans', async () => {
    const autosound = (await farm.tags.visibleTo(null)).get('autosound')!;
    await farm.tags.setArchived(autosound, new Date(), new Date());
    const scan = await crawled();
    await work();
    await farm.tags.setArchived(autosound, null, new Date());
    const later = await crawled();
    await work();
    assert.deepEqual((await farm.read(scan._id)).tags, []);
    assert.deepEqual(followUpsOf(await farm.read(scan._id)), ['charge', COMPLETED], 'no event names it');
    assert.equal((await farm.read(later._id)).tags.length, 1);
  });

  it('ends as partial if a recorded file of its evidence is gone, also in a recheck; a file that has expired is not missed', async () => {
    const scan = await farm.submit();
    const lease = await farm.acquireOne();
    const files = { 'documents.json.gz': gzJson([]), 'bodies.json.gz': gzJson([]) };
    for (const [name, bytes] of Object.entries(files)) await farm.node.upload(lease, name, 'application/gzip', bytes);
    const artifacts = Object.entries(files).map(([name, bytes]) => named(name, bytes, 'application/gzip'));
    await farm.node.complete(lease, captureOf(['https://shop.example/'], { artifacts }));
    await work();
    assert.equal((await farm.read(scan._id)).status, 'completed');

    const stored = farm.store.collection<ArtifactRecord>('artifacts');
    await farm.sweepAll(new Date(Date.now() + 2 * 24 * 60 * 60 * 1000));
    const [left, ...others] = await stored.find({ scan_id: scan._id }).toArray();
    assert.deepEqual([left?.name, others], ['documents.json.gz', []]);
    const recheck = async (id: string) => {
      await changeScan(farm.scans, await farm.read(scan._id), { type: 'recheck', id }, new Date());
      await work();
      const { status, error } = await farm.read(scan._id);
      return [status, error];
    };
    assert.deepEqual(await recheck('with the file'), ['completed', '']);
    await farm.objects.delete(left!.object);
    assert.deepEqual(await recheck('without it'), ['partial', 'checks: documents']);
  });

  it('§2.6.8 assigns the tags of rules, with the position of each match', async () => {
    const scan = await farm.submit();
    await addRule(farm, scan, 'kit', { rule_type: 'regexp_request_url', config: { pattern: 'exploit-\\d+' } });
    await addRule(farm, scan, 'loud-kit', { rule_type: 'combo', config: { all_of: ['kit', 'autosound'] } });
    await addRule(farm, scan, 'quiet', { rule_type: 'combo', config: { none_of: ['autosound'] } });
    const requests = [requestOf(1, { url: 'https://cdn.example/exploit-42.js' })];
    await farm.node.complete(
      await farm.acquireOne(),
      captureOf(['https://shop.example/'], { observations: [LOUD], requests }),
    );
    await work();
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.error], ['completed', '']);
    assert.deepEqual(slugsOf(finished), ['autosound', 'kit', 'loud-kit']);
    const { url, match } = finished.tags[1]!;
    assert.equal(url, 'https://cdn.example/exploit-42.js');
    const { rule_id, place, offset, excerpt } = match!;
    assert.deepEqual([rule_id, place, offset], [`kit-${scan._id}`, 'request', 20]);
    assert.equal(excerpt, 'https://cdn.example/«exploit-42».js');
  });

  it('§2.1.1 §2.1.2 judges an ad on a page as an ad: its markup and its network count, and a pop has neither', async () => {
    const finished = async (ad_kind: 'banner' | 'pop') => {
      const [block] = adBlocks(1);
      const scan = await farm.submit({ job_kind: 'sweep', ad_block: { ...block!, ad_kind } });
      const config = { pattern: 'buy-now' };
      await addRule(farm, scan, 'pushy', { rule_type: 'regexp_content', target: 'creative', config });
      const lease = await farm.acquireOne();
      const markup = Buffer.from('<a class="buy-now">Buy</a>');
      const type = 'text/plain; charset=utf-8';
      if (ad_kind === 'banner') await farm.node.upload(lease, 'creative.html', type, markup);
      const artifacts = ad_kind === 'banner' ? [named('creative.html', markup, type)] : [];
      const about = { url: 'https://ads.example/', page_url: 'https://news.example/', page_title: '' };
      const creative = { ...about, width: 0, height: 0, redirect_chain: [] };
      const requests = [requestOf(1, { url: 'https://securepubads.g.doubleclick.net/tag.js', surface: 'creative' })];
      const chain = ad_kind === 'pop' ? ['https://shop.example/'] : [];
      await farm.node.complete(lease, captureOf(chain, { artifacts, creative, requests }));
      await work();
      return farm.read(scan._id);
    };
    const [banner, pop] = [await finished('banner'), await finished('pop')];
    assert.deepEqual([banner.network, banner.network_host], ['Example Ads', 'ads.example']);
    assert.deepEqual(
      banner.tags.map(({ tag_slug, surface }) => [tag_slug, surface]),
      [
        ['creative_empty', 'creative'],
        ['pushy', 'creative'],
      ],
    );
    assert.deepEqual([pop.network, pop.network_host, pop.tags], ['Example Ads', '', []]);
    assert.deepEqual([banner.status, banner.error, pop.status, pop.error], ['completed', '', 'completed', '']);
  });

  it('§2.5.3 skips a combo with an archived input, even if the combo requires its absence', async () => {
    const scan = await farm.submit();
    await addRule(farm, scan, 'new', { rule_type: 'combo', config: { none_of: ['old'] } });
    await farm.tags.register([{ ...ownTag(scan.organization_id, 'old'), archived_at: new Date() }], new Date());
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://shop.example/']));
    await work();
    assert.deepEqual((await farm.read(scan._id)).tags, []);
  });

  it('§8.4 ends as partial and names the rules that were skipped because the budget was spent', async () => {
    const scan = await crawled();
    await addRule(farm, scan, 'slow', { rule_type: 'regexp_url', config: { pattern: 'shop' } });
    await finishCrawled({ ...farm.farm.dependencies, ruleBudgetMs: 0 }, new Date());
    const { status, error, tags, rules_out_of_budget } = await farm.read(scan._id);
    const missing = 'checks: rules skipped, the time budget was spent: "slow"';
    assert.deepEqual([status, error, tags.length], ['partial', missing, 1]);
    assert.equal(rules_out_of_budget?.total, 1);
    assert.partialDeepStrictEqual(rules_out_of_budget?.rules, [{ rule_name: 'slow', rule_type: 'regexp_url' }]);
  });

  it('§2.1.21 lists the rules that the budget did not suffice for until a recheck has run them', async () => {
    const scan = await crawled();
    await addRule(farm, scan, 'slow', { rule_type: 'regexp_url', config: { pattern: 'shop' } });
    await finishCrawled({ ...farm.farm.dependencies, ruleBudgetMs: 0 }, new Date());
    const presented = async () =>
      presentScan(await farm.read(scan._id), NO_SCAN_EVIDENCE, { publicUrl: 'https://x.example', hasConsole: true });
    assert.equal((await presented()).rules_out_of_budget.total, 1);
    await changeScan(farm.scans, await farm.read(scan._id), { type: 'recheck', id: 'again' }, new Date());
    await work();
    assert.deepEqual((await presented()).rules_out_of_budget, { total: 0, rules: [] });
  });

  it('§8.4 ends as partial and names unreadable rules; the others match', async () => {
    const scan = await farm.submit();
    await addRule(farm, scan, 'unreadable', { rule_type: 'regexp_url', config: { pattern: 'kit-(' } });
    await addRule(farm, scan, 'readable', { rule_type: 'regexp_url', config: { pattern: 'shop' } });
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://shop.example/']));
    await work();
    const finished = await farm.read(scan._id);
    const error = 'checks: rules that could not be read: "unreadable"';
    assert.deepEqual([finished.status, finished.error, slugsOf(finished)], ['partial', error, ['readable']]);
  });

  it('§3.6 loses only the findings of a detector that fails, and names it', async () => {
    const scan = await crawled();
    const broken: Detector<Need> = {
      name: 'broken',
      needs: [],
      detect: () => {
        throw new Error('a detector with a fault');
      },
    };
    const analyse: Analyse = async (packed) => {
      const { evidence: captured } = unpackScan(packed);
      return { inspection: inspect({ captured, judged: captured }, packed.scan, [broken, ...detectors]), search: [] };
    };
    await finishCrawled({ ...farm.farm.dependencies, analyse }, new Date());
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.error], ['partial', 'checks: broken']);
    assert.deepEqual(slugsOf(finished), ['autosound']);
  });

  it('§3.6 ends as partial if the screenshot or the text is missing, and its error names both', async () => {
    const scan = await farm.submit();
    const notes = [note('picture', { landing: 0 }), note('title', { landing: 1 }), note('dialogs', { count: 2 })];
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://shop.example/'], { notes }));
    await work();
    const finished = await farm.read(scan._id);
    const error =
      'checks: the screenshot of landing 0 could not be taken: screenshot, the title of landing 1 could not be read: rules';
    assert.deepEqual([finished.status, finished.error], ['partial', error]);
  });

  it('ends as completed if no judgement rests on what is missing', async () => {
    const scan = await farm.submit();
    const notes = [note('dialogs', { count: 2 }), note('picture', { landing: 1 })];
    await farm.node.complete(await farm.acquireOne(), captureOf(['https://shop.example/'], { notes }));
    await work();
    assert.equal((await farm.read(scan._id)).status, 'completed');
  });

  it('sets completed_at to its end, not to its beginning', async () => {
    const scan = await crawled();
    const slow = { ...farm.farm.dependencies, readPackedCapture: slowly(farm.farm.dependencies.readPackedCapture, 60) };
    await finishCrawled(slow, new Date());
    const { crawled_at, completed_at } = await farm.read(scan._id);
    assert.ok(crawled_at && completed_at);
    assert.ok(completed_at.getTime() - crawled_at.getTime() >= 50, 'the checks are part of the time they take');
  });

  it('§3.6 ends as partial if the evidence is gone', async () => {
    const scan = await crawled();
    await farm.store.collection('captures').deleteMany({ scan_id: scan._id });
    await work();
    assert.equal((await farm.read(scan._id)).status, 'partial');
  });

  it('§4.2.11 ignores skipped domains, while the scan still shows the whole chain', async () => {
    const chain = ['https://go.tracker.example/', 'https://www.shop.example/'];
    const scan = await farm.submit({ ignore_first_n_domains: 2 });
    const lease = await farm.acquireOne();
    await farm.node.complete(lease, captureOf(chain, { observations: [LOUD] }));
    await work();
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.tags, finished.classification?.brand], [[], null]);
    const [landing] = (await farm.farm.evidenceOf(finished)).landings;
    assert.deepEqual(
      landing?.redirect_chain.map(({ url }) => url),
      chain,
    );
  });
});
