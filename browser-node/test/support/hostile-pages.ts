import assert from 'node:assert/strict';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { type Captured, type CaptureOptions, CaptureWorld } from './capture-world.ts';

/** No page may prolong a capture beyond the time limit of an attempt. */
export const ATTEMPT_MS = JOB_LIMITS.page.seconds * 1_000;
const PLAIN = 'http://plain.example/';

/** A world for pages that do harm, beside one that does none. */
export async function startHostileWorld(): Promise<CaptureWorld> {
  const world = await CaptureWorld.start();
  world.site.setPage(PLAIN, '<title>plain</title>plain');
  return world;
}

/** Adds a page at `<name>.example` with this body; returns its URL. */
export function addPage(world: CaptureWorld, name: string, body: string): string {
  world.site.setPage(`http://${name}.example/`, `<!doctype html><title>${name}</title><body>${body}`);
  return `http://${name}.example/`;
}

/** Captures a page, which takes no longer than an attempt may. */
export async function capturedInTime(
  world: CaptureWorld,
  url: string,
  options: CaptureOptions = {},
): Promise<Captured> {
  const captured = await world.captureAsNode(url, { ...options, signal: AbortSignal.timeout(ATTEMPT_MS) });
  assert.notEqual(captured.failure, 'browser: TIMEOUT', captured.outcome.failure?.cause);
  return captured;
}

/** Checks that the next capture in the same browser is complete. */
export async function assertNextComplete(world: CaptureWorld): Promise<void> {
  const next = await world.capture(PLAIN);
  assert.deepEqual(
    [next.failure, next.landings[0]?.page_title, next.landings[0]?.screenshot],
    [null, 'plain', 'landing-0.jpeg'],
  );
}

/** Captures a page and checks that the next capture in the same browser is complete. */
export async function capturedSafely(
  world: CaptureWorld,
  url: string,
  options: CaptureOptions = {},
): Promise<Captured> {
  const captured = await capturedInTime(world, url, options);
  await assertNextComplete(world);
  return captured;
}
