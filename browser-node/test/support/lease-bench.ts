import type { TestContext } from 'node:test';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { emptyCapture } from '@adsweep/shared/capture/capture.ts';
import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import type { BrowserPool, OpenContext, OpenOptions } from '../../src/browser/open-context.ts';
import type { CaptureOutcome, CapturePage } from '../../src/capture/session/capture-outcome.ts';
import { type Sweep, startSweep } from '../../src/capture/sweep/sweep.ts';
import { ExitsClient } from '../../src/lease/exits-client.ts';
import { LeaseLoop } from '../../src/lease/lease-loop.ts';
import { Renewals } from '../../src/lease/renewals.ts';
import { createMetrics } from '../../src/metrics.ts';
import { ServiceWatch } from '../../src/node/watch-service.ts';
import { FakeControlPlane, MEMBER } from './fake-control-plane.ts';
import { FakeRouter } from './fake-router.ts';

/** A pool of contexts without a browser behind them; counts those that are open. `ending`: the browsers that end under their captures. */
class CountingPool implements BrowserPool {
  opened = 0;
  sharesBrowser = false;
  live = 0;
  ending: ('shared' | 'own')[] = [];
  /** The browsers that give no context. */
  refusing: ('shared' | 'own')[] = [];
  /** How often it was tried whether a browser starts: not while none gives a context. */
  launches = 0;
  /** Of each context, whether it was asked for in a browser of its own. */
  readonly isolated: boolean[] = [];
  /** Whether the page of a shared browser leaves it, and of each context, whether its browser was to go last. */
  leaves = false;
  readonly last: boolean[] = [];

  async open({ isolated, goesLast = false }: OpenOptions): Promise<OpenContext> {
    this.isolated.push(isolated);
    this.last.push(goesLast);
    const browser = isolated ? 'own' : 'shared';
    if (this.refusing.includes(browser)) throw new Error('a browser context took longer than 15000 ms');
    const hasLeft = this.leaves && !isolated;
    const ended = hasLeft || this.ending.includes(browser);
    this.opened += 1;
    this.live += 1;
    let isOpen = true;
    const close = async () => {
      if (isOpen) this.live -= 1;
      isOpen = false;
    };
    // The captures of these tests never touch the browser.
    return {
      browserName: 'Chromium',
      browserVersion: '1.0.0.0',
      browserContextId: 'context-1',
      browserEnded: () => ended,
      hasLeftShared: () => hasLeft,
      close,
    } as OpenContext;
  }

  async launch(): Promise<void> {
    this.launches += 1;
    if (this.refusing.includes('own')) throw new Error('Chromium does not start');
  }

  async close(): Promise<void> {}
}

/** The capture of a page without any findings. */
export const uneventfulCapture = (): Capture =>
  emptyCapture({
    started_at: '2026-01-01T00:00:00.000Z',
    elapsed_ms: 1,
    browser: { name: 'Chromium', version: '1.0.0.0' },
  });

export const goodOutcome = (): CaptureOutcome => ({ capture: uneventfulCapture(), files: [], failure: null });

export const NODE_REPORT = { slots: 2, busy: 0, draining: false, adsweep_version: 'test', browser_version: 'none' };

/** A lease loop between a fake control plane and a fake router; all of it is stopped with the test. */
export async function leaseBench(
  t: TestContext,
  capturePage: CapturePage,
  options: {
    slots?: number;
    attemptMs?: number;
    startSweep?: () => Sweep;
    watchesRouter?: boolean;
    watchesBrowser?: boolean;
  } = {},
) {
  const plane = await FakeControlPlane.start();
  const router = await FakeRouter.start();
  const pool = new CountingPool();
  const metrics = createMetrics(new Registry());
  const renewals = new Renewals(plane.url, 25);
  const exits = new ExitsClient(router.url, () => 'node-token', ['127.0.0.1']);
  const parts = {
    api: new LeaseClient(plane.url, 'node-token'),
    exits,
    isRouterGone: async () => options.watchesRouter === true && watch.doubt(),
    isBrowserGone: async () => options.watchesBrowser === true && browser.doubt(),
    pool,
    capturePage,
    startSweep: options.startSweep ?? startSweep,
    metrics,
    renewals,
    attemptMs: options.attemptMs ?? 30_000,
    evidenceMs: 300,
    retryPolicy: { forMs: 5_000, minMs: 5, maxMs: 20 },
  };
  const logger = createLogger('test', 'silent');
  const loop = new LeaseLoop(parts, 'node-1', options.slots ?? 2, logger);
  const ready = { name: 'the router', reason: 'exits', connect: () => exits.requireReady() } as const;
  const watch = new ServiceWatch(ready, loop.gate, logger);
  const browser = new ServiceWatch(
    { name: 'the browser', reason: 'browser', connect: () => pool.launch() },
    loop.gate,
    logger,
  );
  t.after(async () => {
    watch.stop();
    browser.stop();
    await loop.stop(0);
    await renewals.close();
    await plane.close();
    await router.close();
  });
  await parts.api.report('node-1', NODE_REPORT);
  loop.start();
  return { plane, router, pool, metrics, loop };
}

/** A capture that runs until its abort signal. */
export const endlessCapture: CapturePage = (_job, _open, _traffic, signal) =>
  new Promise((resolve) =>
    signal.addEventListener('abort', () =>
      resolve({ ...goodOutcome(), failure: { code: 'browser: TIMEOUT', cause: 'told to end' } }),
    ),
  );

/** A file of a capture. */
export const FILE = {
  name: 'landing-0.webp',
  contentType: 'image/webp',
  bytes: Buffer.from('a picture'),
  width: 12,
  height: 34,
};

/** A capture that ends at once, with a file. */
export const instantly: CapturePage = async () => ({ ...goodOutcome(), files: [FILE] });

/** Captures that go on until they are told, by scan id, in the order in which they began. */
export function heldCaptures() {
  const running = new Map<string, () => void>();
  const began: string[] = [];
  const capture: CapturePage = ({ scan_id }) =>
    new Promise((resolve) => {
      began.push(scan_id);
      running.set(scan_id, () => resolve(goodOutcome()));
    });
  return { running, began, capture };
}

/** The members of a job, by their ids. */
export const members = (...ids: string[]) => ids.map((scan_id) => ({ ...MEMBER, scan_id }));

/** What was said with these calls, in order: the call and the scan it was about. */
export const scansOf = (plane: FakeControlPlane, ...calls: string[]) =>
  plane.said.filter(({ call }) => calls.includes(call)).map(({ call, scanId }) => [call, scanId]);

/** Resolves when `holds` does, for what the control plane does not hear of. */
export async function untilSeen(plane: FakeControlPlane, holds: () => boolean): Promise<void> {
  const look = setInterval(() => plane.changed(), 5);
  await plane.until(holds).finally(() => clearInterval(look));
}

/** A lease that ends makes no call, so this waits for its slot. */
export const untilIdle = (loop: { busy: number }, plane: FakeControlPlane): Promise<void> =>
  untilSeen(plane, () => loop.busy === 0);
