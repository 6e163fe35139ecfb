import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { until } from '../../../../shared/test/support/until.ts';
import { createApp } from '../../../src/compose/create-app.ts';
import { notFound } from '../../../src/http/api-error.ts';
import { QueueFull } from '../../../src/platform/bounded-queue.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { reportRoutes } from '../../../src/scanning/reports/routes.ts';
import {
  hostileLandings,
  sampleEvidence,
  sampleLanding,
  sampleScan,
  sampleTagWords,
} from '../../support/sample-scan.ts';
import { sampleAdScan, sampleAds, sampleSweep } from '../../support/sample-sweep.ts';

const mine = sampleScan();
const other = sampleScan({ _id: 'other', report_token: 'ZzZzZzZzZzZzZzZzZzZzZz' });
const theirs = sampleScan({ _id: 'theirs', organization_id: 'theirs', report_token: 'TtTtTtTtTtTtTtTtTtTtTt' });
const inProgress = sampleScan({ _id: 'in progress', report_token: 'UuUuUuUuUuUuUuUuUuUuUu', status: 'running' });
const swept = sampleAds(2);
const sweep = sampleSweep();
const ads = swept.map((block, at) => sampleAdScan(block, at === 1 ? { status: 'running', capture: null } : {}));
const scans = [mine, other, theirs, inProgress, sweep, ...ads];
/** The tokens of the reports that were requested. */
const sought = new Set<string>();
/** Until this resolves, no report is made. */
let reading = Promise.resolve();
const PNG = Buffer.from('not really a picture');
/** The scans whose pictures are being answered; until this resolves, none is. */
const pictured: string[] = [];
let resizing = Promise.resolve();
let pictureForMessage: () => Promise<Buffer | null> = async () => null;

const routes = reportRoutes({
  publicUrl: 'http://api.example',
  readHome: async () => ({ demoReport: null, hasConsole: false, publicUrl: 'http://api.example' }),
  find: async (organizationId, id) =>
    scans.find(({ _id, organization_id }) => _id === id && organization_id === organizationId) ?? null,
  campaignNameOf: async () => null,
  discoveredBy: async ({ organizationId, jobId }, id) =>
    ads.filter((one) => one.organization_id === organizationId && one.job_id === jobId && one.parent_scan_id === id),
  findByReportToken: async (token) => scans.find((scan) => scan.report_token === token) ?? null,
  ownerOfReport: async (token) => {
    sought.add(token);
    return scans.find((scan) => scan.report_token === token)?.organization_id ?? null;
  },
  evidenceOf: async (scan) => {
    await reading;
    return sampleEvidence(scan === mine ? [sampleLanding(0)] : hostileLandings());
  },
  pictureForMessage: () => pictureForMessage(),
  answerPicture: async (scan: ScanRecord, of, { width, isWhole }) => {
    pictured.push(scan._id);
    await resizing;
    if (of !== 'page' && of !== 0) throw notFound('screenshot');
    return {
      status: 200,
      body: PNG,
      type: 'image/webp',
      headers: { ETag: `"${scan._id}-${width}${isWhole ? '-whole' : ''}"` },
    };
  },
  tagWordsFor: async () => sampleTagWords,
});

