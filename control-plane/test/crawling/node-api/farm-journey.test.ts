import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import type { EventPayload } from '@adsweep/shared/events/event-kinds.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { Registry } from 'prom-client';
import sharp from 'sharp';
import { until } from '../../../../shared/test/support/until.ts';
import { countWork } from '../../../src/crawling/fleet/count-work.ts';
import { newIdentity } from '../../../src/crawling/fleet/credentials.ts';
import { nodes } from '../../../src/crawling/fleet/nodes.ts';
import { workMetrics } from '../../../src/metrics.ts';
import { LOUD } from '../../support/checked-scans.ts';
import { PRICE_MICROS, PUBLIC_URL } from '../../support/open-plane.ts';
import {
  captureOf,
  gzJson,
  named,
  type RunningFarm,
  requestOf,
  runningFarm,
  webp,
} from '../../support/running-farm.ts';

const report = { slots: 4, busy: 0, draining: false, adsweep_version: '0.1.0', browser_version: 'test' };

describe('the journey of a scan', { timeout: 20_000 }, () => {
  let farm: RunningFarm;
  before(async () => {
    farm = await runningFarm();
    farm.startLoops();
  });
  after(() => farm.stop());

  it('§6.1 §4.2.9 leads from a crawl job through a node to a finished scan with tags, events and its charge', async () => {
    await farm.node.report('node-1', report);
    const waiting = farm.node.acquire({ node_id: 'node-1', max: 2, wait_ms: 20_000 });
    const submitted = await farm.submit({
      proxy: { proxy_type: 'mobile', region: 'Texas', city: '', isp: '' },
      referrer: 'https://news.example/',
    });
    const { leases } = await waiting;
    const [lease] = leases;
    assert.ok(lease && leases.length === 1);
    assert.deepEqual(
      { ...lease.job, exit_session: '' },
      {
        job_id: submitted._id,
        kind: 'page',
        isolation: 'shared',
        limits: JOB_LIMITS.page,
        exit_session: '',
        members: [
          {
            scan_id: submitted._id,
            attempt: 0,
            target: submitted.target,
            targeting: { country_code: 'US', proxy_type: 'mobile', region: 'Texas', city: '', isp: '' },
            emulator_id: 'windows_chrome',
            referrer: 'https://news.example/',
          },
        ],
      },
    );
    assert.match(lease.job.exit_session, /^[a-z0-9]{20,60}$/);
    assert.equal((await farm.read(submitted._id)).status, 'running');
    assert.deepEqual(await farm.node.renew(lease), { outcome: 'renewed', expires_in_ms: 10_000 });

    const picture = await webp(40, 30);
    const documents = gzJson([]);
    await farm.node.upload(lease, 'landing-0.webp', 'image/webp', picture);
    await farm.node.upload(lease, 'documents.json.gz', 'application/gzip', documents);
    const capture = captureOf(['https://ad.doubleclick.net/click', 'https://www.best-offers.example/win'], {
      artifacts: [named('landing-0.webp', picture), named('documents.json.gz', documents, 'application/gzip')],
      requests: [requestOf(1, { hop: 1 }), requestOf(2, { hop: 1, initiator: 1 })],
      observations: [{ ...LOUD, url: '' }],
    });
    capture.landings[0]!.screenshot = 'landing-0.webp';
    await farm.node.complete(lease, capture);
    const scan = await until('the end of the scan', async () => {
      const now = await farm.read(submitted._id);
      return now.status === 'completed' && now.outbox.length === 0 && now;
    });

    assert.deepEqual(
      scan.tags.map(({ tag_slug, url, surface }) => [tag_slug, url, surface]),
      [['autosound', '', 'page']],
    );
    assert.equal(scan.classification?.brand, 'Best Offers');
    assert.deepEqual([scan.network, scan.network_host], ['Google/Doubleclick Ads', 'ad.doubleclick.net']);
    assert.equal(scan.lease, null);
    assert.equal(scan.capture?.offer_url, 'https://www.best-offers.example/win');
    assert.deepEqual(await farm.ledgerOf(scan.organization_id), [[`charge:${scan._id}`, -PRICE_MICROS]]);

    const events = await farm.eventsOf(scan.organization_id);
    assert.equal(events[0]?.kind, 'scanning.screenshot.captured');
    const common = {
      ...{ scan_id: scan._id, url: scan.target.value, country_code: 'US', emulator_id: 'windows_chrome' },
      ...{ campaign_id: null, run_id: null, parent_scan_id: null, labels: {} },
      report_url: `${PUBLIC_URL}/console/scans/${scan._id}`,
      public_report_url: `${PUBLIC_URL}/r/${scan.report_token}`,
    };
    assert.deepEqual(events[0]?.payload, {
      ...common,
      status: 'crawled',
      screenshot_url: `${PUBLIC_URL}/api/v1/scans/${scan._id}/screenshot`,
      creative_screenshot_url: '',
      page_title: 'A page',
    });
    const later = new Map(events.slice(1).map(({ kind, payload }) => [kind, payload]));
    assert.deepEqual([...later.keys()].sort(), ['scanning.scan.completed', 'scanning.tags.detected']);
    assert.deepEqual(later.get('scanning.tags.detected'), {
      ...common,
      status: scan.status,
      tag_slugs: ['autosound'],
      tags: [{ slug: 'autosound', category: 'behavior', severity: 'medium', url: '' }],
    });

    const [landing] = (await farm.farm.evidenceOf(scan)).landings;
    assert.equal(landing?.redirect_chain[1]?.sub_requests[0]?.children[0]?.url, 'https://shop.example/file-2');
    const stored = await farm.farm.findPicture(scan, 0);
    assert.ok(stored);
    assert.deepEqual([stored.width, stored.height], [40, 30], 'as measured, not as the node says');
    assert.deepEqual(await buffer((await stored.read())!), picture);
    assert.equal(await farm.farm.findPicture(scan, 1), null);
  });

  it('is measured: jobs in the queue, nodes, and outcomes of leases', async () => {
    await farm.farm.nodes.report(newIdentity('drained', 4), { ...report, draining: true });
    const metrics = workMetrics(new Registry());
    const { queue, fleet } = farm.farm.dependencies;
    await queue.enqueue({ jobId: 'a', organizationId: 'a', priority: 1, delayMs: 60_000 });
    await countWork({ queue, fleet, metrics, logger: farm.parts.logger });
    await queue.drop('a', 'a');
    const read = async (gauge: { get(): Promise<{ values: { value: number }[] }> }) =>
      (await gauge.get()).values.map(({ value }) => value);
    assert.deepEqual(await read(metrics.jobs), [0, 0, 0, 1, 0], 'interactive, bulk, campaigns, delayed, leased');
    assert.deepEqual(
      await read(metrics.nodes),
      [1, 0, 0, 0, 1, 0],
      'working, overloaded, waiting, draining, drained, blocked',
    );
    assert.deepEqual(await read(metrics.slots), [0, 4, 0, 0, 4], 'busy, free, overloaded, waiting, draining');
    const later = nodes(farm.redis.client, async () => new Date(Date.now() + 60_000));
    assert.deepEqual(await later.list(), [], 'silent nodes are forgotten');
    assert.equal(await farm.value('adsweep_leases_total', { outcome: 'granted' }), 1);
    assert.equal(await farm.value('adsweep_leases_total', { outcome: 'completed' }), 1);
    assert.equal(await farm.value('adsweep_finished_scans_total', { status: 'completed' }), 1);
  });

  it('keeps the charge if the target failed, and refunds it if the farm failed', async () => {
    const [theirs, ours] = [await farm.submit(), await farm.submit()];
    const { leases } = await farm.node.acquire({ node_id: 'node-1', max: 5, wait_ms: 0 });
    for (const lease of leases) {
      const code = lease.scan_id === ours._id ? ('internal: ERROR' as const) : ('navigation: DOWNLOAD' as const);
      await farm.node.fail(lease, { code, cause: 'a test', capture: null });
    }
    await until('the refund', async () => (await farm.ledgerOf(ours.organization_id)).length === 2);
    assert.deepEqual(Object.fromEntries(await farm.ledgerOf(ours.organization_id)), {
      [`charge:${ours._id}`]: -PRICE_MICROS,
      [`refund:${ours._id}`]: PRICE_MICROS,
    });
    assert.equal((await farm.read(theirs._id)).error, 'navigation: DOWNLOAD');
    assert.equal((await farm.ledgerOf(theirs.organization_id)).length, 1);
  });

  it('§6.1 sends an event for an ad tag with the screenshots of its creative and of the harness page', async () => {
    const target = { kind: 'ad_tag' as const, value: '<b>an ad</b>' };
    const submitted = await farm.submit({ target, job_kind: 'ad_tag' });
    const { leases } = await farm.node.acquire({ node_id: 'node-1', max: 1, wait_ms: 20_000 });
    const [lease] = leases;
    assert.ok(lease);
    assert.deepEqual(lease.job.members[0]?.target, target);
    const picture = await sharp(await webp(300, 250))
      .jpeg()
      .toBuffer();
    const markup = Buffer.from('<b>an ad</b>');
    for (const name of ['creative.jpeg', 'page.jpeg']) await farm.node.upload(lease, name, 'image/jpeg', picture);
    await farm.node.upload(lease, 'creative.html', 'text/plain; charset=utf-8', markup);
    const page_url = 'https://news.example/';
    const creative = { url: page_url, width: 300, height: 250, page_url, page_title: 'news', redirect_chain: [] };
    const artifacts = [
      named('creative.jpeg', picture, 'image/jpeg'),
      named('page.jpeg', picture, 'image/jpeg'),
      named('creative.html', markup, 'text/plain; charset=utf-8'),
    ];
    const facts = { clicked: 2, inert: 'button#next' };
    const observations = [{ kind: 'creative_interactive' as const, landing: null, url: page_url, facts }];
    const capture = captureOf([page_url], { artifacts, observations });
    await farm.node.complete(lease, { ...capture, landings: [], creative });
    const scan = await until('the end of the scan', async () => {
      const now = await farm.read(submitted._id);
      return now.status === 'completed' && now.outbox.length === 0 && now;
    });
    assert.deepEqual(
      scan.tags.map(({ tag_slug, surface }) => [tag_slug, surface]),
      [['creative_interactive', 'creative']],
    );
    const events = await farm.eventsOf(scan.organization_id);
    const { kind, payload } = events.find((one) => (one.payload as { scan_id: string }).scan_id === scan._id) ?? {};
    assert.equal(kind, 'scanning.screenshot.captured');
    const { screenshot_url, creative_screenshot_url, page_title } =
      payload as EventPayload<'scanning.screenshot.captured'>;
    const address = `${PUBLIC_URL}/api/v1/scans/${scan._id}`;
    assert.deepEqual(
      [screenshot_url, creative_screenshot_url, page_title],
      [`${address}/screenshot`, `${address}/creative-screenshot`, 'news'],
    );
    assert.equal((await farm.farm.findPicture(scan, 'page'))?.width, 300);
  });
});
