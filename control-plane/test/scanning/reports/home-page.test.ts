import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findDemoReport } from '../../../src/scanning/reports/demo-report.ts';
import { type RunningApi, runningApi } from '../../support/running-api.ts';

describe('the home page', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  const linksOf = (text: string) => [...text.matchAll(/href="([^"]+)"/g)].map(([, link = '']) => link);

  test('is served without a key, and all of its links work', async () => {
    const { status, headers, text } = await api.get('/?utm_source=mail', { key: null });
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'/);
    assert.match(text, /<h1>Adsweep checks advertising creatives<\/h1>/);
    const links = linksOf(text);
    assert.ok(links.includes('docs') && links.includes('console') && links.includes('api/v1/openapi.json'));
    for (const link of links) assert.equal((await api.get(`/${link}`, { key: null })).status, 200, link);
    assert.ok(!text.includes('demo'), 'the page mentions a demo that does not exist');
    assert.match(text.replaceAll('<wbr>', ''), /curl https:\/\/adsweep\.example\/api\/v1\/scans/);
  });

  test('links to the demo’s report if there is one', async () => {
    await writeFile(join(api.folder, 'demo-report'), 'r/AbCdEfGhIjKlMnOpQrStUv');
    const { text } = await api.get('/', { key: null });
    assert.ok(linksOf(text).includes('r/AbCdEfGhIjKlMnOpQrStUv'));
    assert.match(text.replaceAll('<wbr>', ''), /go\.redirects\.example/);
  });
});

test('the path of the demo’s report is read from the data folder, and ignored unless it has the form of one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'adsweep-home-'));
  assert.equal(await findDemoReport(folder), null);
  for (const [text, found] of [
    ['r/AbCdEfGhIjKlMnOpQrStUv\n', 'r/AbCdEfGhIjKlMnOpQrStUv'],
    ['https://evil.example/r/AbCdEfGhIjKlMnOpQrStUv', null],
    ['"><script>', null],
  ] as const) {
    await writeFile(join(folder, 'demo-report'), text);
    assert.equal(await findDemoReport(folder), found);
  }
  await rm(folder, { recursive: true });
});
