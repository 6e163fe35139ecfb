import type { ArtifactKind } from './artifact-kind.ts';

/** The media file of a VAST ad as its server sent it; its type is in the capture. */
export const CREATIVE_VIDEO = 'creative-video';
export const creativeVideo: ArtifactKind = {
  pattern: 'creative-video',
  format: 'media',
  lifetimeMs: null,
  targets: ['vast_tag'],
};
