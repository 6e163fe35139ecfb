import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { checkAdDiscovery } from './ad-discovery.ts';
import { checkCampaign } from './campaign.ts';
import type { Check, ScanRequest } from './check.ts';
import { checkCountry } from './country.ts';
import { checkEmulator } from './emulator.ts';
import { checkLabels } from './labels.ts';
import { checkProxy } from './proxy.ts';
import { checkReferrer } from './referrer.ts';
import { checkTarget } from './target.ts';

/** Every group of rules for a new scan, in the order of the interface's fields (spec 2.1, 4.2). */
const CHECKS: [rules: string, check: Check][] = [
  ['exactly one target, of its own form', checkTarget],
  ['a supported country', checkCountry],
  ['a known emulator', checkEmulator],
  ["region, city and ISP of the pool's catalogue", checkProxy],
  ['a public referrer', checkReferrer],
  ['labels', checkLabels],
  ['campaign and run exist', checkCampaign],
  ['fields that only sweeps can have', checkAdDiscovery],
];

/** All problems of a requested scan. */
export const checkRequest = (request: ScanRequest): Issue[] => CHECKS.flatMap(([, check]) => check(request));
