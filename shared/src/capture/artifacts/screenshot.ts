import type { ArtifactKind } from './artifact-kind.ts';

/** The picture of a landing. */
export const screenshot: ArtifactKind = { pattern: 'landing-[0-9]{1,3}\\.webp', format: 'webp', lifetimeMs: null };

/** Name of the screenshot of the landing with ordinal `ord`. */
export const landingScreenshot = (ord: number): string => `landing-${ord}.webp`;
