import { createHmac } from 'node:crypto';
import { sameSecret } from '@adsweep/shared/service/bearer.ts';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

const TicketClaimsSchema = Type.Object(
  {
    id: Type.String(),
    exit: Type.String(),
    session: Type.String(),
    scan: Type.String(),
    /** Unix time in milliseconds at which the ticket expires. */
    expires: Type.Integer(),
    /** Bytes that it may transfer, both directions together, where the router allows more. */
    bytes: Type.Optional(Type.Integer()),
    /** Hosts that it may not reach. */
    deny: Type.Optional(Type.Array(Type.String())),
  },
  { additionalProperties: false },
);

/** What a ticket says: the right of one scan to use one exit until it expires. */
export type TicketClaims = Static<typeof TicketClaimsSchema>;

/** A ticket as Basic credentials (RFC 7617). */
export type TicketCredentials = { username: string; password: string };

/** The user name holds the claims and the password their signature, so that any router with the same secret can verify them. */
export function signTicket(claims: TicketClaims, secret: string): TicketCredentials {
  const username = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return { username, password: signature(username, secret) };
}

/** The claims of a ticket; null when it is forged or has expired at `now`. Signatures are compared in constant time. */
export function verifyTicket(
  { username, password }: TicketCredentials,
  secret: string,
  now: number,
): TicketClaims | null {
  if (!sameSecret(password, signature(username, secret))) return null;
  const claims: unknown = JSON.parse(Buffer.from(username, 'base64url').toString());
  return Value.Check(TicketClaimsSchema, claims) && claims.expires > now ? claims : null;
}

function signature(username: string, secret: string): string {
  return createHmac('sha256', secret).update(`exit-ticket\n${username}`).digest('base64url');
}
