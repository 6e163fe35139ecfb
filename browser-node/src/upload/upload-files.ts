import { createHash } from 'node:crypto';
import type { Artifact } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { LeaseClient, MemberLease } from '@adsweep/shared/lease/client.ts';
import type { RetryPolicy } from '@adsweep/shared/service/retry.ts';
import type { CaptureFile } from '../capture/session/capture-outcome.ts';
import { retryCall } from './retry-call.ts';

/** Uploads the files of a member's attempt one after the other; returns the artifacts for its capture. Throws as {@link retryCall} does. */
export async function uploadFiles(
  api: LeaseClient,
  member: MemberLease,
  files: CaptureFile[],
  signal: AbortSignal,
  retryPolicy?: RetryPolicy,
): Promise<Artifact[]> {
  const artifacts: Artifact[] = [];
  for (const file of files) artifacts.push(await retryCall(() => uploadFile(api, member, file), signal, retryPolicy));
  return artifacts;
}

async function uploadFile(api: LeaseClient, member: MemberLease, file: CaptureFile): Promise<Artifact> {
  const sha256 = createHash('sha256').update(file.bytes).digest('hex');
  const stored = await api.upload(member, file.name, file.contentType, file.bytes);
  if (stored.sha256 !== sha256 || stored.bytes !== file.bytes.length)
    throw new Error(`${file.name} arrived as ${stored.bytes} bytes with hash ${stored.sha256}, not ${sha256}`);
  const { name, contentType, width, height } = file;
  return { name, sha256, bytes: file.bytes.length, content_type: contentType, width, height };
}

/** The files of at most `bytesMax` bytes, and the capture without the others: a note lists each of those. */
export function leaveOutOversized(
  capture: Capture,
  files: CaptureFile[],
  bytesMax: number,
): { capture: Capture; files: CaptureFile[] } {
  const oversized = new Set(files.filter((file) => file.bytes.length > bytesMax).map((file) => file.name));
  if (oversized.size === 0) return { capture, files };
  const notes = [...oversized].map((name) => ({ collector: 'upload', text: `${name} was too large to keep` }));
  const landings = capture.landings.map((landing) =>
    landing.screenshot && oversized.has(landing.screenshot) ? { ...landing, screenshot: null } : landing,
  );
  return {
    capture: { ...capture, landings, notes: [...capture.notes, ...notes].slice(-200) },
    files: files.filter((file) => !oversized.has(file.name)),
  };
}
