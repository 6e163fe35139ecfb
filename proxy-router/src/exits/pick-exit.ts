import { createHash } from 'node:crypto';
import type { Targeting } from '@adsweep/shared/targeting/catalogue.ts';
import type { ListedExit } from '../providers/listed-exit.ts';

/** The exit to use, or why there is none. */
export type Pick = { exit: ListedExit } | { refusal: 'NODE_NOT_FOUND' | 'NODE_BUSY' };

/**
 * Picks the exit for a targeting and a session. A session keeps its exit for as long as that is available, and only the sessions of an
 * exit that becomes unavailable move; exits share the sessions in proportion to `pool_size`. Region, city and ISP must all match the
 * same exit, in any letter case, so that a region with a city outside it finds none (spec 4.1 rule 5).
 */
export function pickExit(
  exits: ListedExit[],
  targeting: Targeting,
  session: string,
  isUnavailable: (exitId: string) => boolean,
): Pick {
  const matching = exits.filter((exit) => matches(exit, targeting));
  if (matching.length === 0) return { refusal: 'NODE_NOT_FOUND' };
  const available = matching.filter(({ id }) => !isUnavailable(id));
  if (available.length === 0) return { refusal: 'NODE_BUSY' };
  const ranked = available.map((exit) => ({ exit, distance: distance(exit, session) }));
  return { exit: ranked.reduce((best, one) => (one.distance < best.distance ? one : best)).exit };
}

function matches(exit: ListedExit, targeting: Targeting): boolean {
  const accepts = (wanted: string, actual: string | undefined) =>
    wanted === '' || wanted.toLowerCase() === actual?.toLowerCase();
  return (
    exit.country_code === targeting.country_code &&
    exit.proxy_type === targeting.proxy_type &&
    accepts(targeting.region, exit.region) &&
    accepts(targeting.city, exit.city) &&
    accepts(targeting.isp, exit.isp)
  );
}

/** Weighted rendezvous hashing: the smallest of `-ln(hash) / weight` falls on each exit in proportion to its weight. */
function distance(exit: ListedExit, session: string): number {
  const hash = createHash('sha256').update(`${session}\n${exit.id}`).digest();
  const fraction = (hash.readUIntBE(0, 6) + 1) / (2 ** 48 + 1);
  return -Math.log(fraction) / exit.pool_size;
}
