import { openExitSession } from '@adsweep/shared/lease/exit-session.ts';
import { nodeOfRouterPass } from '@adsweep/shared/lease/router-pass.ts';
import { bearerCredential, isOneOfSecrets } from '@adsweep/shared/service/bearer.ts';
import { RequestRate } from '@adsweep/shared/service/request-rate.ts';
import {
  type ExitRefusal,
  type ExitRequest,
  ExitRequestSchema,
  type LeaseRefusal,
} from '@adsweep/shared/targeting/exit-ticket.ts';
import { inSpan, SpanKind } from '@adsweep/shared/tracing/spans.ts';
import { readTraceparent } from '@adsweep/shared/tracing/traceparent.ts';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { TicketHolder } from '../exits/ticket-counts.ts';
import { type IssueDependencies, type Issued, issueTicket } from '../tickets/issue-ticket.ts';
import { isIssuedId } from '../tickets/ticket.ts';
import { ApiError } from './api-error.ts';
import { forwardToIssuer } from './other-replica.ts';
import { readJson } from './read-json.ts';

export type ApiDependencies = IssueDependencies & {
  /** A URL under which the API of another replica is reached. */
  reach: (url: string) => Promise<string>;
  /** Accepted node tokens, separated by commas. */
  nodeTokens: string;
  /** URL of the gateway for a caller who reached this API by `hostname`. */
  gatewayUrl(hostname: string): string;
  /** False while the process starts or stops: no tickets are issued. */
  isReady: () => boolean;
};

const REFUSALS: Record<ExitRefusal | LeaseRefusal, [status: number, text: string]> = {
  NODE_NOT_FOUND: [404, 'No exit matches the targeting.'],
  NODE_BUSY: [503, 'All exits that match the targeting are unavailable at the moment.'],
  ACCOUNT_REFUSED: [403, 'The provider refused our account.'],
  LEASE_REQUIRED: [403, 'An enrolled node gets tickets for the exit session of its lease.'],
  LEASE_SPENT: [429, 'This lease has had as many tickets as it needs.'],
};

/** The API for nodes and the control plane; every call needs the node token, or the pass of an enrolled node. */
export function exitRoutes(dependencies: ApiDependencies): Router {
  const { source, tickets, nodeTokens, replica, ticketSecret, reach } = dependencies;
  const router = new Router();
  router.use(requireToken(nodeTokens), forwardToIssuer(replica, ticketSecret, reach));
  router.get('/catalogue', (context) => {
    context.set('ETag', JSON.stringify(source.catalogueTimes().version));
    context.body = source.catalogueJson();
    context.type = 'json';
  });
  router.get('/catalogue/times', (context) => {
    context.body = source.catalogueTimes();
  });
  const logged = new RequestRate();
  router.post('/exits', (context) => {
    const details = { kind: SpanKind.SERVER, attributes: { 'http.request.method': 'POST', 'http.route': '/exits' } };
    const parent = readTraceparent(context.req.headers.traceparent);
    return inSpan('POST /exits', parent, details, () => createTicket({ ...dependencies, logged }, context));
  });
  router.get('/exits/:ticket_id/traffic', (context) => {
    const ticket = tickets.find(context.params.ticket_id ?? '');
    if (!ticket) throw new ApiError(404, 'not_found', 'This router knows no such ticket.');
    context.body = ticket.traffic();
  });
  router.delete('/exits/:ticket_id', async (context) => {
    const { ticket_id: ticketId = '' } = context.params;
    if (tickets.find(ticketId) || isIssuedId(ticketId, ticketSecret)) await tickets.delete(ticketId, Date.now());
    context.status = 204;
  });
  return router;
}

/** What is known of a caller: the name of an enrolled node; null: it has the join token. */
type CallerState = { node: TicketHolder };

/**
 * Calls of an enrolled node in a second that change anything, on average. Each asks a vendor or is written to the disk.
 */
const CHANGES_PER_SECOND = 50;

function requireToken(nodeTokens: string): Middleware {
  const rate = new RequestRate();
  return (context, next) => {
    const credential = bearerCredential(context.get('authorization'));
    const isJoined = isOneOfSecrets(credential, nodeTokens);
    const node = isJoined ? null : nodeOfRouterPass(credential, nodeTokens, new Date());
    if (!isJoined && node === null) throw new ApiError(401, 'unauthorized', 'A valid node token is required.');
    if (node !== null && context.method !== 'GET' && !rate.admits(node, CHANGES_PER_SECOND, performance.now()))
      throw new ApiError(429, 'too_many_requests', 'This node asks for too many tickets.');
    (context.state as CallerState).node = node;
    return next();
  };
}

const LOGGED_PER_SECOND = 0.1;

/** `logged`: how often the refusals of a node are logged. */
type TicketDependencies = ApiDependencies & { logged: RequestRate };

async function createTicket(dependencies: TicketDependencies, context: Context): Promise<void> {
  const { metrics, isReady, tickets } = dependencies;
  const request = await readJson(ExitRequestSchema, context.req);
  const issued = isReady() ? await issueWithinLease(dependencies, request, context) : { refusal: 'NODE_BUSY' as const };
  if ('refusal' in issued) {
    const [status, text] = REFUSALS[issued.refusal];
    metrics.tickets.inc({ outcome: issued.refusal });
    throw new ApiError(status, issued.refusal, text);
  }
  metrics.tickets.inc({ outcome: 'issued' });
  // A node that has given up would not delete it, and it would count as one in use until it expires.
  if (context.req.socket.destroyed) await tickets.delete(issued.reply.ticket_id, Date.now());
  context.status = 201;
  context.body = issued.reply;
}

/** Issues a ticket, to an enrolled node for a lease that it has and within what that lease needs. */
async function issueWithinLease(
  dependencies: TicketDependencies,
  request: ExitRequest,
  context: Context,
): Promise<Issued | { refusal: LeaseRefusal }> {
  const { gatewayUrl, nodeTokens, tickets, logged, logger } = dependencies;
  const { node: holder } = context.state as CallerState;
  const asked = { holder, server: gatewayUrl(context.hostname) };
  if (holder === null) return issueTicket(dependencies, request, asked);
  const lease = openExitSession(request.session, nodeTokens, holder, new Date());
  const refuse = (refusal: LeaseRefusal) => {
    if (logged.admits(holder, LOGGED_PER_SECOND, performance.now()))
      logger.warn({ node_id: holder, refusal }, 'an enrolled node asks for more exits than its leases need');
    return { refusal };
  };
  if (!lease) return refuse('LEASE_REQUIRED');
  const { session, attempts } = lease;
  const bytes = tickets.leases.bytesFor(session, attempts, request.bytes_max ?? Number.MAX_SAFE_INTEGER);
  if (bytes === 0) return refuse('LEASE_SPENT');
  // Reserved meanwhile: the tickets of several requests would count only once each is issued.
  tickets.leases.add(session, { tickets: 1, bytes });
  try {
    return await issueTicket(dependencies, { ...request, session, bytes_max: bytes }, asked);
  } finally {
    tickets.leases.add(session, { tickets: -1, bytes: -bytes });
  }
}
