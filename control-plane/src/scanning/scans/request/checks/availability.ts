import { type Check, issueAt } from './check.ts';

const NOT_YET = 'This version cannot scan this yet.';

/** What the interface has and this version cannot crawl yet: it is refused, never accepted and left lying. */
export const checkAvailability: Check = ({ scan }) =>
  scan.ad_discovery === true ? [issueAt('ad_discovery', 'not_available', NOT_YET, scan.ad_discovery)] : [];