describe('the routes of a public report', () => {
  let server: Server;
  let base: string;
  before(async () => {
    const logger = createLogger('test', 'silent');
    const admit = () => assert.fail('a report needs no login');
    const app = createApp({
      routes,
      admit,
      readyChecks: [],
      registry: new Registry(),
      metricsToken: 'metrics-token',
      logger,
      seen: () => {},
      docs: false,
    });
    server = createServer(app.callback());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => new Promise((resolve) => server.close(resolve)));

  it('lets two reports be read at once and 40 of an organization wait; its next reader gets a page that reloads itself', async () => {
    const held = Promise.withResolvers<void>();
    reading = held.promise;
    const path = `/r/${mine.report_token}`;
    const answers = Array.from({ length: 50 }, () => get(path));
    const refused: Response[] = [];
    for (const answer of answers) void answer.then((one) => one.status === 503 && refused.push(one));
    await until('the others are refused', () => refused.length === 8);
    const [busy] = refused;
    assert.equal(busy!.headers.get('retry-after'), '3');
    assert.equal(busy!.headers.get('refresh'), '3');
    assert.match(await busy!.text(), /Many reports are being read/);
    const ofOthers = get(`/r/${theirs.report_token}`);
    await until('the report of another organization is read', () => sought.has(theirs.report_token));
    held.resolve();
    assert.equal((await ofOthers).status, 200);
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 42);
  });

  it('lets 16 pictures of an organization be answered at once, however many are asked for, and does not delay another’s', async (t) => {
    const held = Promise.withResolvers<void>();
    t.after(() => held.resolve());
    resizing = held.promise;
    pictured.length = 0;
    const answers = Array.from({ length: 100 }, () => get(`/r/${mine.report_token}/screenshot`));
    await until('some are being answered', () => pictured.length === 16);
    const ofOthers = get(`/r/${theirs.report_token}/screenshot`);
    await until('a picture of another organization is answered', () => pictured.includes(theirs._id));
    assert.equal(pictured.length, 17);
    held.resolve();
    assert.equal((await ofOthers).status, 200);
    for (const { status } of await Promise.all(answers)) assert.equal(status, 200);
  });

  it('asks for patience while too many pictures for messages are being made', async (t) => {
    const before = pictureForMessage;
    t.after(() => {
      pictureForMessage = before;
    });
    pictureForMessage = () => Promise.reject(new QueueFull('too many tasks are waiting'));
    const answer = await get(`/r/${mine.report_token}/picture.jpg`);
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '2']);
    pictureForMessage = async () => PNG;
    const { status, headers } = await get(`/r/${mine.report_token}/picture.jpg`);
    assert.deepEqual([status, headers.get('x-robots-tag')], [200, 'noindex']);
  });

  const get = (path: string, headers: Record<string, string> = {}) => fetch(base + path, { headers });

  it('§1.5 answer without a login, also if a mail program appends parameters to the link', async () => {
    const answer = await get(`/r/${mine.report_token}?utm_source=mail`);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(await answer.text(), /Back button hijacked/);
  });

  it('send headers that forbid scripts, framing, forms and indexing', async () => {
    for (const path of [`/r/${mine.report_token}`, `/r/${other.report_token}`, '/r/nothing']) {
      const { headers } = await get(path);
      assert.equal(
        headers.get('content-security-policy'),
        "default-src 'none'; img-src 'self'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.match(headers.get('x-robots-tag')!, /noindex/);
      assert.match(headers.get('cache-control')!, /private/);
      assert.equal(headers.get('set-cookie'), null);
    }
  });

  it('answer 404 with an HTML page if the token is wrong, a scan id or malformed', async () => {
    for (const token of [
      'AbCdEfGhIjKlMnOpQrStUw',
      mine._id,
      mine.organization_id,
      'x',
      `${'a'.repeat(300)}`,
      '%00',
      '%2e%2e%2fx',
    ]) {
      const answer = await get(`/r/${token}`);
      assert.equal(answer.status, 404, token);
      assert.match(await answer.text(), /Report not found/);
    }
  });

  it('show only the scan of the token', async () => {
    const page = await (await get(`/r/${mine.report_token}`)).text();
    assert.ok(!page.includes(other.report_token) && !page.includes('evil.example'));
  });

  it('serve only the pictures of their scan, in the requested width', async () => {
    const whole = await get(`/r/${mine.report_token}/screenshot`);
    assert.equal(whole.headers.get('content-type'), 'image/webp');
    assert.equal(whole.headers.get('etag'), `"${mine._id}-null"`);
    assert.match(whole.headers.get('x-robots-tag')!, /noindex/);
    assert.deepEqual(Buffer.from(await whole.arrayBuffer()), PNG);
    const landing = await get(`/r/${mine.report_token}/landings/0/screenshot?w=400`);
    assert.equal(landing.headers.get('etag'), `"${mine._id}-400"`);
    const uncropped = await get(`/r/${mine.report_token}/screenshot?w=400&whole=yes`);
    assert.equal(uncropped.headers.get('etag'), `"${mine._id}-400-whole"`);
    for (const ord of [7, 1_000])
      assert.equal((await get(`/r/${mine.report_token}/landings/${ord}/screenshot`)).status, 404);
    assert.equal((await get('/r/AbCdEfGhIjKlMnOpQrStUw/screenshot')).status, 404);
    assert.equal((await get(`/r/${mine.report_token}/screenshot?w=99`)).status, 422);
    assert.equal((await get(`/r/${mine.report_token}/screenshot?w=1201`)).status, 422);
  });

  it('serve every file to which the page links', async () => {
    const page = await (await get(`/r/${mine.report_token}`)).text();
    const links = [...page.matchAll(/\b(?:href|src)="([^"#][^"]*)"/g)].map(
      ([, link]) => new URL(link!, `${base}/r/x`).href,
    );
    assert.ok(links.length >= 4);
    for (const link of links) assert.equal((await fetch(link)).status, 200, link);
    const stylesheet = await fetch(links.find((link) => link.includes('report.css'))!);
    assert.equal(stylesheet.headers.get('content-type'), 'text/css; charset=utf-8');
  });

  it('find the other scans of a sweep, and reload the page of a sweep while those of its ads are running', async () => {
    const answer = await get(`/r/${sweep.report_token}`);
    assert.equal(answer.headers.get('refresh'), '5');
    for (const { report_token } of ads) {
      assert.match(await (await get(`/r/${sweep.report_token}`)).text(), new RegExp(`href="${report_token}"`));
      assert.match(await (await get(`/r/${report_token}`)).text(), new RegExp(`href="${sweep.report_token}"`));
    }
  });

  it('make the page reload itself while the scan is in progress, unless the reader stops it', async () => {
    const renewing = await get(`/r/${inProgress.report_token}?utm_source=mail`);
    assert.equal(renewing.headers.get('refresh'), '5');
    const [, stop = ''] = /<a href="([^"]+)">Stop reloading/.exec(await renewing.text()) ?? [];
    const still = await get(`/r/${stop}`);
    assert.equal(still.headers.get('refresh'), null);
    const [, go = ''] = /<a href="([^"]+)">Reload every 5 seconds/.exec(await still.text()) ?? [];
    assert.equal((await get(`/r/${go}`)).headers.get('refresh'), '5');
    const etag = renewing.headers.get('etag')!;
    const unchanged = await get(`/r/${inProgress.report_token}`, { 'if-none-match': etag });
    assert.deepEqual([unchanged.status, unchanged.headers.get('refresh')], [304, '5']);
    assert.equal((await get(`/r/${mine.report_token}`)).headers.get('refresh'), null);
  });

  it('answer 304 to a browser that has the current page', async () => {
    const first = await get(`/r/${mine.report_token}`);
    const again = await get(`/r/${mine.report_token}`, { 'if-none-match': first.headers.get('etag')! });
    assert.equal(again.status, 304);
    assert.match(again.headers.get('content-security-policy')!, /default-src 'none'/);
  });
});
