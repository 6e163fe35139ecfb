import { createHmac } from 'node:crypto';
import { sameSecret } from '@adsweep/shared/service/bearer.ts';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

const TicketSchema = Type.Object(
  {
    id: Type.String(),
    exit: Type.String(),
    session: Type.String(),
    scan: Type.String(),
    /** Unix time in milliseconds after which the ticket is worth nothing. */
    expires: Type.Integer(),
  },
  { additionalProperties: false },
);

/** The right to use one exit until it expires. */
export type Ticket = Static<typeof TicketSchema>;

/** A ticket as Basic credentials (RFC 7617). */
export type TicketCredentials = { username: string; password: string };

/** Says the ticket in the user name and vouches for it in the password, so that any router with the same secret can tell. */
export function signTicket(ticket: Ticket, secret: string): TicketCredentials {
  const username = Buffer.from(JSON.stringify(ticket)).toString('base64url');
  return { username, password: signature(username, secret) };
}

/** The ticket in credentials; null when they are forged or expired at `now`. Takes the same time wherever a signature differs. */
export function verifyTicket({ username, password }: TicketCredentials, secret: string, now: number): Ticket | null {
  if (!sameSecret(password, signature(username, secret))) return null;
  const ticket: unknown = JSON.parse(Buffer.from(username, 'base64url').toString());
  return Value.Check(TicketSchema, ticket) && ticket.expires > now ? ticket : null;
}

function signature(username: string, secret: string): string {
  return createHmac('sha256', secret).update(`exit-ticket\n${username}`).digest('base64url');
}
