import type { ArtifactKind } from './artifact-kind.ts';

/** What landings said and showed, kept with the scan: an array of {@link CapturedDocument}. */
export const DOCUMENTS = 'documents.json.gz';
export const documents: ArtifactKind = { pattern: 'documents\\.json\\.gz', format: 'gzipped_json', lifetimeMs: null };

/** A document as it stood at the end: the landing's own (`frame` '') or that of one of its frames. */
export type CapturedDocument = {
  landing: number;
  frame: string;
  url: string;
  title: string;
  text: string;
  html: string;
};
