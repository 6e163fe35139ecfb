import type { Logger } from '@adsweep/shared/service/logger.ts';
import { type Backoff, backoffMs } from '@adsweep/shared/service/retry.ts';
import { awaitTurn, inTurns } from '@adsweep/shared/service/time-slice.ts';
import { inSpan } from '@adsweep/shared/tracing/spans.ts';
import type { WorkMetrics } from '../../metrics.ts';
import type { Origin, OutboxEntry, OutboxHandlers } from '../../platform/outbox/outbox-entry.ts';
import type { ClaimedOutbox, OutboxSource } from '../../platform/outbox/outbox-source.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { WakeSignal } from '../../platform/wake-signal.ts';

export type RelayDependencies = {
  sources: OutboxSource[];
  handlers: OutboxHandlers;
  metrics: Pick<WorkMetrics, 'outboxEntries' | 'outboxFailures' | 'outboxRecords' | 'outboxAge'>;
  logger: Logger;
};

/**
 * The relay is woken when an outbox is filled; this interval covers lost hints, and records of a relay that has died.
 */
const LOOK_EVERY_MS = 5_000;
const RECORDS_AT_ONCE = 50;
/** How long a relay may work on the records of one step before another one takes them over. */
const CLAIM_MS = 15_000;
const BACKOFF: Backoff = { minMs: 1_000, maxMs: 300_000 };
const MEASURE_EVERY_MS = 5_000;
/** Records beyond this are not counted: the number is large enough to alert, and counting is expensive. */
const COUNTED_MAX = 10_000;

/** Carries out outbox entries; `filled` is raised when there are any. Any number of relays may run. */
export function startRelay(dependencies: RelayDependencies, filled: WakeSignal): Loop {
  const retryIn = (ms: number) => void setTimeout(() => filled.raise(), ms).unref();
  const step = async () => (await relay(dependencies, new Date(), retryIn)).hasMore;
  const name = `outbox relay of ${dependencies.sources.map((source) => source.name).join(', ')}`;
  return startLoop(dependencies.logger, { name, everyMs: LOOK_EVERY_MS, step, wake: filled });
}

/** Keeps the gauges of pending outbox entries up to date. */
export function startMeasuringOutboxes(dependencies: RelayDependencies): Loop {
  const step = () => measureOutboxes(dependencies, new Date());
  return startLoop(dependencies.logger, { name: 'measuring outboxes', everyMs: MEASURE_EVERY_MS, step });
}

/** The result of one step: how many entries it carried out, and whether more records are due. */
type RelayStep = { entries: number; hasMore: boolean };

/**
 * Carries out the entries of the records that have been due longest. `retryIn` is called with the delay in ms when an
 * entry failed.
 */
export async function relay(
  dependencies: RelayDependencies,
  now: Date,
  retryIn: (ms: number) => void = () => undefined,
): Promise<RelayStep> {
  const until = new Date(now.getTime() + CLAIM_MS);
  const steps = dependencies.sources.map(async (source) => {
    const { claimed, hasMore } = await source.claimDue(now, until, RECORDS_AT_ONCE);
    const done = await inTurns(claimed, (one) => {
      const { origin, entries } = one;
      const attributes = {
        'adsweep.scan.id': origin.scanId,
        'adsweep.outbox.entries': entries.map(({ kind }) => kind),
      };
      return inSpan('outbox', origin.traceparent, { attributes }, () =>
        relayRecord(dependencies, source, one, now, retryIn),
      );
    });
    return { entries: done.reduce((total, count) => total + count, 0), hasMore };
  });
  const ofSources = await Promise.all(steps);
  return {
    entries: ofSources.reduce((total, { entries }) => total + entries, 0),
    hasMore: ofSources.some(({ hasMore }) => hasMore),
  };
}

/**
 * One record's entries in order; when one fails, the following entries of the same record wait, those of other records
 * do not.
 */
async function relayRecord(
  dependencies: RelayDependencies,
  source: OutboxSource,
  claimed: ClaimedOutbox,
  now: Date,
  retryIn: (ms: number) => void,
): Promise<number> {
  const { logger, metrics } = dependencies;
  const done: string[] = [];
  let retryAt: Date | null = null;
  for (const entry of claimed.entries) {
    try {
      await awaitTurn();
      await carryOut(dependencies, entry, claimed.origin);
      done.push(entry.id);
    } catch (cause) {
      const waitMs = backoffMs(BACKOFF, claimed.failures);
      retryAt = new Date(now.getTime() + waitMs);
      retryIn(waitMs);
      metrics.outboxFailures.inc({ kind: entry.kind });
      logger.warn({ source: source.name, id: claimed.id, entry: entry.id, cause }, 'an outbox entry failed');
      break;
    }
  }
  await source.finish(claimed, done, retryAt);
  return done.length;
}

async function carryOut({ handlers, metrics }: RelayDependencies, entry: OutboxEntry, origin: Origin): Promise<void> {
  // The registry is keyed by kind: the handler of an entry's kind takes entries of that kind.
  const handle = handlers[entry.kind] as (entry: OutboxEntry, origin: Origin) => Promise<void>;
  await handle(entry, origin);
  metrics.outboxEntries.inc({ kind: entry.kind });
}

/** Sets the gauges of pending outbox entries once. */
export async function measureOutboxes({ sources, metrics }: RelayDependencies, now: Date): Promise<void> {
  for (const source of sources) {
    const { records, oldestAt } = await source.backlog(COUNTED_MAX);
    metrics.outboxRecords.set({ source: source.name }, records);
    const ageMs = oldestAt ? Math.max(0, now.getTime() - oldestAt.getTime()) : 0;
    metrics.outboxAge.set({ source: source.name }, ageMs / 1000);
  }
}
