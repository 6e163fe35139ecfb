import { createHmac } from 'node:crypto';
import { newId } from '@adsweep/shared/ids.ts';
import { sameSecret } from '@adsweep/shared/service/bearer.ts';
import { setNewest } from '@adsweep/shared/service/set-newest.ts';
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
    /** Byte limit of the ticket, both directions together; it can only lower the router's limit. */
    bytes: Type.Optional(Type.Integer()),
    /** Hosts that the ticket may not reach. */
    deny: Type.Optional(Type.Array(Type.String())),
    /** The enrolled node that has the ticket; absent: one with the join token. */
    node: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);

/** The content of a ticket: the right of one scan to use one exit until it expires. */
export type TicketClaims = Static<typeof TicketClaimsSchema>;

/** A ticket as Basic credentials (RFC 7617). */
export type TicketCredentials = { username: string; password: string };

/**
 * The user name holds the claims and the password their signature, so that any router with the same secret can verify
 * them.
 */
export function signTicket(claims: TicketClaims, secret: string): TicketCredentials {
  const username = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return { username, password: signature('exit-ticket', username, secret) };
}

/** The claims of a ticket; null when it is forged or has expired at `now`. Signatures are compared in constant time. */
function verifyTicket({ username, password }: TicketCredentials, secret: string, now: number): TicketClaims | null {
  if (!sameSecret(password, signature('exit-ticket', username, secret))) return null;
  const claims: unknown = JSON.parse(Buffer.from(username, 'base64url').toString());
  return Value.Check(TicketClaimsSchema, claims) && claims.expires > now ? claims : null;
}

/** About 1 KB each. With more tickets in use at the same time, the oldest are verified again. */
const VERIFIED_MAX = 10_000;

/**
 * Verifies tickets and caches the valid ones: a browser presents the same ticket with each request. The expiry is
 * checked each time.
 */
export class VerifiedTickets {
  readonly #secret: string;
  /** By user name. */
  readonly #verified = new Map<string, { password: string; claims: TicketClaims }>();

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** As {@link verifyTicket}. */
  verify(credentials: TicketCredentials, now: number): TicketClaims | null {
    const { username, password } = credentials;
    const known = this.#verified.get(username);
    if (!known || !sameSecret(password, known.password)) return this.#verifyUncached(credentials, now);
    if (known.claims.expires > now) return known.claims;
    this.#verified.delete(username);
    return null;
  }

  #verifyUncached(credentials: TicketCredentials, now: number): TicketClaims | null {
    const claims = verifyTicket(credentials, this.#secret, now);
    if (claims === null) return null;
    setNewest(this.#verified, credentials.username, { password: credentials.password, claims }, VERIFIED_MAX);
    return claims;
  }
}

/**
 * Where other replicas reach the replica that issued a ticket and counts its traffic; URLs without a trailing slash.
 */
export type Replica = { api: string; gateway: string };

/**
 * Header that a replica adds to a request that it forwards to another replica, so that no request is forwarded twice.
 */
export const RELAYED_HEADER = 'adsweep-relayed';

export const TICKET_ID_LENGTH_MAX = 500;

/**
 * A new ticket id, signed, so that a router knows one that was issued from one that was invented. With a `replica` the
 * id names it, so that any other replica can forward requests about the ticket to it.
 */
export function newTicketId(replica: Replica | null, secret: string): string {
  const id = newId();
  const named = replica
    ? `${id}.${Buffer.from(JSON.stringify([replica.api, replica.gateway])).toString('base64url')}`
    : id;
  return `${named}.${signature('ticket-id', named, secret)}`;
}

/** Whether a router with this secret has issued a ticket with this id. */
export function isIssuedId(ticketId: string, secret: string): boolean {
  const signedAt = ticketId.lastIndexOf('.');
  if (ticketId.length > TICKET_ID_LENGTH_MAX || signedAt < 0) return false;
  return sameSecret(ticketId.slice(signedAt + 1), signature('ticket-id', ticketId.slice(0, signedAt), secret));
}

/** The replica that a ticket's id names; null for an id without one or with a forged signature. */
export function replicaOf(ticketId: string, secret: string): Replica | null {
  const [, replica, signed] = ticketId.split('.');
  if (replica === undefined || signed === undefined || !isIssuedId(ticketId, secret)) return null;
  const [api, gateway] = JSON.parse(Buffer.from(replica, 'base64url').toString()) as [string, string];
  return { api, gateway };
}

/** HMAC-SHA256, base64url. The prefix keeps a signed id from passing as a signed ticket. */
const signature = (kind: 'exit-ticket' | 'ticket-id', text: string, secret: string): string =>
  createHmac('sha256', secret).update(`${kind}\n${text}`).digest('base64url');
