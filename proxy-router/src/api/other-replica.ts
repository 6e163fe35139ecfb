import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import type { Context, Middleware } from 'koa';
import { RELAYED_HEADER, type Replica, replicaOf } from '../tickets/ticket-id.ts';
import { ApiError } from './api-error.ts';

const DEADLINE_MS = 4_000;

/** Passes calls about a ticket whose account another replica keeps on to that one. `own` null: there is only this one. */
export function passOn(own: Replica | null, ticketSecret: string): Middleware {
  return async (context, next) => {
    const [, ticketId = ''] = /^\/exits\/([^/]+)/.exec(context.path) ?? [];
    const replica = replicaOf(ticketId, ticketSecret);
    if (own === null || replica === null || replica.api === own.api) return next();
    if (context.get(RELAYED_HEADER) !== '') throw unreachable();
    await answerOf(replica, context);
  };
}

async function answerOf({ api }: Replica, context: Context): Promise<void> {
  const headers = { authorization: context.get('authorization'), [RELAYED_HEADER]: '1' };
  try {
    const { status, text } = await fetchInTime(api + context.path, { method: context.method, headers }, DEADLINE_MS);
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
