import { type Check, issueAt } from './check.ts';

const NOT_YET = 'This version cannot scan this yet.';

/** Refuses targets of the interface that this version cannot crawl yet; accepted, they would stay pending for ever. */
export const checkAvailability: Check = ({ scan }) =>
  scan.ad_discovery === true ? [issueAt('ad_discovery', 'not_available', NOT_YET, scan.ad_discovery)] : [];
