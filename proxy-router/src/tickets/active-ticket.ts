import { CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { RequestRate } from '@adsweep/shared/service/request-rate.ts';
import type { GatewayOutcome, TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { TicketHolder } from '../exits/ticket-counts.ts';
import type { Destination } from '../providers/provider.ts';
import type { TicketClaims } from './ticket.ts';

const REQUESTS_MAX = 5_000;
/** Characters of all recorded URLs together: a page chooses how long its URLs are. */
const URL_CHARACTERS_MAX = 4_000_000;
const HOSTS_MAX = 5_000;

/** What a ticket needs of an open connection to a target. */
export type TicketStream = { count(): void; close(outcome: GatewayOutcome): void };

/** Bytes exchanged with targets, as seen from the browser. */
export type TransferredBytes = Pick<TicketTraffic, 'bytes_sent' | 'bytes_received'>;

/** A ticket in use: its open connections and its traffic so far. Its memory is bounded, whatever a page does. */
export class ActiveTicket {
  readonly claims: TicketClaims;
  /** Byte limit, both directions together. */
  readonly bytesMax: number;
  readonly requestRate = new RequestRate();
  readonly #hosts = new Map<string, TicketTraffic['hosts'][number]>();
  readonly #requests: TicketTraffic['requests'] = [];
  readonly #streams = new Set<TicketStream>();
  #urlCharacters = 0;
  #bytesSent: number;
  #bytesReceived: number;
  #isClosed = false;
  #connecting = 0;
  readonly #openedAt = performance.now();
  /** Monotonic time of the last activity; null before the first. */
  #activeAt: number | null = null;

  /** `before`: the bytes transferred before this process started. */
  constructor(claims: TicketClaims, bytesMax: number, before: TransferredBytes = { bytes_sent: 0, bytes_received: 0 }) {
    this.claims = claims;
    this.bytesMax = bytesMax;
    this.#bytesSent = before.bytes_sent;
    this.#bytesReceived = before.bytes_received;
  }

  /** The enrolled node that has it. */
  get holder(): TicketHolder {
    return this.claims.node ?? null;
  }

  get transferred(): TransferredBytes {
    return { bytes_sent: this.#bytesSent, bytes_received: this.#bytesReceived };
  }

  get bytes(): number {
    return this.#bytesSent + this.#bytesReceived;
  }

  /** The number of connections to targets that are open or being opened. */
  get streams(): number {
    return this.#connecting + this.#streams.size;
  }

  /** For how long it has had no connection, in ms; 0 while it has one. */
  get unusedMs(): number {
    return this.streams > 0 ? 0 : performance.now() - (this.#activeAt ?? this.#openedAt);
  }

  /** Whether the ticket has used up its byte limit. */
  get isSpent(): boolean {
    return this.bytes > this.bytesMax;
  }

  /** Whether the ticket was deleted, has expired or is spent. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** `url` has no credentials and no fragment; `atMs` is Unix time in milliseconds. */
  recordRequest(method: string, url: string, atMs: number): void {
    if (this.#requests.length >= REQUESTS_MAX) return;
    this.#requests.push({ method, url: this.#clip(url), at_ms: atMs });
  }

  /** Records a connection attempt; `address` is the dialled address, null if none was dialled. */
  recordConnection({ host, port }: Destination, address: string | null, outcome: GatewayOutcome): void {
    const key = `${host} ${port}`;
    const known = this.#hosts.get(key);
    if (!known && this.#hosts.size >= HOSTS_MAX) return;
    const connections = (known?.connections ?? 0) + 1;
    this.#hosts.set(key, { ...known, host, port, address: address ?? known?.address ?? null, outcome, connections });
  }

  /** Records the failure of an established connection. */
  recordOutcome({ host, port }: Destination, outcome: GatewayOutcome): void {
    const known = this.#hosts.get(`${host} ${port}`);
    if (known) known.outcome = outcome;
  }

  /** Records that a connection through an upstream received nothing for STALLED_MS. */
  recordStall({ host, port }: Destination): void {
    const known = this.#hosts.get(`${host} ${port}`);
    if (known) known.stalled = true;
  }

  /** Adds bytes that were transferred. At the limit, all connections of the ticket are closed. */
  addBytes(sent: number, received: number): void {
    this.#touch();
    this.#bytesSent += sent;
    this.#bytesReceived += received;
    if (this.isSpent) this.close('too_large');
  }

  /** Called before a target is resolved and dialled; each call needs one of {@link connectEnded}. */
  connectBegan(): void {
    this.#connecting += 1;
    this.#touch();
  }

  connectEnded(): void {
    this.#connecting -= 1;
    this.#touch();
  }

  streamOpened(stream: TicketStream): void {
    this.#streams.add(stream);
  }

  streamClosed(stream: TicketStream): void {
    this.#streams.delete(stream);
    this.#touch();
  }

  /** Brings the byte counts of open connections up to date. */
  count(): void {
    for (const stream of this.#streams) stream.count();
  }

  /** Closes all connections, for good. */
  close(outcome: GatewayOutcome = 'ok'): void {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.close(outcome);
  }

  traffic(): TicketTraffic {
    this.count();
    return {
      ticket_id: this.claims.id,
      ...this.transferred,
      open_streams: this.streams,
      connecting_streams: this.#connecting,
      quiet_ms: this.#quietMs(),
      hosts: [...this.#hosts.values()],
      requests: this.#requests,
    };
  }

  #clip(url: string): string {
    const clipped = url.slice(0, CAPTURE_URL_LENGTH_MAX);
    this.#urlCharacters += clipped.length;
    if (this.#urlCharacters <= URL_CHARACTERS_MAX) return clipped;
    const pathAt = url.indexOf('/', 'https://'.length);
    return url.slice(0, pathAt + 1);
  }

  #touch(): void {
    this.#activeAt = performance.now();
  }

  #quietMs(): number {
    return this.#activeAt === null ? Number.MAX_SAFE_INTEGER : Math.floor(performance.now() - this.#activeAt);
  }
}
