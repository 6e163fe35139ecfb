import { type Check, issueAt } from './check.ts';

const NOT_YET = 'This version cannot scan this yet.';

/** What the interface has and this version cannot crawl yet: it is refused, never accepted and left lying. */
export const checkAvailability: Check = ({ scan }) => {
  const requested = {
    ad_discovery: scan.ad_discovery === true,
    repeat_mode: scan.repeat_mode === 'shared' && (scan.repeat_count ?? 1) > 1,
  };
  return (Object.keys(requested) as (keyof typeof requested)[])
    .filter((field) => requested[field])
    .map((field) => issueAt(field, 'not_available', NOT_YET, scan[field]));
};
