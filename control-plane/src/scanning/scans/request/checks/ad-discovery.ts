import type { Issue } from '@adsweep/shared/validation/issue.ts';
import type { ScanSettings } from '../scan-in.ts';
import { type Check, isSent, issueAt } from './check.ts';

const ONLY_WITH = 'Only with ad_discovery: true.';

/** Fields that only sweeps can have, and those that sweeps cannot have (spec 4.2 rules 2 to 6). */
export const checkAdDiscovery: Check = ({ scan, refused }) => {
  const { ad_discovery, max_discovered_ads, ad_formats, repeat_mode } = scan;
  const twice = duplicateFormats(ad_formats);
  if (ad_discovery) {
    const target = (['ad_tag', 'vast_tag'] as const).some((kind) => isSent(scan[kind]))
      ? [issueAt('ad_discovery', 'invalid_combination', 'Only with a url.', true)]
      : [];
    const shared =
      repeat_mode === 'shared'
        ? [issueAt('repeat_mode', 'invalid_combination', 'A sweep cannot share its browser with repeats.', repeat_mode)]
        : [];
    return [...twice, ...target, ...shared];
  }
  if (refused.has('ad_discovery')) return twice;
  return [
    ...twice,
    ...(isSent(max_discovered_ads)
      ? [issueAt('max_discovered_ads', 'invalid_combination', ONLY_WITH, max_discovered_ads)]
      : []),
    ...(isSent(ad_formats) ? [issueAt('ad_formats', 'invalid_combination', ONLY_WITH, ad_formats)] : []),
  ];
};

/** If the schema refused some items of the list, the others are still checked. */
function duplicateFormats(formats: ScanSettings['ad_formats']): Issue[] {
  const named = (formats ?? []).filter((format) => format !== undefined);
  if (new Set(named).size === named.length) return [];
  const given = named.length === formats?.length ? formats : undefined;
  return [issueAt('ad_formats', 'duplicate_items', 'Must not name a format twice.', given)];
}
