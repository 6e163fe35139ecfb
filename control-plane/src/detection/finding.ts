import type { Evidence } from './evidence.ts';

/** A tag that detection found, before it is assigned to the scan; `url` '' = the whole scan (spec 2.5). */
export type Finding = { tag_slug: string; detail: string; url: string; surface: 'page' | 'creative' };

/** Looks at observations of one kind and says what it found. */
export type Detector = (evidence: Evidence) => Finding[];
