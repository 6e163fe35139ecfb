import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import type { Context, Middleware } from 'koa';
import { RELAYED_HEADER, type Replica, replicaOf } from '../tickets/ticket.ts';
import { ApiError } from './api-error.ts';

const DEADLINE_MS = 4_000;

/**
 * Forwards calls about a ticket to the replica that issued it. `own`: this replica, null if it is the only one;
 * `reach`: a URL under which the API of another one is reached.
 */
export function forwardToIssuer(
  own: Replica | null,
  ticketSecret: string,
  reach: (url: string) => Promise<string>,
): Middleware {
  return async (context, next) => {
    const [, ticketId = ''] = /^\/exits\/([^/]+)/.exec(context.path) ?? [];
    const replica = replicaOf(ticketId, ticketSecret);
    if (own === null || replica === null || replica.api === own.api) return next();
    if (context.get(RELAYED_HEADER) !== '') throw unreachable();
    await forward(replica, context, reach);
  };
}

async function forward({ api }: Replica, context: Context, reach: (url: string) => Promise<string>): Promise<void> {
  const headers = { authorization: context.get('authorization'), [RELAYED_HEADER]: '1' };
  try {
    const { status, text } = await fetchInTime(
      (await reach(api)) + context.path,
      { method: context.method, headers },
      DEADLINE_MS,
    );
    context.status = status;
    if (text === '') return;
    context.type = 'application/json';
    context.body = text;
  } catch {
    throw unreachable();
  }
}

const unreachable = () =>
  new ApiError(503, 'replica_unreachable', 'The replica that keeps this ticket cannot be reached.');
