import { Readable } from 'node:stream';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { captureIdOf } from '../../src/crawling/captures/capture-record.ts';
import type { CaptureSummary } from '../../src/scan/scan.ts';
import type { Plane } from './open-plane.ts';

/** A file of a capture; `content_type`: what its server sent, for media. */
export type CapturedFile = { name: string; bytes: Buffer; content_type?: string };

const LIMITS = { bytesMax: 64 * 1024 * 1024, filesMax: 60 };

/** Stores a capture with its files as if a node's upload had been accepted; returns the summary for its scan. */
export async function storeCapture(
  { domains }: Pick<Plane, 'domains'>,
  scanId: string,
  capture: Capture,
  files: CapturedFile[] = [],
): Promise<CaptureSummary> {
  const [{ captures }, { artifacts }] = [domains.crawling.stores, domains.scanning.stores];
  const [ref, now] = [{ scanId, fence: 1 }, new Date()];
  const received = [];
  for (const { name, bytes } of files)
    received.push(await artifacts.receive(ref, name, Readable.from([bytes]), LIMITS, now));
  await artifacts.keep(ref, received, received, now);
  const measured = received.map(({ name, sha256, bytes, content_type, width, height }) => ({
    ...{ name, sha256, bytes, content_type, width, height },
  }));
  const sent = measured.map((one, at) => ({ ...one, content_type: files[at]!.content_type ?? one.content_type }));
  await captures.insert({
    ...{ _id: captureIdOf(ref), scan_id: scanId, organization_id: 'any', fence: ref.fence, created_at: now },
    ...{ capture: { ...capture, artifacts: sent }, requests_seen: capture.requests.length, artifacts: measured },
  });
  const [landing] = capture.landings;
  return {
    id: captureIdOf(ref),
    offer_url: landing?.final_url ?? '',
    page_title: landing?.page_title ?? '',
    has_screenshot: Boolean(landing?.screenshot),
    crawl_ms: capture.elapsed_ms,
    landings: capture.landings.length,
  };
}
