import { sameSecret } from '@adsweep/shared/service/bearer.ts';
import { type TicketClaims, type TicketCredentials, verifyTicket } from './ticket.ts';

/** Some 1 KB each. Of more tickets than this in use at the same time, the first are verified anew. */
const VERIFIED_MAX = 10_000;

/**
 * Verifies tickets and remembers the valid ones: a page presents the same one with each of its requests. Whether it has expired is looked at
 * each time.
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
    if (!known || !sameSecret(password, known.password)) return this.#verifyAnew(credentials, now);
    if (known.claims.expires > now) return known.claims;
    this.#verified.delete(username);
    return null;
  }

  #verifyAnew(credentials: TicketCredentials, now: number): TicketClaims | null {
    const claims = verifyTicket(credentials, this.#secret, now);
    if (claims === null) return null;
    this.#verified.set(credentials.username, { password: credentials.password, claims });
    const [oldest] = this.#verified.keys();
    if (this.#verified.size > VERIFIED_MAX && oldest !== undefined) this.#verified.delete(oldest);
    return claims;
  }
}
