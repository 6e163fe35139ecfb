import { isDeepStrictEqual } from 'node:util';
import type { FailureCode } from '@adsweep/shared/failures.ts';
import type { CrawlJob, JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import { SHARED_JOBS } from '@adsweep/shared/lease/job-limits.ts';
import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import { type ExitTicket, TICKET_SECONDS_MAX, type TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { ExitCheckError } from '../browser/exit-check.ts';
import type { BrowserPool, OpenContext } from '../browser/open-context.ts';
import { deniedHosts } from '../capture/harness/publisher-url.ts';
import type { NodeMetrics } from '../metrics.ts';
import type { AttemptStop } from './attempt-stop.ts';
import type { ExitsClient } from './exits-client.ts';

/** The exit and the browser context that an attempt runs in. `traffic`: what the gateway carried for this attempt. */
export type AttemptContext = { ticket: ExitTicket; open: OpenContext; traffic: () => Promise<TicketTraffic | null> };
/** Why an attempt has no exit (`proxy: ...`) or no context (`browser: CRASHED`). */
export type NoContext = { code: FailureCode; cause: unknown };

/** `isRouterGone`: asked where a request got no ticket; `isBrowserGone`: where no context was opened. */
export type ContextParts = {
  exits: ExitsClient;
  isRouterGone: () => Promise<boolean>;
  isBrowserGone: () => Promise<boolean>;
  pool: BrowserPool;
  metrics: Pick<NodeMetrics, 'exits'>;
};
/** What an attempt needs; `isolated`: a browser of its own; `goesLast`: with the lowest priority. */
export type ContextRequest = { member: JobMember; emulator: Emulator; isolated: boolean; goesLast: boolean };

/**
 * Opens the contexts of a job's attempts. Each attempt has its own, so that none sees what another one left, except in
 * a shared repeat group and in a sweep: their members run in one context, with one ticket, as long as the context is
 * usable.
 */
export class AttemptContexts {
  readonly #parts: ContextParts;
  readonly #job: CrawlJob;
  /** Whether the next attempt runs in the context of the last one. */
  readonly isShared: boolean;
  #kept: AttemptContext | null = null;
  /** What the gateway reported last of the newest ticket. */
  #carried: TicketTraffic | null = null;

  constructor(parts: ContextParts, job: CrawlJob) {
    this.#parts = parts;
    this.#job = job;
    this.isShared = SHARED_JOBS.has(job.kind);
  }

  /**
   * Opens a context for an attempt, or returns the shared one. Throws the reason of `stop` when the attempt is stopped.
   * Stops it as `declined` where the proxy-router or the browser is gone.
   */
  async open(request: ContextRequest, stop: AttemptStop): Promise<AttemptContext | NoContext> {
    return this.#kept ? this.#reuse(this.#kept) : this.#open(request, stop);
  }

  /**
   * Closes the context of an attempt that has ended, or keeps it for the next one if it is shared and still usable
   * (`isFit`).
   */
  async release(context: AttemptContext, isFit: boolean, stop: AttemptStop): Promise<void> {
    if (this.isShared && isFit) {
      this.#kept ??= context;
      return;
    }
    this.#kept = null;
    await this.#close(context, stop);
  }

  /** Closes the shared context at the end of the job. */
  async close(stop: AttemptStop): Promise<void> {
    const kept = this.#kept;
    this.#kept = null;
    if (kept) await this.#close(kept, stop);
  }

  async #close({ open, ticket }: AttemptContext, stop: AttemptStop): Promise<void> {
    const closed = open.close();
    // A node that drains releases the job first, and does not wait for the context to close.
    if (stop.reason !== 'drain') await closed;
    void this.#parts.exits.forget(ticket.ticket_id);
  }

  async #open(request: ContextRequest, stop: AttemptStop): Promise<AttemptContext | NoContext> {
    const { exits, isRouterGone, isBrowserGone, pool, metrics } = this.#parts;
    const { member, emulator, isolated, goesLast } = request;
    const answer = await exits.request(this.#exitFor(member), stop.signal, member.traceparent);
    if (!('ticket' in answer)) {
      metrics.exits.inc({ answer: 'refusal' in answer ? answer.refusal : 'unreachable' });
      // One that stops says that it is busy.
      const mayBeGone = 'unreachable' in answer || answer.refusal === 'NODE_BUSY';
      if (mayBeGone && (await isRouterGone())) throw declined(stop);
      return { code: `proxy: ${'refusal' in answer ? answer.refusal : 'UPSTREAM_FAILED'}`, cause: answer.cause };
    }
    metrics.exits.inc({ answer: 'granted' });
    const { ticket } = answer;
    const opening = pool.open({ emulator, countryCode: member.targeting.country_code, ticket, isolated, goesLast });
    try {
      const open = await stop.race(opening, (late) => void late.close());
      this.#carried = null;
      return { ticket, open, traffic: () => this.#traffic(ticket) };
    } catch (error) {
      void exits.forget(ticket.ticket_id);
      if (stop.reason) throw error;
      if (error instanceof ExitCheckError) return { code: 'proxy: UPSTREAM_FAILED', cause: error.message };
      if (await isBrowserGone()) throw declined(stop);
      return { code: 'browser: CRASHED', cause: error };
    }
  }

  /**
   * One ticket serves all members that share a context: Chromium keeps the first credentials for as long as the context
   * exists.
   */
  #exitFor(member: JobMember) {
    const { exit_session, kind, limits, members } = this.#job;
    const attempts = this.isShared ? members.length : 1;
    // The ads of a sweep are known only after its page was loaded.
    const ttlSeconds = kind === 'sweep' ? TICKET_SECONDS_MAX : attempts * limits.ticket_seconds;
    const denied = deniedHosts(member.target, member.referrer);
    return {
      targeting: member.targeting,
      session: exit_session,
      scan_id: member.scan_id,
      ttl_seconds: Math.min(TICKET_SECONDS_MAX, ttlSeconds),
      bytes_max: (kind === 'sweep' ? 1 : attempts) * limits.ticket_bytes,
      ...(denied.length > 0 && { deny_hosts: denied }),
    };
  }

  /** The shared context for the next attempt, which is not charged with earlier traffic. */
  async #reuse({ ticket, open }: AttemptContext): Promise<AttemptContext> {
    const before = (await this.#traffic(ticket)) ?? this.#carried;
    const traffic = async () => {
      const all = await this.#traffic(ticket);
      return all && before ? trafficSince(all, before) : all;
    };
    return { ticket, open, traffic };
  }

  async #traffic({ ticket_id }: ExitTicket): Promise<TicketTraffic | null> {
    const carried = await this.#parts.exits.traffic(ticket_id);
    this.#carried = carried ?? this.#carried;
    return carried;
  }
}

/** Stops an attempt that can be made later or by another node; returns the reason to throw. */
function declined(stop: AttemptStop): unknown {
  stop.stop('declined');
  return stop.signal.reason;
}

/**
 * A ticket's traffic after `before`. Hosts are kept: a connection of an earlier attempt may have been reused. A router
 * that has started again since then lists requests anew, and counts fewer bytes if it was killed. Pure.
 */
export function trafficSince(all: TicketTraffic, before: TicketTraffic): TicketTraffic {
  const listed = before.requests.length;
  const isContinued = isDeepStrictEqual(all.requests[listed - 1], before.requests[listed - 1]);
  return {
    ...all,
    bytes_sent: Math.max(0, all.bytes_sent - before.bytes_sent),
    bytes_received: Math.max(0, all.bytes_received - before.bytes_received),
    requests: isContinued ? all.requests.slice(listed) : all.requests,
  };
}
