import type { ExitRefusal, ExitRequest, ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import { type BlameDependencies, blameExit } from '../exits/blame-exit.ts';
import type { ExitCheck, ExitEvidence } from '../exits/exit-check.ts';
import { targetingKey } from '../exits/exit-index.ts';
import type { ExitSource } from '../exits/exit-source.ts';
import { type Pick, pickExit, type SessionExits } from '../exits/pick-exit.ts';
import type { TicketCounts, TicketHolder } from '../exits/ticket-counts.ts';
import { ConnectionFailure } from '../providers/connection-failure.ts';
import type { Exit } from '../providers/exit.ts';
import { newTicketId, type Replica, signTicket, type TicketClaims } from './ticket.ts';
import type { TicketRegistry } from './ticket-registry.ts';

export type IssueDependencies = BlameDependencies & {
  source: ExitSource;
  counts: TicketCounts;
  tickets: TicketRegistry;
  sessions: SessionExits;
  check: ExitCheck;
  ticketSecret: string;
  /** This replica, where there are several. */
  replica: Replica | null;
};

/** A ticket, or the reason why none was issued. */
export type Issued = { reply: ExitTicket } | { refusal: ExitRefusal };

/** Exits that are tried for one ticket before the request is refused with NODE_BUSY. */
const EXITS_MAX = 3;

/** Who asks for a ticket, and the URL of the gateway for them. */
export type Asked = { holder: TicketHolder; server: string };

/**
 * Issues a ticket for an exit that matches the request and opens it, or returns a refusal. An exit that fails its check
 * is skipped, and a node that has too many tickets gets none.
 */
export async function issueTicket(
  dependencies: IssueDependencies,
  request: ExitRequest,
  { holder, server }: Asked,
): Promise<Issued> {
  const { check, counts, tickets } = dependencies;
  counts.asked(holder, performance.now());
  for (let tried = 0; tried < EXITS_MAX; tried += 1) {
    if (tickets.hasTooMany(holder)) break;
    const picked = pick(dependencies, request, holder, performance.now());
    if ('refusal' in picked) return picked;
    const { exit } = picked;
    try {
      const evidence = await check.evidenceOf({ exit, session: request.session });
      const { claims, reply } = sign(dependencies, request, exit, evidence, { holder, server });
      tickets.open(claims);
      return { reply };
    } catch (error) {
      const purpose = { scan: request.scan_id, node: holder };
      if (!(error instanceof ConnectionFailure) || !blameExit(dependencies, exit, error, purpose)) throw error;
    } finally {
      counts.closed(exit.id, holder);
    }
  }
  return { refusal: 'NODE_BUSY' };
}

/** The exit counts as in use from now on: others are picked during its check. */
function pick(
  { source, health, counts, sessions }: IssueDependencies,
  { targeting, session, ttl_seconds }: ExitRequest,
  holder: TicketHolder,
  now: number,
): Pick {
  const memory = `${session}\n${targetingKey(targeting)}`;
  const conditions = {
    stateOf: (exit: Exit) => (counts.isFull(exit, holder, now) ? 'full' : health.state(exit, now, holder)),
    scoreOf: (exit: Exit) => health.score(exit, holder),
  } as const;
  const picked = pickExit(source.index.select(targeting), session, conditions, sessions.find(memory, now));
  if ('refusal' in picked) {
    // Not found would end the scan for good.
    const isUnknown = picked.refusal === 'NODE_NOT_FOUND' && !source.isComplete;
    return isUnknown ? { refusal: 'NODE_BUSY' } : picked;
  }
  health.assigned(picked.exit, now, holder);
  counts.opened(picked.exit.id, holder);
  sessions.remember(memory, picked.exit.id, now + ttl_seconds * 1000);
  return picked;
}

function sign(
  { ticketSecret, replica }: IssueDependencies,
  request: ExitRequest,
  exit: Exit,
  evidence: ExitEvidence,
  { holder, server }: Asked,
): { claims: TicketClaims; reply: ExitTicket } {
  const { session, scan_id: scan, bytes_max: bytes, deny_hosts: deny, ttl_seconds } = request;
  const expires = Date.now() + ttl_seconds * 1000;
  const id = newTicketId(replica, ticketSecret);
  const limits = { ...(bytes && { bytes }), ...(deny && { deny }), ...(holder !== null && { node: holder }) };
  const claims = { id, exit: exit.id, session, scan, expires, ...limits };
  const reply = {
    ticket_id: id,
    server,
    ...signTicket(claims, ticketSecret),
    expires_at: new Date(expires).toISOString(),
    exit: presentExit(exit, session, evidence),
  };
  return { claims, reply };
}

function presentExit(exit: Exit, session: string, { isp, ...evidence }: ExitEvidence): ExitTicket['exit'] {
  const { timezone, latitude, longitude } = exit;
  return {
    provider: exit.provider,
    exit_id: exit.id,
    country_code: exit.country_code,
    proxy_type: exit.proxy_type,
    region: exit.region ?? null,
    city: exit.city ?? null,
    isp: exit.isp ?? isp,
    session,
    ...evidence,
    ...(timezone !== undefined && { timezone }),
    ...(latitude !== undefined && longitude !== undefined && { latitude, longitude }),
  };
}
