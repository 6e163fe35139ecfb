import type { ArtifactKind } from './artifact-kind.ts';

/** The picture of the page that a creative stood on, where no click led to a landing. */
export const PAGE_SCREENSHOT = 'page.jpeg';
export const pageScreenshot: ArtifactKind = {
  pattern: 'page\\.jpeg',
  format: 'jpeg',
  lifetimeMs: null,
  targets: ['ad_tag', 'vast_tag'],
};
