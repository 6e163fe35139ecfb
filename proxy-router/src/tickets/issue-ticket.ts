import { newId } from '@adsweep/shared/ids.ts';
import type { ExitRefusal, ExitRequest, ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { ExitHealth } from '../exits/exit-health.ts';
import { type ExitIndex, targetingKey } from '../exits/exit-index.ts';
import { pickExit } from '../exits/pick-exit.ts';
import type { SessionExits } from '../exits/session-exits.ts';
import type { TicketCounts } from '../exits/ticket-counts.ts';
import type { Exit } from '../providers/exit.ts';
import { signTicket, type TicketClaims } from './ticket.ts';

export type IssueDependencies = {
  index: ExitIndex;
  health: ExitHealth;
  counts: TicketCounts;
  sessions: SessionExits;
  secret: string;
};

/** Issues a ticket for an exit that matches the request, or tells why there is none. `server`: URL of the gateway; `now`: Unix milliseconds. */
export function issueTicket(
  { index, health, counts, sessions, secret }: IssueDependencies,
  request: ExitRequest,
  server: string,
  now: number,
): { claims: TicketClaims; reply: ExitTicket } | { refusal: ExitRefusal } {
  const { targeting, session, scan_id: scan, bytes_max: bytes, deny_hosts: deny } = request;
  const memory = `${session}\n${targetingKey(targeting)}`;
  const conditions = {
    stateOf: (exit: Exit) => (counts.isFull(exit) ? 'full' : health.state(exit, now)),
    scoreOf: (exit: Exit) => health.score(exit),
  } as const;
  const picked = pickExit(index.select(targeting), session, conditions, sessions.find(memory, now));
  if ('refusal' in picked) return picked;
  const { exit } = picked;
  health.assigned(exit, now);
  const expires = now + request.ttl_seconds * 1000;
  sessions.remember(memory, exit.id, expires);
  const claims = { id: newId(), exit: exit.id, session, scan, expires, ...(bytes && { bytes }), ...(deny && { deny }) };
  const reply = {
    ticket_id: claims.id,
    server,
    ...signTicket(claims, secret),
    expires_at: new Date(expires).toISOString(),
    exit: presentExit(exit, request.session),
  };
  return { claims, reply };
}

function presentExit(exit: Exit, session: string): ExitTicket['exit'] {
  return {
    provider: exit.provider,
    exit_id: exit.id,
    country_code: exit.country_code,
    proxy_type: exit.proxy_type,
    region: exit.region ?? null,
    city: exit.city ?? null,
    isp: exit.isp ?? null,
    session,
    ip: null,
    observed_country_code: null,
    asn: null,
  };
}
