import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { type Note, note } from '@adsweep/shared/capture/notes.ts';
import { newId } from '@adsweep/shared/ids.ts';
import sharp from 'sharp';
import { builtInTag } from '../../../src/reference/tags/tag-definitions.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { usageKindOf } from '../../../src/scan/usage-kind.ts';
import { NO_SCAN_EVIDENCE } from '../../../src/scanning/scans/api/evidence.ts';
import { presentScan } from '../../../src/scanning/scans/api/present-scan.ts';
import { childScanId, newChildScan } from '../../../src/scanning/scans/request/new-child-scan.ts';
import { adBlocks, listedBlocks } from '../../support/ad-blocks.ts';
import { PUBLIC_URL } from '../../support/open-plane.ts';
import { type Json, KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';
import { captureOf, requestOf, webp } from '../../support/running-farm.ts';
import { sampleVast } from '../../support/sample-vast.ts';
import { type CapturedFile, storeCapture } from '../../support/store-capture.ts';
import { CREATED, finished, later, record, tag } from '../../support/stored-scan.ts';

describe('reading scans', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  /** The scan with a capture as if a node had uploaded it. */
  async function captured(scan: ScanRecord, seen: Partial<Capture>, files: CapturedFile[] = []): Promise<ScanRecord> {
    const summary = await storeCapture(api, scan._id, captureOf([], seen), files);
    return { ...scan, capture: { ...scan.capture!, id: summary.id } };
  }
  const read = async (scan: ScanRecord): Promise<Json> => {
    await api.scans.insertUnlessExists(scan);
    return (await api.get(`/api/v1/scans/${scan._id}`)).body;
  };

  test('§2.1.12 §1.2 every field of a scan is present from the start', async () => {
    const body = await read(record());
    const declared = (await api.get('/api/v1/openapi.json')).body.components.schemas.Scan.required;
    assert.deepEqual(Object.keys(body).sort(), [...declared].sort());
    assert.equal('repeat_scan_ids' in body, false);
    for (const field of ['classification', 'timing', 'exit', 'completed_at', 'video', 'vast', 'parent_scan_id'])
      assert.equal(body[field], null, field);
    for (const field of ['offer_url', 'screenshot_url', 'page_title', 'error', 'network', 'network_host'])
      assert.equal(body[field], '', field);
    assert.deepEqual(body.labels, {});
    for (const field of ['redirect_chain', 'landings', 'creative_redirect_chain']) assert.deepEqual(body[field], []);
    assert.deepEqual([body.repeat_index, body.repeat_total, body.repeat_session_id], [0, 1, null]);
    assert.equal(body.creative_kind, 'banner');
  });

  test('§2.1.7 classification, labels and timing are present on finished scans', async () => {
    for (const status of ['completed', 'partial'] as const) {
      const body = await read(finished({ status }));
      assert.equal(body.classification.brand, 'Acme (Ltd.)');
      assert.deepEqual(body.labels, { team: 'red' });
      assert.deepEqual(body.timing, { queued_ms: 4_000, crawl_ms: 4_000, checks_ms: 2_000, total_ms: 10_000 });
      assert.equal(body.elapsed_ms, 4_000);
    }
    const checking = await read(finished({ status: 'checking', completed_at: null }));
    assert.deepEqual([checking.classification, checking.labels, checking.timing], [null, {}, null]);
  });

  test('§2.1.19 a scan lists what was left out of its capture; free text of earlier versions is not shown', async () => {
    const old = { collector: 'documents', text: '<script>' } as unknown as Note;
    const notes = [note('picture', { landing: 0 }), note('requests', { count: 12 }), old];
    const body = await read(await captured(finished(), { notes }));
    assert.deepEqual(body.left_out, [
      { kind: 'picture', landing: 0, count: 0, text: 'The screenshot of landing 0 could not be taken.' },
      {
        kind: 'requests',
        landing: null,
        count: 12,
        text: '12 requests were left out because the capture was too large.',
      },
    ]);
  });

  test('a finished scan has the fields of its request and of its capture', async () => {
    const scan = finished({ referrer: 'https://news.example/', ignore_first_n_domains: 3, retry_max_attempts: 2 });
    const body = await read(scan);
    assert.equal(body.exit.attempts, 2);
    assert.equal(body.exit.ip, null);
    assert.equal(body.network_host, 'ads.example');
    assert.deepEqual([body.referrer, body.ignore_first_n_domains], ['https://news.example/', 3]);
    assert.deepEqual([body.retry_attempt, body.retry_max_attempts], [1, 2]);
    assert.equal(body.created_at, CREATED.toISOString());
    assert.equal(body.completed_at, later(10_000).toISOString());
  });

  test('all links are absolute', async () => {
    const scan = finished();
    const body = await read(scan);
    assert.equal(body.screenshot_url, `${PUBLIC_URL}/api/v1/scans/${scan._id}/screenshot`);
    assert.equal(body.public_report_url, `${PUBLIC_URL}/r/${scan.report_token}`);
    assert.equal(body.report_url, `${PUBLIC_URL}/console/scans/${scan._id}`);
  });

  test('§2.1.8 the redirect chain is that of landing 0, each hop with its kind and sub-requests', async () => {
    const seen = {
      url: 'https://shop.example/',
      kind: 'initial' as const,
      status_code: 200,
      content_type: 'text/html',
      body_size: 10,
      timestamp_ms: 5,
      redirected_from: '',
    };
    const landing = {
      ...{ opener_url: '', final_url: seen.url, page_title: 'Offer', site_name: '', elapsed_ms: 20 },
      opened_at_ms: 500,
    };
    const landings = [
      { ...landing, ord: 0, screenshot: 'landing-0.webp', redirect_chain: [seen] },
      { ...landing, ord: 1, screenshot: null, redirect_chain: [], opened_at_ms: Number.MAX_VALUE },
    ];
    const scan = await captured(finished(), { started_at: later(3_000).toISOString(), landings });
    const body = await read(scan);
    assert.deepEqual(body.redirect_chain, [{ ...seen, sub_requests: [] }]);
    assert.equal(body.landings[0].screenshot_url, `${PUBLIC_URL}/api/v1/scans/${scan._id}/landings/0/screenshot`);
    assert.equal(body.landings[0].created_at, later(3_500).toISOString());
    assert.equal(body.landings[1].screenshot_url, '');
    assert.equal(body.landings[1].created_at, CREATED.toISOString(), "a node's nonsense is no time");
  });

  test('§2.1.8 the creative of an ad tag has its size, its artifacts and a chain of its own', async () => {
    const pixel = requestOf(1, {
      ...{ url: 'https://ads.example/pixel.gif', resource_type: 'image', content_type: 'image/gif', body_size: 43 },
      ...{ timestamp_ms: 60, landing: null, surface: 'creative' },
    });
    const { url, resource_type, status_code, content_type, body_size, timestamp_ms } = pixel;
    const request = { url, status_code, content_type, body_size, timestamp_ms };
    const frame = { ...request, url: 'https://ads.example/frame', kind: 'initial' as const, redirected_from: '' };
    const creative = {
      ...{ url: frame.url, width: 300, height: 250, page_url: 'https://news.example/', page_title: '' },
      redirect_chain: [frame],
    };
    const files = [
      {
        name: 'creative.jpeg',
        bytes: await sharp(await webp(300, 250))
          .jpeg()
          .toBuffer(),
      },
      { name: 'creative.html', bytes: Buffer.from('<b>an ad</b>') },
    ];
    const adTag = finished({ target: { kind: 'ad_tag', value: '<b>an ad</b>' } });
    const scan = await captured(adTag, { landings: [], requests: [pixel], creative }, files);
    const body = await read(scan);
    assert.deepEqual([body.creative_width, body.creative_height], [300, 250]);
    const subRequest = { ...request, resource_type, children: [] };
    assert.deepEqual(body.creative_redirect_chain, [{ ...frame, sub_requests: [subRequest] }]);
    assert.deepEqual(body.redirect_chain, []);
    assert.equal(body.creative_screenshot_url, `${PUBLIC_URL}/api/v1/scans/${scan._id}/creative-screenshot`);
    assert.equal(body.creative_html_url, `${PUBLIC_URL}/api/v1/scans/${scan._id}/creative-html`);
    const page = await read(finished());
    assert.deepEqual([page.creative_redirect_chain, page.creative_screenshot_url, page.creative_width], [[], '', 0]);
  });

  test('§2.1.11 §2.1.13 a VAST tag is a video, with its metadata, its wrappers and its trackers declared against fired', async () => {
    const texts = ['vast.xml', 'creative-video'].map((name) => ({ name, bytes: Buffer.from(name) }));
    const companion = await sharp(await webp(300, 250))
      .jpeg()
      .toBuffer();
    const files = [...texts, { name: 'companion-1.jpeg', bytes: companion }];
    const vastTag = finished({ target: { kind: 'vast_tag', value: 'https://exchange.example/tag' } });
    const scan = await captured(vastTag, { landings: [], vast: sampleVast() }, files);
    const body = await read(scan);
    assert.equal(body.creative_kind, 'video');
    assert.deepEqual(body.video, {
      duration_ms: 10_000,
      mediafile_url: 'https://cdn.example/a.mp4',
      vast_version: '4.2',
      ad_system: 'server',
      is_vpaid: false,
      wrapper_depth: 1,
      click_through: 'https://shop.example/',
    });
    assert.deepEqual(
      body.vast.wrappers.map(({ parent, depth, outcome, url }: Record<string, unknown>) => [
        parent,
        depth,
        outcome,
        url,
      ]),
      [
        [null, 0, 'ads', 'https://exchange.example/tag'],
        [0, 1, 'ads', 'https://server.example/inline'],
      ],
    );
    assert.deepEqual(
      body.vast.trackers.map(({ event, requested_at_ms, status_code }: Record<string, unknown>) => [
        event,
        requested_at_ms,
        status_code,
      ]),
      [
        ['impression', 1_200, 200],
        ['skip', null, 0],
      ],
    );
    assert.deepEqual(body.creative_redirect_chain, []);
    assert.equal(body.vast_xml_url, `${PUBLIC_URL}/api/v1/scans/${scan._id}/vast-xml`);
    const path = (place: number) => `/api/v1/scans/${scan._id}/companions/${place}/screenshot`;
    assert.deepEqual(body.vast.companions, [{ place: 1, screenshot_url: PUBLIC_URL + path(1) }]);
    assert.deepEqual([(await api.get(path(1))).status, (await api.get(path(0))).status], [200, 404]);
  });

  test('§4.2.17 tags are read apart from the scan, without those whose definition is archived', async () => {
    const scan = finished({ tags: [tag('back_button', 'https://offer.example/'), tag('autosound')] });
    await api.tags.setArchived(builtInTag('autosound')!, new Date(), new Date());
    const body = await read(scan);
    assert.equal('tags' in body, false);
    assert.deepEqual((await api.get(`/api/v1/scans/${scan._id}/tags`)).body, [
      {
        id: 'tag-back_button',
        scan_id: scan._id,
        tag_slug: 'back_button',
        detail: 'seen',
        url: 'https://offer.example/',
        surface: 'page',
        display_name: 'Back button hijack',
        category: 'behavior',
        severity: 'medium',
        created_at: later(9_000).toISOString(),
        match: null,
      },
    ]);
  });

  test('a list names what was found, each tag once, the most severe first, without those whose definition is archived', async () => {
    const slugs = ['creative_interactive', 'back_button', 'auto_redirect', 'back_button', 'autosound'];
    const scan = finished({ tags: slugs.map((slug) => tag(slug)) });
    await api.tags.setArchived(builtInTag('autosound')!, new Date(), new Date());
    await read(scan);
    const { items } = (await api.get(`/api/v1/scans?scan_id=${scan._id}&date_from=2026-03-01`)).body;
    assert.deepEqual(items[0].tags, [
      { tag_slug: 'auto_redirect', display_name: 'Automatic redirect', severity: 'high' },
      { tag_slug: 'back_button', display_name: 'Back button hijack', severity: 'medium' },
      { tag_slug: 'creative_interactive', display_name: 'Interactive creative', severity: 'low' },
    ]);
  });

  test('a scan that does not exist gives 404 for any form of id', async () => {
    for (const id of ['x', '00000000-0000-0000-0000-000000000000', '%00', '$ne', 'a'.repeat(5000)])
      assert.equal((await api.get(`/api/v1/scans/${id}`)).status, 404, id);
  });

  test('§3.5 cancelling a pending scan returns 1 and refunds its charge, repeating it returns 0', async () => {
    const { body } = await api.post('/api/v1/scans', PAGE);
    assert.deepEqual((await api.post(`/api/v1/scans/${body.id}/cancel`)).body, { cancelled_count: 1 });
    assert.deepEqual((await api.post(`/api/v1/scans/${body.id}/cancel`)).body, { cancelled_count: 0 });
    const scan = await api.scans.find(ORGANIZATIONS.ours, body.id);
    assert.equal(scan?.status, 'cancelled');
    assert.deepEqual(
      scan?.outbox.map(({ id }) => id),
      [`charge:${body.id}`, `refund:${body.id}`],
    );
  });

  test('§4.2.2 §2.1.3 a sweep lists its ads, each with its scan; their scans are listed in the order of the page', async () => {
    const discovery = { ad_formats: null, max_discovered_ads: 2 };
    const change = { job_kind: 'sweep' as const, discovery, labels: { team: 'red' }, ignore_first_n_domains: 2 };
    const [capped] = adBlocks(3).map((block) => ({ ...block, not_scanned: 'cap' as const }));
    const sweep = await captured(finished(change), { ad_blocks: [...listedBlocks(1, 2), capped!] });
    const lease = { fence: 1, node_id: 'node', leased_at: CREATED };
    const [banner, pop] = adBlocks(2, 1) as [AdBlock, AdBlock];
    const blocks = [banner, { ...pop, ad_kind: 'pop' as const }];
    for (const block of blocks) await api.scans.insertUnlessExists(newChildScan(sweep, block, lease, CREATED));
    const body = await read(sweep);
    const { identity, ...seen } = adBlocks(1)[0]!;
    const [scanned, , unscanned] = body.ad_blocks;
    assert.deepEqual(scanned, { ...seen, scan_id: childScanId(sweep._id, { identity }), not_scanned: null });
    assert.deepEqual([unscanned.scan_id, unscanned.not_scanned], [null, 'cap']);
    const children = `/api/v1/scans/${sweep._id}/children`;
    const whole = (await api.get(children)).body;
    assert.deepEqual([whole.total, whole.pages, whole.next_cursor], [2, 1, null]);
    const row = (one: Json) => [
      one.slot_index,
      one.ad_kind,
      one.network,
      one.network_host,
      one.parent_scan_id,
      one.status,
    ];
    assert.deepEqual(whole.items.map(row), [
      [0, 'pop', 'Example Ads', '', sweep._id, 'running'],
      [1, 'banner', 'Example Ads', 'ads.example', sweep._id, 'running'],
    ]);
    const first = (await api.get(`${children}?limit=1`)).body;
    const second = (await api.get(`${children}?limit=1&cursor=${first.next_cursor}`)).body;
    assert.deepEqual([...first.items, ...second.items], whole.items);
    assert.deepEqual(
      [second.next_cursor, (await api.get(`${children}?limit=1&page=2`)).body.items],
      [null, second.items],
    );
    assert.equal((await api.get(`/api/v1/scans?parent_scan_id=${sweep._id}`)).body.total, 2);
    assert.equal((await api.get(`${children}?key=`, { key: KEYS.theirs })).status, 422);
    assert.equal((await api.get(children, { key: KEYS.theirs })).status, 404);
    const child = (await api.get(`/api/v1/scans/${whole.items[1].id}`)).body;
    const { ad_blocks, ad_discovery, creative_kind, creative_redirect_chain, ignore_first_n_domains } = child;
    assert.deepEqual([ad_blocks, ad_discovery, creative_kind, creative_redirect_chain], [null, false, 'banner', []]);
    assert.deepEqual([child.url, ignore_first_n_domains, child.retry_max_attempts], [body.url, 2, 0]);
  });

  test('§2.1.22 report_url is the page of the scan at the console, and the public report where there is no console', () => {
    const urls = { publicUrl: 'https://adsweep.example', hasConsole: true };
    const scan = record();
    const { report_url, public_report_url } = presentScan(scan, NO_SCAN_EVIDENCE, urls);
    assert.equal(report_url, `https://adsweep.example/console/scans/${scan._id}`);
    assert.equal(public_report_url, `https://adsweep.example/r/${scan.report_token}`);
    const without = presentScan(scan, NO_SCAN_EVIDENCE, { ...urls, hasConsole: false });
    assert.equal(without.report_url, without.public_report_url);
  });

  test('§4.2.26 the summary counts the scans of the organization that wait, run, and ended in the last hour', async () => {
    const before = (await api.get('/api/v1/scans/summary')).body;
    const ended = (minutesAgo: number, status: ScanRecord['status']) => ({
      ...record({ _id: newId(), status }),
      completed_at: new Date(Date.now() - minutesAgo * 60_000),
    });
    const waiting = [record({ _id: newId(), status: 'pending' }), record({ _id: newId(), status: 'checking' })];
    const scans = [...waiting, ended(1, 'completed'), ended(2, 'failed'), ended(61, 'completed')];
    await api.store.collection<ScanRecord>('scans').insertMany(scans);
    const { waiting: waits, running, ended: counts } = (await api.get('/api/v1/scans/summary')).body;
    assert.deepEqual([waits - before.waiting, running - before.running], [1, 1]);
    assert.deepEqual(
      [counts.completed - before.ended.completed, counts.failed - before.ended.failed, counts.partial],
      [1, 1, before.ended.partial],
    );
    await api.store.collection<ScanRecord>('scans').deleteMany({ _id: { $in: scans.map(({ _id }) => _id) } });
  });

  test('§4.5.7 a sweep and its ads are charged as kinds of their own', () => {
    const sweep = record({ discovery: { ad_formats: null, max_discovered_ads: 2 } });
    const [child] = adBlocks(1).map((block) =>
      newChildScan(sweep, block, { fence: 1, node_id: 'node', leased_at: CREATED }, CREATED),
    );
    assert.deepEqual([record(), sweep, child!].map(usageKindOf), ['url', 'ad_discovery', 'discovered_ad']);
    assert.partialDeepStrictEqual(child!.outbox, [{ kind: 'charge', target_kind: 'discovered_ad' }]);
  });

  test('§3.5 neither a discovered ad nor a sweep that has found ads is cancelled while it waits', async () => {
    const discovery = { ad_formats: null, max_discovered_ads: 2 };
    const found_ads = { identities: [adBlocks(1)[0]!.identity], total: 1, sequence: 1 };
    const sweep = record({ job_kind: 'sweep', discovery, found_ads });
    const ad = record({ ad_block: adBlocks(1)[0]!, parent_scan_id: sweep._id });
    for (const scan of [sweep, ad]) {
      await api.scans.insertUnlessExists(scan);
      const { status, body } = await api.post(`/api/v1/scans/${scan._id}/cancel`);
      assert.deepEqual([status, body.code], [409, 'scanning.part_of_sweep']);
      assert.equal((await api.scans.find(ORGANIZATIONS.ours, scan._id))?.status, 'pending');
    }
    const before = record({ job_kind: 'sweep', discovery });
    await api.scans.insertUnlessExists(before);
    assert.deepEqual((await api.post(`/api/v1/scans/${before._id}/cancel`)).body, { cancelled_count: 1 });
  });

  test('a scan that is running is not cancelled', async () => {
    const scan = record({ status: 'running', lease: { fence: 1, node_id: 'n', leased_at: CREATED } });
    await api.scans.insertUnlessExists(scan);
    assert.deepEqual((await api.post(`/api/v1/scans/${scan._id}/cancel`)).body, { cancelled_count: 0 });
  });
});
