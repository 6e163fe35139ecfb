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

/** Fields of a targeting, those with the fewest exits for each value first. */
const FIELDS = ['city', 'isp', 'region'] as const;
type Field = (typeof FIELDS)[number];

/**
 * The offers of a country and proxy type. A vendor may have hundreds of thousands: those with a value are found without
 * looking at the others.
 */
class Pool {
  readonly #offers: Offer[];
  readonly #byValue = new Map<Field, Map<string | undefined, Offer[]>>();

  constructor(offers: Offer[]) {
    this.#offers = offers;
  }

  /** Those that have the most selective value of the targeting; its other values are not compared. */
  candidates(targeting: Targeting): Offer[] {
    const field = FIELDS.find((one) => targeting[one] !== '');
    if (!field) return this.#offers;
    const known = this.#byValue.get(field);
    const byValue = known ?? Map.groupBy(this.#offers, ({ place }) => place[field]?.toLowerCase());
    this.#byValue.set(field, byValue);
    return byValue.get(targeting[field].toLowerCase()) ?? [];
  }
}

/**
 * The exits by targeting. A selection is computed once and cached; from then on a pick does not depend on the number of
 * exits.
 */
export class ExitIndex {
  readonly #pools: Map<string, Pool>;
  readonly #selections = new Map<string, Selection>();

  constructor(listed: readonly Exit[], vendors: readonly VendorPlaces[]) {
    const offers: Offer[] = listed.map((exit) => ({ place: exit, exit }));
    for (const vendor of vendors) for (const place of vendor.places) offers.push({ place, vendor });
    const pools = Map.groupBy(offers, ({ place }) => poolKey(place));
    this.#pools = new Map([...pools].map(([key, own]) => [key, new Pool(own)]));
  }

  select(targeting: Targeting): Selection {
    const key = targetingKey(targeting);
    const known = this.#selections.get(key);
    if (known) return known;
    const selection = selectionOf(this.#pools.get(poolKey(targeting))?.candidates(targeting) ?? [], targeting);
    // There is any number of values that no exit has, each of any length.
    if (selection.exits.length === 0) return selection;
    if (this.#selections.size >= SELECTIONS_MAX) this.#selections.clear();
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
