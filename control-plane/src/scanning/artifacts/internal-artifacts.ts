import type { ArtifactStore } from './artifact-store.ts';

/** What crawling, checks and retention ask of the artifacts. */
export type InternalArtifacts = Omit<ArtifactStore, 'createIndexes' | 'sweep'>;
