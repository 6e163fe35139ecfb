import { createHmac } from 'node:crypto';
import { isId, newId } from '@adsweep/shared/ids.ts';
import { sameSecret } from '@adsweep/shared/service/bearer.ts';

/** Where the replica that keeps a ticket's account can be reached by the others; URLs without a trailing slash. */
export type Replica = { api: string; gateway: string };

/** What a replica adds to a request that it passes on, so that none is passed on twice. */
export const RELAYED_HEADER = 'adsweep-relayed';

export const TICKET_ID_LENGTH_MAX = 500;

/** A new id of a ticket. With a `replica` it names it, signed, so that any other can pass on what concerns the ticket. */
export function newTicketId(replica: Replica | null, secret: string): string {
  const id = newId();
  if (!replica) return id;
  const named = `${id}.${Buffer.from(JSON.stringify([replica.api, replica.gateway])).toString('base64url')}`;
  return `${named}.${signature(named, secret)}`;
}

/** The replica that a ticket's id names; null for none, and for an id that we did not sign. */
export function replicaOf(ticketId: string, secret: string): Replica | null {
  const [id = '', replica, signed] = ticketId.slice(0, TICKET_ID_LENGTH_MAX).split('.');
  if (replica === undefined || signed === undefined) return null;
  if (!sameSecret(signed, signature(`${id}.${replica}`, secret))) return null;
  const [api, gateway] = JSON.parse(Buffer.from(replica, 'base64url').toString()) as [string, string];
  return { api, gateway };
}

/** Whether a text can be the id of a ticket. */
export const isTicketId = (text: string): boolean => text.length <= TICKET_ID_LENGTH_MAX && isId(text.split('.')[0]!);

const signature = (named: string, secret: string): string =>
  createHmac('sha256', secret).update(`ticket-id\n${named}`).digest('base64url');
