import { bearerCredential, sameSecret } from '@adsweep/shared/service/bearer.ts';
import { type ExitRefusal, ExitRequestSchema } from '@adsweep/shared/targeting/exit-ticket.ts';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { ExitSource } from '../catalogue/exit-source.ts';
import { ApiError } from '../http/api-error.ts';
import { readJson } from '../http/read-json.ts';
import type { RouterMetrics } from '../metrics.ts';
import type { TicketAccounts } from '../tickets/ticket-accounts.ts';
import type { ExitHealth } from './exit-health.ts';
import { issueTicket } from './issue-ticket.ts';

export type ApiParts = {
  source: ExitSource;
  health: ExitHealth;
  accounts: TicketAccounts;
  metrics: RouterMetrics;
  nodeToken: string;
  ticketSecret: string;
  /** URL of the gateway for a caller who reached this API by `hostname`. */
  gatewayUrl(hostname: string): string;
};

const REFUSALS: Record<ExitRefusal, [status: number, text: string]> = {
  NODE_NOT_FOUND: [404, 'No exit is where it was asked for.'],
  NODE_BUSY: [503, 'All exits that would do are out of service for now.'],
  ACCOUNT_REFUSED: [403, 'The provider refuses our account.'],
};

/** The API for nodes and the control plane; every call needs the node token. */
export function exitRoutes(parts: ApiParts): Router {
  const router = new Router();
  router.use(requireToken(parts.nodeToken));
  router.get('/catalogue', (context) => {
    context.body = parts.source.catalogue();
  });
  router.post('/exits', (context) => createExit(parts, context));
  router.get('/exits/:ticket_id/traffic', (context) => {
    const account = parts.accounts.find(context.params.ticket_id ?? '');
    if (!account) throw new ApiError(404, 'not_found', 'This router knows no such ticket.');
    context.body = account.present();
  });
  router.delete('/exits/:ticket_id', async (context) => {
    await parts.accounts.delete(context.params.ticket_id ?? '', Date.now());
    context.status = 204;
  });
  return router;
}

function requireToken(nodeToken: string): Middleware {
  return (context, next) => {
    if (!sameSecret(bearerCredential(context.get('authorization')), nodeToken)) {
      throw new ApiError(401, 'unauthorized', 'A valid node token is required.');
    }
    return next();
  };
}

async function createExit({ source, health, accounts, metrics, ...parts }: ApiParts, context: Context): Promise<void> {
  const request = await readJson(ExitRequestSchema, context.req);
  const server = parts.gatewayUrl(context.hostname);
  const issuing = { exits: source.exits, health, secret: parts.ticketSecret };
  const issued = issueTicket(issuing, request, server, Date.now());
  if ('refusal' in issued) {
    metrics.tickets.inc({ outcome: issued.refusal });
    throw new ApiError(REFUSALS[issued.refusal][0], issued.refusal, REFUSALS[issued.refusal][1]);
  }
  metrics.tickets.inc({ outcome: 'issued' });
  accounts.of(issued.ticket);
  context.status = 201;
  context.body = issued.reply;
}
