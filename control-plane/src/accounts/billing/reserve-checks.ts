import { newId } from '@adsweep/shared/ids.ts';
import { ApiError } from '../../http/api-error.ts';
import { gatherByKey } from '../../platform/gather-by-key.ts';
import { type Limits, type PricedChecks, type Refusal, refusalOf } from './allowance.ts';
import type { AllowanceStore, Wanted } from './allowance-store.ts';
import { type FinishReservations, finishedReservations } from './finished-reservations.ts';
import { monthOf } from './ledger-entry.ts';
import { type CountReserved, unusedChecks } from './unused-checks.ts';

/**
 * A request for checks. `id` identifies it; its scans have the ids `derivedId(name, index)`. `checks`: how many of
 * these scans do not exist yet. `isRepeatable`: the same request may arrive again, or be run twice.
 */
export type ReservationRequest = {
  id: string;
  names: string[];
  indexes: number[];
  checks: number;
  priceMicros: number;
  isRepeatable: boolean;
  now: Date;
  /**
   * The reservation of the run that the scans are created for, which was made at this time; absent: the checks are
   * reserved now.
   */
  from?: RunReservation;
};

/** A reservation for a run, whose scans are created later, in steps. */
export type RunReservation = { id: string; at: Date };

/** Checks to be reserved for a run. */
export type WantedForRun = { runId: string; id: string; checks: number; priceMicros: number; now: Date };

/** A reservation that was made. */
export type ReservedChecks = {
  /** What the scans that take the checks have as `reserved_by`. */
  by: string;
  /** Throws 503 if writing the scans has taken so long that the reservation may have been released. */
  requireTime(): void;
  /**
   * Must be called when all scans of the request exist. `created`: how many are new; the checks that none has taken are
   * returned to the allowance.
   */
  finish(created: number): void;
};

/**
 * Reserves checks before their scans are written. Throws 403 `billing.quota_exhausted` or `billing.insufficient_funds`.
 */
export type ReserveChecks = (organizationId: string, request: ReservationRequest) => Promise<ReservedChecks>;

export type ReserveParts = {
  allowances: AllowanceStore;
  countReserved: CountReserved;
  limitsOf: (organizationId: string) => Promise<Limits>;
  /** Books the organization's starting balance if that has not been done. */
  grantStart: (organizationId: string) => Promise<void>;
};

/** Requests per write. */
const BATCH_MAX = 100;
/**
 * Time limit for writing the scans of a reservation. Reservations older than ten minutes are released
 * (`release-abandoned.ts`).
 */
const WRITE_WITHIN_MS = 120_000;

/** `made_by`: of the reservation; `isNew`: this run of the request has made it. */
type Taken = { made_by: string; isNew: boolean } | { refusal: Refusal };

