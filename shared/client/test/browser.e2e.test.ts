import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { chromiumOfRun } from '../../../browser-node/test/support/chromium-of-run.ts';
import { freshFolder } from './support/packed-package.ts';

const IMPORTS = {
  '@adsweep/client': '/node_modules/@adsweep/client/dist/client.js',
  'openapi-fetch': '/node_modules/openapi-fetch/dist/index.mjs',
};

/** A page of a user, with the packed client as a module. */
const PAGE = `<!doctype html><title>page</title><script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>
<script type="module">
import { AdsweepError, adsweep, verifyWebhook } from '@adsweep/client';
const api = adsweep({ url: location.origin, key: () => 'token' });
const states = [];
const { status } = await api.scans.wait('scan-1', { onState: (state) => states.push(state.status) });
const picture = await api.getScanScreenshot('scan-1', { w: 400 });
const refused = await api.getScan('none').catch((error) => error instanceof AdsweepError && error.code);
const forged = await verifyWebhook('whsec_AAAA', {}, '').catch((error) => String(error));
document.title = JSON.stringify([status, states, picture.type, refused, forged.startsWith('Error: webhook')]);
</script>`;

/** The API as far as the page asks it, by path; everything else is not found. */
const ANSWERS: Record<string, [type: string, body: string]> = {
  '/': ['text/html', PAGE],
  '/api/v1/scans/scan-1': ['application/json', '{"id":"scan-1","status":"completed"}'],
  '/api/v1/scans/scan-1/events': [
    'text/event-stream',
    ['running', 'completed'].map((status) => `event: state\ndata: {"id":"scan-1","status":"${status}"}\n\n`).join(''),
  ],
  '/api/v1/scans/scan-1/screenshot': ['image/webp', 'picture'],
};

describe('the packed client in a browser', () => {
  let fresh: Awaited<ReturnType<typeof freshFolder>>;
  let server: Server;
  let browser: Browser;
  before(async () => {
    fresh = await freshFolder();
    server = createServer(({ url = '/' }, response) => {
      const path = normalize(url.replace(/\?.*/, ''));
      const file = join(fresh.folder, path);
      const [type, body] =
        path.startsWith('/node_modules/') && existsSync(file)
          ? ['text/javascript', readFileSync(file)]
          : (ANSWERS[path] ?? []);
      if (type) response.writeHead(200, { 'content-type': type }).end(body);
      else response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"","code":"not_found"}');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { path } = await chromiumOfRun();
    browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
  });
  after(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
    fresh.remove();
  });

  test('follows a scan by its stream, reads a picture, and is refused like anywhere else', async () => {
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction(() => document.title !== 'page', null, { timeout: 20_000 });
    assert.deepEqual(JSON.parse(await page.title()), [
      'completed',
      ['running', 'completed'],
      'image/webp',
      'not_found',
      true,
    ]);
    assert.deepEqual(problems, []);
  });
});
