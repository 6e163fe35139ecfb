import type { EarlierLook, LandingLook, Look, LookChange, LookDifference } from '../../scan/look.ts';

/**
 * Bits of 64 in which two pictures must differ to show something else. Measured on rendered pages and ads of 300 x 250:
 * another time, price, title, font, cookie banner or half as many products more change 0 to 14 bits of a page, another
 * page 27 to 38; another price or button changes 0 to 3 bits of an ad, a new encoding in another size 10, another
 * picture or text 17 to 35. Colours alone are not seen.
 */
const LANDING_BITS = 20;
const CREATIVE_BITS = 12;

/**
 * What differs from the last run. `earlier`: the scans of that run in the same country on the same device, the newest
 * first. An ad or a landing that one of them showed has not changed: ads rotate, and repeats see several. What either
 * side lacks is not compared. Pure.
 */
export function compareLooks(look: Look, earlier: EarlierLook[]): LookChange[] {
  return [...landingChanges(look.landing, earlier), ...creativeChanges(look.creative, earlier)];
}

function landingChanges(landing: LandingLook | null, earlier: EarlierLook[]): LookChange[] {
  if (!landing) return [];
  const compared = earlier.flatMap(({ scan_id, run_id, look }) => {
    if (!look.landing) return [];
    const what = differences(landing, look.landing);
    const previous = { previous_scan_id: scan_id, previous_run_id: run_id };
    return [{ kind: 'landing' as const, what, ...previous, before: look.landing.url, after: landing.url }];
  });
  return mostAlike(compared);
}

function differences(one: LandingLook, other: LandingLook): LookDifference[] {
  return [
    ...(one.domain === other.domain ? [] : (['domain'] as const)),
    ...(one.chain.join(' ') === other.chain.join(' ') ? [] : (['redirects'] as const)),
    ...(isOther(one.picture, other.picture, LANDING_BITS) ? (['picture'] as const) : []),
  ];
}

function creativeChanges(creative: string | null, earlier: EarlierLook[]): LookChange[] {
  if (creative === null) return [];
  const compared = earlier.flatMap(({ scan_id, run_id, look }) => {
    if (look.creative === null) return [];
    const what: LookDifference[] = isOther(creative, look.creative, CREATIVE_BITS) ? ['picture'] : [];
    const previous = { previous_scan_id: scan_id, previous_run_id: run_id };
    return [{ kind: 'creative' as const, what, ...previous, before: '', after: '' }];
  });
  return mostAlike(compared);
}

/** The comparison with the fewest differences, if there are any: the first of several. */
function mostAlike(compared: LookChange[]): LookChange[] {
  const [first] = compared.toSorted((one, other) => one.what.length - other.what.length);
  return first && first.what.length > 0 ? [first] : [];
}

const isOther = (one: string | null, other: string | null, bits: number): boolean =>
  one !== null && other !== null && differingBits(one, other) > bits;

/** The number of bits in which two hashes differ. */
function differingBits(one: string, other: string): number {
  let bits = BigInt(`0x${one}`) ^ BigInt(`0x${other}`);
  let count = 0;
  for (; bits > 0n; bits &= bits - 1n) count += 1;
  return count;
}
