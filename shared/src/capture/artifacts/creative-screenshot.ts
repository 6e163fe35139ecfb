import type { ArtifactKind } from './artifact-kind.ts';

/** The picture of a creative at its size; of a VAST tag, a frame of its video. */
export const CREATIVE_SCREENSHOT = 'creative.jpeg';
export const creativeScreenshot: ArtifactKind = {
  pattern: 'creative\\.jpeg',
  format: 'jpeg',
  lifetimeMs: null,
  targets: ['ad_tag', 'vast_tag'],
};
