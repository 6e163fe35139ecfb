import type { Targeting } from '@adsweep/shared/targeting/catalogue.ts';
import type { Exit, Place } from '../providers/exit.ts';

/** Limit of cached selections. */
const SELECTIONS_MAX = 5_000;

/** The places of a vendor's account; `exitFor` makes the account's exit for one of them. */
export type VendorPlaces = { places: readonly Place[]; exitFor: (place: Place) => Exit };

/** A place of a listed exit, or of a vendor, whose exit is made for the targeting. */
type Offer = { place: Place; exit: Exit } | { place: Place; vendor: VendorPlaces };

/** Exits that match a targeting, ordered by id; `upTo[i]` is the cumulative weight of exits 0 to i. */
export type Selection = { exits: readonly Exit[]; upTo: Float64Array };

/**
 * The exits by targeting. A selection is computed once and cached; from then on a pick does not depend on the number of exits.
 */
export class ExitIndex {
  readonly #pools: Map<string, Offer[]>;
  readonly #selections = new Map<string, Selection>();

  constructor(listed: readonly Exit[], vendors: readonly VendorPlaces[]) {
    const offers: Offer[] = listed.map((exit) => ({ place: exit, exit }));
    for (const vendor of vendors) for (const place of vendor.places) offers.push({ place, vendor });
    this.#pools = Map.groupBy(offers, ({ place }) => poolKey(place));
  }

  select(targeting: Targeting): Selection {
    const key = targetingKey(targeting);
    const known = this.#selections.get(key);
    if (known) return known;
    if (this.#selections.size >= SELECTIONS_MAX) this.#selections.clear();
    const selection = selectionOf(this.#pools.get(poolKey(targeting)) ?? [], targeting);
    this.#selections.set(key, selection);
    return selection;
  }
}

const poolKey = ({ country_code, proxy_type }: { country_code: string; proxy_type: string }) =>
  `${country_code} ${proxy_type}`;

/** A key of a targeting, independent of letter case. */
export const targetingKey = ({ country_code, proxy_type, region, city, isp }: Targeting): string =>
  [country_code, proxy_type, region, city, isp].join('\n').toLowerCase();

/** Region, city and ISP must all match the same place, in any letter case (spec 4.1 rule 5). */
function selectionOf(offers: Offer[], targeting: Targeting): Selection {
  const exits: Exit[] = [];
  const vendors = new Map<VendorPlaces, Place>();
  for (const offer of offers) {
    if (!matches(offer.place, targeting)) continue;
    if ('exit' in offer) exits.push(offer.exit);
    else {
      const sum = vendors.get(offer.vendor) ?? { ...targetedFields(offer.place, targeting), pool_size: 0 };
      sum.pool_size += offer.place.pool_size;
      vendors.set(offer.vendor, sum);
    }
  }
  for (const [vendor, place] of vendors) exits.push(vendor.exitFor(place));
  exits.sort((a, b) => (a.id < b.id ? -1 : 1));
  let weight = 0;
  return { exits, upTo: Float64Array.from(exits, ({ pool_size }) => (weight += pool_size)) };
}

/** The fields of a place that a targeting asks for, in the place's spelling. */
function targetedFields(place: Place, { region, city, isp }: Targeting): Omit<Place, 'pool_size'> {
  return {
    country_code: place.country_code,
    proxy_type: place.proxy_type,
    ...(region && { region: place.region }),
    ...(city && { city: place.city }),
    ...(isp && { isp: place.isp }),
  } as Omit<Place, 'pool_size'>;
}

function matches(place: Place, targeting: Targeting): boolean {
  const accepts = (wanted: string, actual: string | undefined) =>
    wanted === '' || wanted.toLowerCase() === actual?.toLowerCase();
  return (
    accepts(targeting.region, place.region) && accepts(targeting.city, place.city) && accepts(targeting.isp, place.isp)
  );
}
