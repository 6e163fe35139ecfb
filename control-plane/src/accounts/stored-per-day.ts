import { ApiError } from '../http/api-error.ts';
import { type Caller, isOperator } from '../http/caller.ts';
import type { Route } from '../http/route.ts';
import { type DayShare, type DayShares, retryNextDay } from '../platform/day-shares.ts';

/**
 * What an organization stores with every request, and never removes by itself, or sends by what the organizations
 * share.
 */
export type StoredKind = 'answers' | 'targets' | 'changes' | 'tokens' | 'rechecks' | 'tests';

/**
 * Changes of keys, roles, clients, labels, endpoints and the like, which the audit log keeps for ever, and test and
 * repeated deliveries.
 */
const CHANGES_PER_DAY = 5_000;
/** OAuth tokens, each of which is stored until it expires. */
const TOKENS_PER_DAY = 100_000;
/**
 * Rechecks of scans, each of which stores a record and events, and may ask the AI model: ten of the largest requests.
 */
const RECHECKS_PER_DAY = 50_000;
/**
 * Test messages to destinations of alerts: mails to any address come from the operator's, whose reputation those of all
 * organizations need.
 */
const TESTS_PER_DAY = 500;
const MEGABYTE = 1024 * 1024;

const WORDS: Record<StoredKind, string> = {
  answers: 'answers to requests with an Idempotency-Key',
  targets: 'ad tags and VAST documents',
  changes: 'changes of its account and webhooks',
  tokens: 'OAuth tokens',
  rechecks: 'rechecks',
  tests: 'test messages',
};

/** Gives back what was taken and is not used, to the day that it was taken of; negative: more was used. */
export type GiveBack = (unused: number) => void;

/** What organizations may store in a day. Throws 429 if so much is not left. */
export type StoredPerDay = ReturnType<typeof storedPerDay>;

/** `megabytes`: of answers, and of targets, a day; 0: no bound. */
export function storedPerDay(shares: DayShares, megabytes: number) {
  const bytes = megabytes === 0 ? Number.POSITIVE_INFINITY : megabytes * MEGABYTE;
  const kinds: Record<StoredKind, DayShare> = {
    answers: { name: 'answers', perDay: bytes, block: Math.min(MEGABYTE, bytes) },
    targets: { name: 'targets', perDay: bytes, block: Math.min(MEGABYTE, bytes) },
    changes: { name: 'changes', perDay: CHANGES_PER_DAY, block: 1 },
    tokens: { name: 'tokens', perDay: TOKENS_PER_DAY, block: 50 },
    rechecks: { name: 'rechecks', perDay: RECHECKS_PER_DAY, block: 50 },
    tests: { name: 'tests', perDay: TESTS_PER_DAY, block: 1 },
  };

  /** Takes some of the day's room. */
  const take = async (organizationId: string, kind: StoredKind, amount: number): Promise<GiveBack> => {
    const now = new Date();
    if (!(await shares.take(kinds[kind], organizationId, amount, now))) throw exhausted(kind, now);
    return (unused) => shares.giveBack(kinds[kind], organizationId, unused, now);
  };

  return {
    take,

    /** Throws as `take` would, and takes nothing. */
    async requireLeft(organizationId: string, kind: StoredKind, amount: number): Promise<void> {
      const now = new Date();
      if (!(await shares.isLeft(kinds[kind], organizationId, amount, now))) throw exhausted(kind, now);
    },

    /** Takes before `store` stores something, and gives it back if that is refused: then nothing was stored. */
    async storing<T>(organizationId: string, kind: StoredKind, amount: number, store: () => Promise<T>): Promise<T> {
      const giveBack = await take(organizationId, kind, amount);
      return store().catch((error: unknown) => {
        if (error instanceof ApiError && error.isRefusal) giveBack(amount);
        throw error;
      });
    },
  };
}

function exhausted(kind: StoredKind, now: Date): ApiError {
  const detail = `The organization has stored or sent as many ${WORDS[kind]} today as it may in a day (UTC).`;
  return new ApiError('storage.quota_exhausted', detail, { headers: retryNextDay(now) });
}

const COUNTED: readonly string[] = ['account.manage', 'webhooks.manage'];

/**
 * Counts each change of an account or its webhooks, unless the operator makes it. Returns all routes. A deletion is not
 * counted: there are no more of them than of what was created, and a stolen key that has used up the day must not keep
 * its owner from revoking it.
 */
export function countChanges(routes: Route<Caller>[], { take }: Pick<StoredPerDay, 'take'>): Route<Caller>[] {
  return routes.map((route) => {
    if (['GET', 'DELETE'].includes(route.method) || !COUNTED.includes(route.permission)) return route;
    return {
      ...route,
      errors: [...route.errors, 'storage.quota_exhausted'],
      handle: async (request) => {
        if (!isOperator(request.caller)) await take(request.caller.organizationId, 'changes', 1);
        return route.handle(request);
      },
    };
  });
}
