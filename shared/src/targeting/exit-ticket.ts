import { type Static, Type } from 'typebox';
import { TargetingSchema } from './catalogue.ts';

/** The longest lifetime of a ticket. */
export const TICKET_SECONDS_MAX = 5460;

/** Body of the proxy-router's `POST /exits`. Requests with the same `session` get the same exit. */
export const ExitRequestSchema = Type.Object(
  {
    targeting: TargetingSchema,
    session: Type.String({ minLength: 1, maxLength: 100 }),
    scan_id: Type.String({ minLength: 1, maxLength: 100 }),
    /** Seconds until the ticket expires. */
    ttl_seconds: Type.Integer({ minimum: 1, maximum: TICKET_SECONDS_MAX }),
    /** Bytes that it may transfer, both directions together; absent, or above the router's limit: that limit. */
    bytes_max: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Hosts that it may not reach, each in lower case and without its subdomains. */
    deny_hosts: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 20 })),
  },
  { additionalProperties: false },
);
export type ExitRequest = Static<typeof ExitRequestSchema>;

const nullable = Type.Union([Type.String(), Type.Null()]);

/** A name, code or address of an exit. Those of the exits file and of vendors are much shorter. */
const ExitText = Type.String({ maxLength: 1_000 });
const exitTextOrNull = Type.Union([ExitText, Type.Null()]);

/**
 * The exit that a scan used; null: unknown. `verified`: whether the exit check found its address and country, null:
 * exits are not checked.
 */
export const ExitSchema = Type.Object(
  {
    provider: ExitText,
    exit_id: ExitText,
    country_code: ExitText,
    proxy_type: ExitText,
    region: exitTextOrNull,
    city: exitTextOrNull,
    isp: exitTextOrNull,
    session: ExitText,
    verified: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    ip: exitTextOrNull,
    observed_country_code: exitTextOrNull,
    asn: exitTextOrNull,
    // What the operator's exits file says about its place, if anything.
    timezone: Type.Optional(Type.String({ maxLength: 100 })),
    latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
    longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
  },
  { maxProperties: 30 },
);
export type Exit = Static<typeof ExitSchema>;

/** Credentials for the gateway, which allow the use of one exit for a while. `server` is `http://host:port`. */
export const ExitTicketSchema = Type.Object({
  ticket_id: Type.String(),
  server: Type.String(),
  username: Type.String(),
  password: Type.String(),
  expires_at: Type.String(),
  exit: ExitSchema,
});
export type ExitTicket = Static<typeof ExitTicketSchema>;

/** Reasons for a refusal of `POST /exits`: the `code` of the response. */
export const EXIT_REFUSALS = ['NODE_NOT_FOUND', 'NODE_BUSY', 'ACCOUNT_REFUSED'] as const;
export type ExitRefusal = (typeof EXIT_REFUSALS)[number];

/**
 * Further ones, for an enrolled node: its request names no lease that it has, or one that has had as many tickets as it
 * needs.
 */
export const LEASE_REFUSALS = ['LEASE_REQUIRED', 'LEASE_SPENT'] as const;
export type LeaseRefusal = (typeof LEASE_REFUSALS)[number];

/**
 * Why the gateway could not connect to a target; `ok`: it could. `upstream_failed`, `rate_limited`, `account_refused`
 * and `no_exit` (the provider has none at the place) are the exit's, the others the target's or the ticket's.
 */
export const GATEWAY_OUTCOMES = [
  'ok',
  'dns',
  'private_address',
  'connection_refused',
  'connection_failed',
  'timeout',
  'upstream_failed',
  'rate_limited',
  'account_refused',
  'no_exit',
  'denied_host',
  'too_large',
  'too_many_requests',
] as const;
export type GatewayOutcome = (typeof GATEWAY_OUTCOMES)[number];

/** A connection that receives nothing for this long has stalled, in milliseconds. Slow targets need up to 3 s. */
export const STALLED_MS = 5_000;

/**
 * Response of `GET /exits/{ticket_id}/traffic`: a ticket's traffic so far. `requests` has plain http requests by URL
 * and tunnels as `https://host:port/` with method CONNECT, in order, at most 5000; `at_ms` is Unix time in
 * milliseconds. A URL is cut after CAPTURE_URL_LENGTH_MAX characters; once the URLs of a ticket have 4 million, further
 * ones are listed without a path. `hosts` has at most 5000. The byte counts survive a restart of the router, the lists
 * do not.
 *
 * `open_streams` counts the tunnels and requests that are open now, `connecting_streams` those among them whose target
 * is still being resolved or dialled: their host may be missing from `hosts`. `quiet_ms` is the time since a stream
 * last began, connected or ended or a byte moved; Number.MAX_SAFE_INTEGER where that never happened.
 *
 * `stalled` of a host: through an upstream, a connection to it received nothing for STALLED_MS or longer while it was
 * open. A tunnel without a pending request counts too: only the browser knows whether it waits for a response.
 *
 * To wait until a page's traffic is over, wait for `connecting_streams === 0` and a `quiet_ms` of the length you need.
 * Do not wait for `open_streams === 0` while the browser context is open: Chromium keeps idle tunnels for later pages
 * and closes them with the context.
 */
export const TicketTrafficSchema = Type.Object({
  ticket_id: Type.String(),
  bytes_sent: Type.Integer({ minimum: 0 }),
  bytes_received: Type.Integer({ minimum: 0 }),
  open_streams: Type.Integer({ minimum: 0 }),
  connecting_streams: Type.Integer({ minimum: 0 }),
  quiet_ms: Type.Integer({ minimum: 0 }),
  hosts: Type.Array(
    Type.Object({
      host: Type.String(),
      port: Type.Integer(),
      address: nullable,
      outcome: Type.Enum(GATEWAY_OUTCOMES),
      connections: Type.Integer(),
      stalled: Type.Optional(Type.Boolean()),
    }),
  ),
  requests: Type.Array(Type.Object({ method: Type.String(), url: Type.String(), at_ms: Type.Number() })),
});
export type TicketTraffic = Static<typeof TicketTrafficSchema>;
