import { createHash } from 'node:crypto';
import {
  type Artifact,
  BODIES,
  CREATIVE_HTML,
  CREATIVE_SCREENSHOT,
  DOCUMENTS,
  PAGE_SCREENSHOT,
} from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { combineNotes, type Note, type NoteKind, note } from '@adsweep/shared/capture/notes.ts';
import { SENT_FILES_BYTES_MAX, type SentFile } from '@adsweep/shared/lease/capture-with-files.ts';
import type { LeaseClient, MemberLease } from '@adsweep/shared/lease/client.ts';
import type { RetryPolicy } from '@adsweep/shared/service/retry.ts';
import type { CaptureFile } from '../capture/session/capture-outcome.ts';
import { StoredFile } from '../capture/session/stored-file.ts';
import { retryCall } from './retry-call.ts';

/**
 * Uploads the files of a member's attempt one after the other; returns the artifacts for its capture. Throws as
 * {@link retryCall} does.
 */
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

/** The files as they are sent together with their capture, with their artifacts; null: they are too large for that. */
export function smallFiles(files: CaptureFile[]): { artifacts: Artifact[]; sent: SentFile[] } | null {
  const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > SENT_FILES_BYTES_MAX) return null;
  const sent: SentFile[] = [];
  const artifacts: Artifact[] = [];
  for (const file of files) {
    const { name, bytes } = file;
    if (bytes instanceof StoredFile) return null;
    sent.push({ name, bytes });
    artifacts.push(artifactOf(file, createHash('sha256').update(bytes).digest('hex')));
  }
  return { artifacts, sent };
}

const artifactOf = ({ name, bytes, contentType, width, height }: CaptureFile, sha256: string): Artifact => ({
  name,
  sha256,
  bytes: bytes.length,
  content_type: contentType,
  width,
  height,
});

async function uploadFile(api: LeaseClient, member: MemberLease, file: CaptureFile): Promise<Artifact> {
  const { bytes } = file;
  const isStored = bytes instanceof StoredFile;
  const sha256 = isStored ? bytes.sha256 : createHash('sha256').update(bytes).digest('hex');
  const stored = await api.upload(member, file.name, file.contentType, isStored ? await bytes.content() : bytes);
  if (stored.sha256 !== sha256 || stored.bytes !== file.bytes.length)
    throw new Error(`${file.name} arrived as ${stored.bytes} bytes with hash ${stored.sha256}, not ${sha256}`);
  return artifactOf(file, sha256);
}

/** The files of at most `bytesMax` bytes, and the capture without the others, with notes of those. */
export function leaveOutOversized(
  capture: Capture,
  files: CaptureFile[],
  bytesMax: number,
): { capture: Capture; files: CaptureFile[] } {
  const oversized = new Set(files.filter((file) => file.bytes.length > bytesMax).map((file) => file.name));
  if (oversized.size === 0) return { capture, files };
  const notes = [...oversized].map((name) => noteOfMissing(name, capture));
  const landings = capture.landings.map((landing) =>
    landing.screenshot && oversized.has(landing.screenshot) ? { ...landing, screenshot: null } : landing,
  );
  return {
    capture: { ...capture, landings, notes: combineNotes([...notes, ...capture.notes]) },
    files: files.filter((file) => !oversized.has(file.name)),
  };
}

/** What a capture lacks without the file called `name`. */
function noteOfMissing(name: string, { landings }: Pick<Capture, 'landings'>): Note {
  const landing = landings.find(({ screenshot }) => screenshot === name)?.ord;
  if (landing !== undefined) return note('picture', { landing });
  const kind = LACKING[name];
  return kind ? note(kind) : note('files', { count: 1 });
}

const LACKING: Record<string, NoteKind> = {
  [PAGE_SCREENSHOT]: 'picture',
  [CREATIVE_SCREENSHOT]: 'creative_picture',
  [CREATIVE_HTML]: 'creative_html',
  [DOCUMENTS]: 'texts',
  [BODIES]: 'contents',
};
