import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import {
  EXIT_REFUSALS,
  type ExitRefusal,
  type ExitRequest,
  type ExitTicket,
  ExitTicketSchema,
  type TicketTraffic,
  TicketTrafficSchema,
} from '@adsweep/shared/targeting/exit-ticket.ts';
import { carried, inSpan, SpanKind } from '@adsweep/shared/tracing/spans.ts';
import { jsonOrNull } from '@adsweep/shared/validation/json-or-null.ts';
import { Compile } from 'typebox/compile';
import { hostOf } from '../config.ts';

const exitTicket = Compile(ExitTicketSchema);
const ticketTraffic = Compile(TicketTrafficSchema);

/** A ticket, a refusal, or that the proxy-router could not be reached; `cause` is for our log. */
export type ExitAnswer =
  | { ticket: ExitTicket }
  | { refusal: ExitRefusal; cause: string }
  | { unreachable: true; cause: string };

const REQUEST_DEADLINE_MS = 20_000;
const CALL_DEADLINE_MS = 5_000;

/** Talks to the proxy-router's API. `baseUrl` without a trailing slash. */
export class ExitsClient {
  readonly #baseUrl: string;
  readonly #token: () => string;
  readonly #gatewayHosts: readonly string[];
  readonly #reach: (gateway: string) => Promise<string>;
  /** How far the clock of the proxy-router is ahead of this machine's, in ms, by the ticket that it issued. */
  readonly #aheadMs = new Map<string, number>();

  /**
   * `token`: returns the present one. `gatewayHosts`: the hosts of the gateways that browsers may use; `reach`: the URL
   * of a gateway for a browser.
   */
  constructor(
    baseUrl: string,
    token: () => string,
    gatewayHosts: readonly string[],
    reach: (gateway: string) => Promise<string> = async (gateway) => gateway,
  ) {
    this.#baseUrl = baseUrl;
    this.#token = token;
    this.#gatewayHosts = gatewayHosts;
    this.#reach = reach;
  }

  /** Requests an exit, in a span below `parent`. Throws only when `signal` is aborted. */
  request(request: ExitRequest, signal: AbortSignal, parent?: string): Promise<ExitAnswer> {
    const details = { kind: SpanKind.CLIENT, attributes: { 'http.request.method': 'POST', 'url.template': '/exits' } };
    return inSpan('POST /exits', parent, details, async (span) => {
      const answer = await this.#request(request, signal, span.traceparent);
      if (!('ticket' in answer)) span.fail('refusal' in answer ? answer.refusal : 'unreachable');
      return answer;
    });
  }

  async #request(request: ExitRequest, signal: AbortSignal, traceparent: string | null): Promise<ExitAnswer> {
    const askedAt = Date.now();
    try {
      const { status, body } = await this.#call('POST', '/exits', REQUEST_DEADLINE_MS, {
        signal,
        json: request,
        headers: carried(traceparent),
      });
      if (status === 201) {
        const ticket = exitTicket.Parse(body);
        const issuedAt = Date.parse(ticket.expires_at) - request.ttl_seconds * 1000;
        const ahead = aheadMs(issuedAt, askedAt, Date.now());
        const answer = await this.#usable(ticket);
        if ('ticket' in answer) this.#aheadMs.set(ticket.ticket_id, ahead);
        return answer;
      }
      const { code, detail } = (body ?? {}) as { code?: unknown; detail?: unknown };
      const cause = `POST /exits was answered ${status}: ${String(detail).slice(0, 300)}`;
      const refusal = EXIT_REFUSALS.find((known) => known === code);
      return refusal ? { refusal, cause } : { unreachable: true, cause };
    } catch (error) {
      signal.throwIfAborted();
      return { unreachable: true, cause: `POST /exits: ${(error as Error).message}` };
    }
  }

  async #usable(ticket: ExitTicket): Promise<ExitAnswer> {
    const host = hostOf(ticket.server);
    if (this.#gatewayHosts.includes(host)) return { ticket: { ...ticket, server: await this.#reach(ticket.server) } };
    return { unreachable: true, cause: `the ticket names a gateway on ${host}: add it to ADSWEEP_GATEWAY_HOSTS` };
  }

  /**
   * A ticket's traffic so far, with times by this machine's clock; null if the proxy-router does not know it or cannot
   * be reached. Never throws.
   */
  async traffic(ticketId: string): Promise<TicketTraffic | null> {
    try {
      const path = `/exits/${encodeURIComponent(ticketId)}/traffic`;
      const { status, body } = await this.#call('GET', path, CALL_DEADLINE_MS);
      if (status !== 200) return null;
      const traffic = ticketTraffic.Parse(body);
      const ahead = this.#aheadMs.get(ticketId) ?? 0;
      return { ...traffic, requests: traffic.requests.map((one) => ({ ...one, at_ms: one.at_ms - ahead })) };
    } catch {
      return null;
    }
  }

  /** Throws unless the proxy-router issues tickets, and takes this node's token. */
  async requireReady(): Promise<void> {
    for (const path of ['/readyz', '/catalogue/times']) {
      const { status } = await this.#call('GET', path, CALL_DEADLINE_MS);
      if (status !== 200) throw new Error(`GET ${path} was answered ${status}`);
    }
  }

  /**
   * Deletes a ticket that is no longer needed. Without it the ticket expires, so this waits only briefly, and never
   * throws.
   */
  async forget(ticketId: string): Promise<void> {
    this.#aheadMs.delete(ticketId);
    await this.#call('DELETE', `/exits/${encodeURIComponent(ticketId)}`, CALL_DEADLINE_MS).catch(() => undefined);
  }

  /** The status and the JSON body of the response, null without one. */
  async #call(method: string, path: string, deadlineMs: number, { signal, json, headers: more }: Call = {}) {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#token()}`, ...more };
    if (json !== undefined) headers['content-type'] = 'application/json';
    const body = json === undefined ? null : JSON.stringify(json);
    const { status, text } = await fetchInTime(this.#baseUrl + path, { method, headers, body, signal }, deadlineMs);
    return { status, body: jsonOrNull(text) };
  }
}

/**
 * How far another clock is ahead of ours at the least, in ms, if by that clock a moment between `from` and `until` of
 * ours was at `at`: 0 where it may be right. Pure.
 */
function aheadMs(at: number, from: number, until: number): number {
  if (at > until) return at - until;
  return at < from ? at - from : 0;
}

type Call = { signal?: AbortSignal; json?: unknown; headers?: Record<string, string> };
