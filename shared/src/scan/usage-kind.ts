import { TARGET_KINDS } from './target.ts';

/** What checks are charged for: a target of a kind, a sweep of a page for ads, and an ad that it found. */
export const USAGE_KINDS = [...TARGET_KINDS, 'ad_discovery', 'discovered_ad'] as const;
export type UsageKind = (typeof USAGE_KINDS)[number];
