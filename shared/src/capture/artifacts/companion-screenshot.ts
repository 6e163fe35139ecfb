import type { ArtifactKind } from './artifact-kind.ts';

/** The picture of a companion of a VAST ad. */
export const companionScreenshotKind: ArtifactKind = {
  pattern: 'companion-[0-9]{1,2}\\.jpeg',
  format: 'jpeg',
  lifetimeMs: null,
  targets: ['vast_tag'],
};

/** Name of the picture of the companion in this place. */
export const companionScreenshot = (at: number): string => `companion-${at}.jpeg`;
