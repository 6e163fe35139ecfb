import { createHash } from 'node:crypto';
import type { Targeting } from '@adsweep/shared/targeting/catalogue.ts';
import type { ListedExit } from '../catalogue/exits-file.ts';

/** The exit to use, or why there is none. */
export type Pick = { exit: ListedExit } | { refusal: 'NODE_NOT_FOUND' | 'NODE_BUSY' };

/**
 * The exit for a wish. One session gets one exit for as long as that is in service, and only the sessions of an exit that drops out
 * move; exits share the sessions by `pool_size`. All of region, city and isp must hold for the same exit, in any letter case, so that
 * a region with a city outside it finds none (spec 4.1 rule 5).
 */
export function pickExit(
  exits: ListedExit[],
  targeting: Targeting,
  session: string,
  isOut: (exitId: string) => boolean,
): Pick {
  const matching = exits.filter((exit) => matches(exit, targeting));
  if (matching.length === 0) return { refusal: 'NODE_NOT_FOUND' };
  const inService = matching.filter(({ id }) => !isOut(id));
  if (inService.length === 0) return { refusal: 'NODE_BUSY' };
  const ranked = inService.map((exit) => ({ exit, distance: distance(exit, session) }));
  return { exit: ranked.reduce((best, one) => (one.distance < best.distance ? one : best)).exit };
}

function matches(exit: ListedExit, wish: Targeting): boolean {
  const holds = (wished: string, actual: string | undefined) =>
    wished === '' || wished.toLowerCase() === actual?.toLowerCase();
  return (
    exit.country_code === wish.country_code &&
    exit.proxy_type === wish.proxy_type &&
    holds(wish.region, exit.region) &&
    holds(wish.city, exit.city) &&
    holds(wish.isp, exit.isp)
  );
}

/** Weighted rendezvous hashing: the smallest of `-ln(hash) / weight` falls on each exit in proportion to its weight. */
function distance(exit: ListedExit, session: string): number {
  const hash = createHash('sha256').update(`${session}\n${exit.id}`).digest();
  const fraction = (hash.readUIntBE(0, 6) + 1) / (2 ** 48 + 1);
  return -Math.log(fraction) / exit.pool_size;
}
