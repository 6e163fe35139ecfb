import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { NodeReport } from '@adsweep/shared/lease/messages.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { CapturePage } from '../src/capture/session/capture-outcome.ts';
import { readConfig } from '../src/config.ts';
import { startNode } from '../src/node/start-node.ts';
import { CredentialProxy } from './support/credential-proxy.ts';
import { DeviceSite } from './support/device-site.ts';
import { FakeControlPlane } from './support/fake-control-plane.ts';
import { FakeRouter } from './support/fake-router.ts';
import { uneventfulCapture } from './support/lease-bench.ts';

/** Loads the job's page; its status and URL are in the capture, as the browser's version and name. */
const loadPage: CapturePage = async (job, { context }) => {
  const page = await context.newPage();
  await page.goto(job.target.value);
  const status = await page.evaluate(
    () =>
      (performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming & { responseStatus: number })
        .responseStatus,
  );
  const browser = { name: page.url(), version: String(status) };
  return { capture: { ...uneventfulCapture(), browser }, files: [], failure: null };
};

test('a node registers, captures through an exit, serves probes and metrics, and reports that it drains', async (t) => {
  const plane = await FakeControlPlane.start();
  const router = await FakeRouter.start();
  const site = await DeviceSite.start();
  const proxy = await CredentialProxy.start(site.port);
  router.ticket = proxy.ticket;
  const config = readConfig({
    CHROMIUM_PATH: process.env.CHROMIUM_PATH ?? '',
    ADSWEEP_NODE_ID: 'node-1',
    ADSWEEP_NODE_TOKEN: 'the-token-of-all-nodes',
    ADSWEEP_NODE_API_URL: plane.url,
    ADSWEEP_PROXY_URL: router.url,
    ADSWEEP_SLOTS: '1',
    ADSWEEP_METRICS_PORT: '0',
  });
  let stopAll = async () => {};
  t.after(async () => {
    await stopAll();
    await Promise.all([plane.close(), router.close(), proxy.close(), site.close()]);
  });
  const node = await startNode(config, loadPage, createLogger('test', 'silent'));
  let stopped = false;
  stopAll = async () => {
    if (!stopped) for (const [, stop] of node.stops) await stop();
    stopped = true;
  };

  const report = (await plane.received('report')).body as NodeReport;
  assert.match(report.browser_version, /^Chromium \d+\./);
  assert.equal(report.slots, 1);
  assert.equal(report.draining, false);

  plane.give({ target: { kind: 'url', value: 'http://shop.localhost/popup' } });
  const { capture } = (await plane.received('complete')).body as { capture: Capture };
  assert.deepEqual(capture.browser, { name: 'http://shop.localhost/popup', version: '200' });

  const probe = (path: string, headers = {}) => fetch(`http://127.0.0.1:${node.metricsPort}${path}`, { headers });
  assert.equal((await probe('/healthz')).status, 200);
  assert.equal((await probe('/readyz')).status, 200);
  assert.equal((await probe('/metrics')).status, 401);
  const metrics = await probe('/metrics', { authorization: 'Bearer the-token-of-all-nodes' });
  assert.match(await metrics.text(), /adsweep_node_browser_launches_total\{reason="first".*\} 1/);

  await stopAll();
  const last = plane.said.filter(({ call }) => call === 'report').at(-1)?.body as NodeReport;
  assert.equal(last.draining, true);
});
