import type { ArtifactKind } from './artifact-kind.ts';

/** The picture of a landing: JPEG, which costs a browser half of what WebP does. Clients get WebP, encoded when they ask for it. */
export const screenshot: ArtifactKind = { pattern: 'landing-[0-9]{1,3}\\.jpeg', format: 'jpeg', lifetimeMs: null };
/** The same as version 0.1 stored it. */
export const webpScreenshot: ArtifactKind = { pattern: 'landing-[0-9]{1,3}\\.webp', format: 'webp', lifetimeMs: null };

/** Name of the screenshot of the landing with ordinal `ord`. */
export const landingScreenshot = (ord: number): string => `landing-${ord}.jpeg`;
