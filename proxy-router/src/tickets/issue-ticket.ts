import { newId } from '@adsweep/shared/ids.ts';
import type { ExitRefusal, ExitRequest, ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { ExitHealth } from '../exits/exit-health.ts';
import { pickExit } from '../exits/pick-exit.ts';
import type { ListedExit } from '../providers/listed-exit.ts';
import { signTicket, type TicketClaims } from './ticket.ts';

export type IssueDependencies = { exits: ListedExit[]; health: ExitHealth; secret: string };

/** Issues a ticket for an exit that matches the request, or tells why there is none. `server`: URL of the gateway; `now`: Unix milliseconds. */
export function issueTicket(
  { exits, health, secret }: IssueDependencies,
  request: ExitRequest,
  server: string,
  now: number,
): { claims: TicketClaims; reply: ExitTicket } | { refusal: ExitRefusal } {
  const picked = pickExit(exits, request.targeting, request.session, (exitId) => health.isUnavailable(exitId, now));
  if ('refusal' in picked) return picked;
  const { exit } = picked;
  health.assigned(exit.id, now);
  const expires = now + request.ttl_seconds * 1000;
  const { session, scan_id: scan, bytes_max: bytes } = request;
  const claims = { id: newId(), exit: exit.id, session, scan, expires, ...(bytes && { bytes }) };
  const reply = {
    ticket_id: claims.id,
    server,
    ...signTicket(claims, secret),
    expires_at: new Date(expires).toISOString(),
    exit: presentExit(exit, request.session),
  };
  return { claims, reply };
}

function presentExit(exit: ListedExit, session: string): ExitTicket['exit'] {
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
