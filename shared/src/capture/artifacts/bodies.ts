import { BODY_LIFETIME_MS } from '../../limits.ts';
import type { ArtifactKind } from './artifact-kind.ts';

/** Contents of sub-resources, kept for a day: an array of {@link CapturedBody}. */
export const BODIES = 'bodies.json.gz';
export const bodies: ArtifactKind = {
  pattern: 'bodies\\.json\\.gz',
  format: 'gzipped_json',
  lifetimeMs: BODY_LIFETIME_MS,
};

/** A script, fetch/XHR response or iframe document. An oversize one has its URL and no text (spec 8). */
export type CapturedBody = {
  url: string;
  resource_type: string;
  content_type: string;
  bytes: number;
  text: string | null;
};
