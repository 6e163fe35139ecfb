import { newId } from '@adsweep/shared/ids.ts';
import type { ExitRefusal, ExitRequest, ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { ListedExit } from '../catalogue/exits-file.ts';
import { signTicket, type Ticket } from '../tickets/ticket.ts';
import type { ExitHealth } from './exit-health.ts';
import { pickExit } from './pick-exit.ts';

/** What issuing needs: the exits in force and their health, the secret that signs. */
export type Issuing = { exits: ListedExit[]; health: ExitHealth; secret: string };

/** A ticket for the wish, with `server` as the gateway's URL, or why there is none. `now` in Unix milliseconds. */
export function issueTicket(
  { exits, health, secret }: Issuing,
  request: ExitRequest,
  server: string,
  now: number,
): { ticket: Ticket; reply: ExitTicket } | { refusal: ExitRefusal } {
  const picked = pickExit(exits, request.targeting, request.session, (exitId) => health.isOut(exitId, now));
  if ('refusal' in picked) return picked;
  const { exit } = picked;
  health.taken(exit.id, now);
  const expires = now + request.ttl_seconds * 1000;
  const ticket = { id: newId(), exit: exit.id, session: request.session, scan: request.scan_id, expires };
  const reply = {
    ticket_id: ticket.id,
    server,
    ...signTicket(ticket, secret),
    expires_at: new Date(expires).toISOString(),
    exit: presentExit(exit, request.session),
  };
  return { ticket, reply };
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
