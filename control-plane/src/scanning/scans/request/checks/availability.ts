import { type Check, issueAt } from './check.ts';

const NOT_YET = 'This version cannot scan this yet.';

/** Targets that the interface has and this version cannot crawl yet: they are refused, never accepted and left pending. */
export const checkAvailability: Check = ({ scan }) =>
  scan.ad_discovery === true ? [issueAt('ad_discovery', 'not_available', NOT_YET, scan.ad_discovery)] : [];
