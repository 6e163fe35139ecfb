import type { CrawlJob, JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import { type ExitTicket, TICKET_SECONDS_MAX, type TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { BrowserPool, OpenContext } from '../browser/open-context.ts';
import { deniedHosts } from '../capture/harness/publisher-url.ts';
import type { NodeMetrics } from '../metrics.ts';
import type { AttemptStop } from './attempt-stop.ts';
import type { ExitAnswer, ExitsClient } from './exits-client.ts';

/** Where an attempt runs: an exit and a context that leaves by it. `traffic`: what the gateway carried for this attempt. */
export type Place = { ticket: ExitTicket; open: OpenContext; traffic: () => Promise<TicketTraffic | null> };
/** Why there is none. */
export type NoPlace = Exclude<ExitAnswer, { ticket: ExitTicket }> | { noContext: unknown };

export type PlaceParts = { exits: ExitsClient; pool: BrowserPool; metrics: Pick<NodeMetrics, 'exits'> };
/** What an attempt needs; `isolated`: a browser of its own. */
export type PlaceRequest = { member: JobMember; emulator: Emulator; isolated: boolean };

/**
 * The places of a job's attempts. Each has its own, so that none sees what another one left, except in a shared repeat group: its members
 * run in one context, with one ticket, as long as the context is usable.
 */
export class AttemptPlaces {
  readonly #parts: PlaceParts;
  readonly #job: CrawlJob;
  readonly #isShared: boolean;
  #kept: Place | null = null;

  constructor(parts: PlaceParts, job: CrawlJob) {
    this.#parts = parts;
    this.#job = job;
    this.#isShared = job.kind === 'repeat_group';
  }

  /** Whether the next attempt runs where the last one did. */
  get keeps(): boolean {
    return this.#isShared;
  }

  /** Throws what `stop` ends with. */
  async enter(request: PlaceRequest, stop: AttemptStop): Promise<Place | NoPlace> {
    return this.#kept ? this.#again(this.#kept) : this.#open(request, stop);
  }

  /** An attempt is over. `isFit`: another one may run in its place. */
  async leave(place: Place, isFit: boolean, stop: AttemptStop): Promise<void> {
    if (this.#isShared && isFit) {
      this.#kept ??= place;
      return;
    }
    this.#kept = null;
    await this.#close(place, stop);
  }

  /** The job is over. */
  async close(stop: AttemptStop): Promise<void> {
    const kept = this.#kept;
    this.#kept = null;
    if (kept) await this.#close(kept, stop);
  }

  async #close({ open, ticket }: Place, stop: AttemptStop): Promise<void> {
    const closed = open.close();
    // A node that drains releases the job before it cleans up.
    if (stop.reason !== 'drain') await closed;
    void this.#parts.exits.forget(ticket.ticket_id);
  }

  async #open(request: PlaceRequest, stop: AttemptStop): Promise<Place | NoPlace> {
    const { exits, pool, metrics } = this.#parts;
    const { member, emulator, isolated } = request;
    const answer = await exits.request(this.#exitFor(member), stop.signal);
    if (!('ticket' in answer)) {
      metrics.exits.inc({ answer: 'refusal' in answer ? answer.refusal : 'unreachable' });
      return answer;
    }
    metrics.exits.inc({ answer: 'granted' });
    const { ticket } = answer;
    const opening = pool.open({ emulator, countryCode: member.targeting.country_code, ticket, isolated });
    try {
      const open = await stop.race(opening, (late) => void late.close());
      return { ticket, open, traffic: () => exits.traffic(ticket.ticket_id) };
    } catch (error) {
      void exits.forget(ticket.ticket_id);
      if (stop.reason) throw error;
      return { noContext: error };
    }
  }

  /** One ticket serves all members that share it: Chromium answers the gateway with the first one for as long as the context lives. */
  #exitFor(member: JobMember) {
    const { exit_session, limits, members } = this.#job;
    const attempts = this.#isShared ? members.length : 1;
    const denied = deniedHosts(member.target, member.referrer);
    return {
      targeting: member.targeting,
      session: exit_session,
      scan_id: member.scan_id,
      ttl_seconds: Math.min(TICKET_SECONDS_MAX, attempts * limits.ticket_seconds),
      bytes_max: attempts * limits.ticket_bytes,
      ...(denied.length > 0 && { deny_hosts: denied }),
    };
  }

  /** The same place for the next attempt, which is not charged with earlier traffic. */
  async #again({ ticket, open }: Place): Promise<Place> {
    const { exits } = this.#parts;
    const before = await exits.traffic(ticket.ticket_id);
    const traffic = async () => {
      const all = await exits.traffic(ticket.ticket_id);
      return all && before ? trafficSince(all, before) : all;
    };
    return { ticket, open, traffic };
  }
}

/** A ticket's traffic after `before`. Hosts are kept: a connection of an earlier attempt may have been reused. Pure. */
function trafficSince(all: TicketTraffic, before: TicketTraffic): TicketTraffic {
  return {
    ...all,
    bytes_sent: all.bytes_sent - before.bytes_sent,
    bytes_received: all.bytes_received - before.bytes_received,
    requests: all.requests.slice(before.requests.length),
  };
}
