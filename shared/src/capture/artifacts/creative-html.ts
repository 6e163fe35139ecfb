import type { ArtifactKind } from './artifact-kind.ts';

/** The markup of a creative as it was rendered, in UTF-8. */
export const CREATIVE_HTML = 'creative.html';
export const creativeHtml: ArtifactKind = {
  pattern: 'creative\\.html',
  format: 'text',
  lifetimeMs: null,
  targets: ['ad_tag'],
};
