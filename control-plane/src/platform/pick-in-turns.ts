export type OfOrganization = { _id: string; organization_id: string };

/** Due records of all organizations, by an index that begins with the organization. */
export type DueByOrganization<T extends OfOrganization> = {
  /**
   * Some due records, of whichever organizations, the longest-waiting of each first; all of them, if they are fewer
   * than `limit`.
   */
  first(limit: number): Promise<T[]>;
  /** The first organization with due records after this one, in the order of ids; null: there is none. */
  organizationAfter(organizationId: string): Promise<string | null>;
  /** The due records of one organization, the longest-waiting first. */
  of(organizationId: string, limit: number): Promise<T[]>;
};

/** Records that are read for each one that is picked, so that concurrent processes pick different ones. */
const CANDIDATES_PER_PICK = 4;
/** Up to so many due records are read by one search, and more only in turns. */
export const FEW = 64;

/**
 * Returns a function that picks up to `limit` due records, one of each organization in turn, and begins where its last
 * call ended: an organization with thousands of due records delays those of another one by its turn alone. Of an
 * organization's longest-waiting records it picks at random.
 */
export function pickingInTurns() {
  let last = '';
  return async <T extends OfOrganization>(due: DueByOrganization<T>, limit: number): Promise<T[]> => {
    if (limit <= 0) return [];
    const picked = takeInTurns(await candidates(due, last, limit), last, limit);
    last = picked.at(-1)?.organization_id ?? last;
    return picked;
  };
}

/**
 * All due records if they are few, else also those of the organizations whose turns are next: at most as many of these
 * as records are wanted.
 */
async function candidates<T extends OfOrganization>(
  due: DueByOrganization<T>,
  last: string,
  limit: number,
): Promise<Map<string, T[]>> {
  const few = Math.max(FEW, limit * CANDIDATES_PER_PICK);
  const first = await due.first(few);
  if (first.length < few) return grouped(first, limit);
  const organizations = await nextOrganizations(due, last, limit);
  const each = Math.ceil(limit / Math.max(1, organizations.length)) * CANDIDATES_PER_PICK;
  const ofThese = (await Promise.all(organizations.map((id) => due.of(id, each)))).flat();
  // Records that no search by organization finds are among the first sooner or later.
  const others = first.filter(({ _id }) => ofThese.every((one) => one._id !== _id));
  return grouped([...ofThese, ...others], limit);
}

/** The records of each organization, as many as may be chosen among. */
function grouped<T extends OfOrganization>(records: readonly T[], limit: number): Map<string, T[]> {
  const groups = [...Map.groupBy(records, (one) => one.organization_id)];
  return new Map(groups.map(([id, ofOne]) => [id, ofOne.slice(0, limit * CANDIDATES_PER_PICK)]));
}

/**
 * Up to `limit` organizations with due records: those after `last` in the order of ids, then those from the beginning.
 */
async function nextOrganizations(
  { organizationAfter }: Pick<DueByOrganization<OfOrganization>, 'organizationAfter'>,
  last: string,
  limit: number,
): Promise<string[]> {
  const found: string[] = [];
  let [after, hasWrapped] = [last, false];
  while (found.length < limit) {
    const next = await organizationAfter(after);
    if (next === null && hasWrapped) break;
    if (next === null) [after, hasWrapped] = ['', true];
    else if (found[0] === next || (hasWrapped && next > last)) break;
    else {
      found.push(next);
      after = next;
    }
  }
  return found;
}

/**
 * Takes up to `limit` records, one of each organization in turn, from the organization after `last` on. Pure but for
 * `random`.
 */
export function takeInTurns<T>(
  candidates: ReadonlyMap<string, readonly T[]>,
  last: string,
  limit: number,
  random = Math.random,
): T[] {
  const ordered = [...candidates.keys()].sort();
  const following = ordered.filter((id) => id > last);
  const turns = [...following, ...ordered.slice(0, ordered.length - following.length)];
  const shuffled = turns.map((id) => {
    const ofOne = candidates.get(id)!;
    return pickAtRandom(ofOne, Math.min(limit, ofOne.length), random);
  });
  const taken: T[] = [];
  for (let round = 0; taken.length < limit; round += 1) {
    const ofRound = shuffled.flatMap((ofOne) => ofOne.slice(round, round + 1));
    if (ofRound.length === 0) break;
    taken.push(...ofRound.slice(0, limit - taken.length));
  }
  return taken;
}

/**
 * Chooses up to `count` of `items` with equal probability, so that concurrent processes rarely choose the same ones.
 */
function pickAtRandom<T>(items: readonly T[], count: number, random = Math.random): T[] {
  const rest = [...items];
  const picked: T[] = [];
  while (picked.length < count && rest.length > 0) {
    picked.push(...rest.splice(Math.floor(random() * rest.length), 1));
  }
  return picked;
}
