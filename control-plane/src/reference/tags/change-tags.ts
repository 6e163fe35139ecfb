import type { SystemTag } from './system-tag.ts';

/** Tags of scans that showed something else than the last run of their campaign. */
export const CHANGE_TAGS = [
  {
    slug: 'creative_changed',
    category: 'change',
    severity: 'low',
    visibility: 'internal',
    display_name: 'Creative changed',
    description:
      'The creative looks different from the last run of the campaign in the same country on the same device.',
  },
  {
    slug: 'landing_changed',
    category: 'change',
    severity: 'low',
    visibility: 'internal',
    display_name: 'Landing changed',
    description:
      'The landing has another domain, another way to it or another look than in the last run of the campaign in the same country on the same device.',
  },
] as const satisfies SystemTag[];
