import { type Check, isSent, issueAt } from './check.ts';

const ONLY_WITH = 'Only with ad_discovery: true.';

/** What belongs to sweeps alone, and what a sweep cannot have (spec 4.2 rules 2 to 6). */
export const checkAdDiscovery: Check = ({ scan, refused }) => {
  const { ad_discovery, max_discovered_ads, ad_formats, repeat_mode } = scan;
  if (ad_discovery) {
    const target = (['ad_tag', 'vast_tag'] as const).some((kind) => isSent(scan[kind]))
      ? [issueAt('ad_discovery', 'invalid_combination', 'Only with a url.', true)]
      : [];
    const shared =
      repeat_mode === 'shared'
        ? [issueAt('repeat_mode', 'invalid_combination', 'A sweep cannot share its browser with repeats.', repeat_mode)]
        : [];
    return [...target, ...shared];
  }
  if (refused.has('ad_discovery')) return [];
  return [
    ...(isSent(max_discovered_ads)
      ? [issueAt('max_discovered_ads', 'invalid_combination', ONLY_WITH, max_discovered_ads)]
      : []),
    ...(isSent(ad_formats) ? [issueAt('ad_formats', 'invalid_combination', ONLY_WITH, ad_formats)] : []),
  ];
};
