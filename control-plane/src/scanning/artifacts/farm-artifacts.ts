import type { ArtifactStore } from './artifact-store.ts';

/** What the farm's own work asks of the artifacts. */
export type FarmArtifacts = Omit<ArtifactStore, 'createIndexes' | 'sweep'>;
