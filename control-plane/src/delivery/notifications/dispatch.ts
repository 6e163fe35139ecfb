import { derivedId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import type { Loop } from '../../platform/start-loop.ts';
import { type Serving, startPool } from '../../platform/start-pool.ts';
import { type ComposeParts, composeMessage } from './compose-message.ts';
import type { DestinationRecord } from './destination.ts';
import { afterSending, hasFailedTooLong, pauseAfter, type SendOutcome, TRIED_FOR_MS } from './destination-health.ts';
import type { DestinationStore } from './destination-store.ts';
import type { MessageRecord, NoticeStore } from './notice-store.ts';
import { GROUPED_MS } from './queue-notices.ts';
import type { SendMessage } from './send-message.ts';

export type DispatchParts = {
  destinations: DestinationStore;
  notices: NoticeStore;
  compose: ComposeParts;
  send: SendMessage;
  metrics: Pick<WorkMetrics, 'alertMessages'>;
  logger: Logger;
  clock?: () => Date;
};

const LOOK_EVERY_MS = 2_000;
/** Longer than any channel may take for one message. */
const CLAIM_MS = 180_000;
/** Destinations that a process works for at a time: of all organizations, and of one. */
const AT_ONCE = 32;
const OF_ONE_AT_ONCE = 4;
/**
 * Messages that are sent for one destination before others have their turn, and for how long further ones are begun.
 */
const MESSAGES_PER_CLAIM = 20;
const BEGUN_FOR_MS = 10_000;

/** Sends what is due. Any number of dispatchers may run. */
export function startDispatching(parts: DispatchParts): Loop {
  return startPool(parts.logger, {
    name: 'alert messages',
    everyMs: LOOK_EVERY_MS,
    concurrency: AT_ONCE,
    concurrencyEach: OF_ONE_AT_ONCE,
    claimedAtOnce: AT_ONCE,
    claim: (limit, serving) => claim(parts, limit, serving),
    serve: (destination, signal) => serve(parts, destination, signal),
  });
}

/**
 * Claims due destinations and sends what is due for them. Returns whether there were any: a step of the pool, for
 * tests.
 */
export async function dispatchDue(parts: DispatchParts): Promise<boolean> {
  const { claimed } = await claim(parts, AT_ONCE, { each: AT_ONCE, now: new Map() });
  await Promise.all(claimed.map((one) => serve(parts, one)));
  return claimed.length > 0;
}

function claim({ destinations, clock = () => new Date() }: DispatchParts, limit: number, serving: Serving) {
  const now = clock();
  return destinations.claimDue(now, new Date(now.getTime() + CLAIM_MS), limit, serving);
}

/** Sends the due messages of a claimed destination, and releases it. */
async function serve(parts: DispatchParts, claimed: DestinationRecord, signal?: AbortSignal): Promise<void> {
  const { destinations, clock = () => new Date() } = parts;
  const until = clock().getTime() + BEGUN_FOR_MS;
  for (let sent = 0; ; sent += 1) {
    const now = clock();
    const destination = await destinations.extend(claimed, new Date(now.getTime() + CLAIM_MS));
    if (!destination) return;
    if (hasFailedTooLong(destination.health, now)) {
      await destinations.setHealth(destination, destination.health, { now });
      return;
    }
    await formMessages(parts, destination, now);
    const of = { organization_id: destination.organization_id, destination_id: destination._id };
    const next = await parts.notices.nextMessage(of);
    const { paused_until } = destination.health;
    const mayFrom = Math.max(next?.due_at.getTime() ?? 0, paused_until?.getTime() ?? 0);
    const isDue = next !== null && mayFrom <= now.getTime();
    const isTurnOver = sent >= MESSAGES_PER_CLAIM || now.getTime() > until;
    if (!isDue || isTurnOver || signal?.aborted) {
      const nextAt = next && Math.max(mayFrom, now.getTime());
      if (await destinations.release(destination, await dueAgainAt(parts, destination, nextAt))) return;
      continue;
    }
    if (!(await sendOne(parts, destination, next, signal))) return;
  }
}

/**
 * When a destination is due again whose next message may be sent at `nextAt` (Unix ms, null: it has none); null: with
 * its next notice.
 */
async function dueAgainAt(
  { notices }: DispatchParts,
  { organization_id, _id: destination_id, health: { failing_since } }: DestinationRecord,
  nextAt: number | null,
): Promise<Date | null> {
  const waiting = await notices.oldestWaiting({ organization_id, destination_id });
  const dueAts = [
    ...(failing_since ? [failing_since.getTime() + TRIED_FOR_MS] : []),
    ...(nextAt === null ? [] : [nextAt]),
    ...(waiting ? [waiting.queued_at.getTime() + GROUPED_MS] : []),
  ];
  return dueAts.length > 0 ? new Date(Math.min(...dueAts)) : null;
}

/**
 * Makes messages of the notices that have waited long enough. A notice begins one message, whose id follows from it.
 */
async function formMessages({ notices }: DispatchParts, destination: DestinationRecord, now: Date): Promise<void> {
  const of = { organization_id: destination.organization_id, destination_id: destination._id };
  for (;;) {
    const oldest = await notices.oldestWaiting(of);
    if (!oldest || oldest.queued_at.getTime() + GROUPED_MS > now.getTime()) return;
    const { organization_id, destination_id, campaign_id, status, queued_at } = oldest;
    const message = { organization_id, destination_id, campaign_id, status, queued_at, due_at: now, failures: 0 };
    const until = new Date(queued_at.getTime() + GROUPED_MS);
    await notices.form({ ...message, _id: derivedId(`message:${oldest._id}`, 0) }, until);
  }
}

/** Sends one message and writes what became of it. False: the destination is not ours any more. */
async function sendOne(
  { destinations, notices, compose, send, metrics, logger, clock = () => new Date() }: DispatchParts,
  destination: DestinationRecord,
  message: MessageRecord,
  signal?: AbortSignal,
): Promise<boolean> {
  const isOver = (now: Date) => now.getTime() - message.queued_at.getTime() >= TRIED_FOR_MS;
  const composed = isOver(clock()) ? null : await composeMessage(compose, message, destination);
  if (!composed) {
    if (isOver(clock())) metrics.alertMessages.inc({ channel: destination.channel, outcome: 'expired' });
    await notices.remove(message);
    return true;
  }
  let outcome: SendOutcome;
  try {
    outcome = await send(destination, composed, signal);
  } catch (cause) {
    if (signal?.aborted) return true;
    logger.error({ destination: destination._id, cause }, 'a message about alerts could not be made');
    outcome = { sent: false, status: null, reason: 'the message could not be made', cause };
  }
  // The process stops: nothing has failed, and another one sends the message.
  if (!outcome.sent && signal?.aborted) return true;
  const now = clock();
  metrics.alertMessages.inc({ channel: destination.channel, outcome: outcome.sent ? 'sent' : 'failed' });
  if (outcome.sent) await notices.remove(message);
  else {
    const { cause, status, reason } = outcome;
    logger.info({ destination: destination._id, status, reason, cause }, 'a message about alerts failed');
    await notices.postpone(message, new Date(now.getTime() + pauseAfter(message.failures, outcome.retryAfterMs)));
  }
  const health = afterSending(destination.health, outcome, now);
  return destinations.setHealth(destination, health, null);
}
