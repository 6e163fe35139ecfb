import type { ArtifactKind } from './artifact-kind.ts';

/** The documents of a VAST tag as their servers sent them: an array of {@link CapturedVastDocument}. */
export const VAST_DOCUMENTS = 'vast-documents.json.gz';
export const vastDocuments: ArtifactKind = {
  pattern: 'vast-documents\\.json\\.gz',
  format: 'gzipped_json',
  lifetimeMs: null,
  targets: ['vast_tag'],
};

/** The document of a rung of the wrapper ladder. */
export type CapturedVastDocument = { rung: number; text: string };