export function checkReservations({ allowances, countReserved, limitsOf, grantStart }: ReserveParts) {
  /** Returns what is left of a reservation whose scans all exist, so that no run of its request takes more of it. */
  const finishOne = async (organizationId: string, id: string, madeBy: string): Promise<void> => {
    const reservation = (await allowances.read(organizationId)).reservations[id];
    // Another run of the request may have finished it.
    if (reservation?.made_by !== madeBy) return;
    const found = { organizationId, id, reservation };
    await allowances.release(found, await unusedChecks(found, countReserved), { isWritten: true });
  };

  const finish: FinishReservations = async (organizationId, all) => {
    for (const { id, made_by, isUsed } of all) if (!isUsed) await finishOne(organizationId, id, made_by);
    const used = all.filter(({ isUsed }) => isUsed).map(({ id }) => id);
    if (used.length > 0) await allowances.removeUsed(organizationId, used);
  };

  const finished = finishedReservations(finish);

  /** Reserves for one request, in a write of its own. */
  const takeOne = async (organizationId: string, wanted: Wanted, limits: Limits): Promise<Taken> => {
    for (;;) {
      if (await allowances.take(organizationId, [wanted], [], limits)) return made(wanted);
      const allowance = await allowances.read(organizationId);
      const found = allowance.reservations[wanted.id];
      if (found) {
        if (await allowances.share(organizationId, wanted.id, found.made_by, wanted.at))
          return { made_by: found.made_by, isNew: false };
        continue;
      }
      const refusal = refusalOf(allowance, wanted, limits);
      if (refusal) return { refusal };
      await allowances.beginMonth(organizationId, wanted.month);
    }
  };

  const takeAll = async (organizationId: string, wanted: Wanted[]): Promise<Taken[]> => {
    await grantStart(organizationId);
    const limits = await limitsOf(organizationId);
    // Checks that are being returned are neither in the allowance nor among those that are taken along.
    await finished.written();
    const done = finished.take(organizationId);
    const repeated = new Set(wanted.map(({ id }) => id)).size < wanted.length;
    const clash = done.some(({ id }) => wanted.some((one) => one.id === id));
    const areUsed = done.every(({ isUsed }) => isUsed);
    const ids = done.map(({ id }) => id);
    if (!repeated && !clash && areUsed && (await allowances.take(organizationId, wanted, ids, limits)))
      return wanted.map(made);
    if (done.length > 0) await finish(organizationId, done);
    const taken: Taken[] = [];
    for (const one of wanted) taken.push(await takeOne(organizationId, one, limits));
    return taken;
  };

  const take = gatherByKey(takeAll, BATCH_MAX);

  /** Takes the checks of one step of a run from the run's reservation. */
  const takeStep = async (organizationId: string, from: string, wanted: Wanted): Promise<Taken> => {
    for (;;) {
      if (await allowances.takeFrom(organizationId, from, wanted)) return made(wanted);
      const { reservations } = await allowances.read(organizationId);
      if (!(from in reservations)) throw new ApiError('runs.cancelled', 'The run is cancelled.');
      const found = reservations[wanted.id];
      if (!found) throw new ApiError('unavailable', 'Checks of the run are in use by another step.');
      if (await allowances.share(organizationId, wanted.id, found.made_by, wanted.at))
        return { made_by: found.made_by, isNew: false };
    }
  };

  /** Throws if these checks exceed the limits of the organization, of which `others` replace some. */
  const requireCovered = async (organizationId: string, checks: PricedChecks, others: Partial<Limits> = {}) => {
    await grantStart(organizationId);
    const [allowance, limits] = await Promise.all([allowances.read(organizationId), limitsOf(organizationId)]);
    const refusal = refusalOf(allowance, checks, { ...limits, ...others });
    if (refusal) throw refused(refusal);
  };

  const reserve: ReserveChecks = async (organizationId, { id, now, priceMicros, from, ...request }) => {
    const priced = { month: monthOf(from?.at ?? now), checks: request.checks, price_micros: priceMicros };
    const deadline = performance.now() + WRITE_WITHIN_MS;
    const wanted = { ...request, ...priced, id, at: now, made_by: newId() };
    const taken = await (from ? takeStep(organizationId, from.id, wanted) : take(organizationId, wanted));
    if ('refusal' in taken) throw refused(taken.refusal);
    const { made_by, isNew } = taken;
    return {
      by: made_by,
      requireTime() {
        if (performance.now() > deadline) throw new ApiError('unavailable', 'Writing the scans takes too long.');
      },
      finish: (created) => finished.add(organizationId, { id, made_by, isUsed: isNew && created >= request.checks }),
    };
  };

  return {
    reserve,

    /**
     * Reserves all checks of a run, once for the same `id`. Throws as `reserve` does. The reservation lasts until
     * `releaseRun`, or is released after ten minutes if the run is not being created.
     */
    async reserveRun(organizationId: string, { runId, id, checks, priceMicros, now }: WantedForRun): Promise<void> {
      await grantStart(organizationId);
      const priced = { month: monthOf(now), checks, price_micros: priceMicros };
      const wanted = {
        ...{ ...priced, id, at: now, made_by: newId(), names: [], indexes: [] },
        ...{ isRepeatable: true, run_id: runId },
      };
      const taken = await takeOne(organizationId, wanted, await limitsOf(organizationId));
      if ('refusal' in taken) throw refused(taken.refusal);
    },

    /** Returns the checks of a run that no step has taken. May be repeated. */
    releaseRun: async (organizationId: string, id: string): Promise<void> =>
      void (await allowances.releaseRest(organizationId, id)),

    /** Throws the error that `reserve` would throw now; reserves nothing. */
    requireAllowed: (organizationId: string, checks: number, priceMicros: number, now: Date): Promise<void> =>
      requireCovered(organizationId, { month: monthOf(now), checks, price_micros: priceMicros }),

    /**
     * Throws 403 `billing.insufficient_funds` if the balance does not cover one check of this price; reserves and
     * charges nothing.
     */
    requireFunds: (organizationId: string, price_micros: number, now: Date): Promise<void> =>
      requireCovered(organizationId, { month: monthOf(now), checks: 1, price_micros }, { checks_per_month: null }),

    /** Writes the finished reservations. Resolves when they are written or the write has failed. */
    writeFinished: finished.flush,
  };
}

const made = ({ made_by }: Wanted): Taken => ({ made_by, isNew: true });

const TEXTS: Record<Refusal, string> = {
  quota_exhausted: 'The organization has fewer checks left this month than the request needs.',
  insufficient_funds: 'The request costs more than the balance of the organization.',
};

const refused = (refusal: Refusal): ApiError => new ApiError(`billing.${refusal}`, TEXTS[refusal]);
