import { CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import type { GatewayOutcome, TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { Destination } from '../providers/provider.ts';
import type { Ticket } from './ticket.ts';

const REQUESTS_MAX = 5_000;
/** Characters of all recorded URLs together: a page chooses how long its URLs are. */
const URL_CHARACTERS_MAX = 4_000_000;
const HOSTS_MAX = 5_000;

/** A connection to a target, as its account sees it. */
export type CountedStream = { count(): void; end(outcome: GatewayOutcome): void };

/** Bytes exchanged with targets, as seen from the browser. */
export type CarriedBytes = Pick<TicketTraffic, 'bytes_sent' | 'bytes_received'>;

/** What one ticket carried. Its memory is bounded, whatever a page does. */
export class TicketAccount {
  readonly ticket: Ticket;
  readonly #bytesMax: number;
  readonly #hosts = new Map<string, TicketTraffic['hosts'][number]>();
  readonly #requests: TicketTraffic['requests'] = [];
  readonly #streams = new Set<CountedStream>();
  #urlCharacters = 0;
  #bytesSent: number;
  #bytesReceived: number;
  #isClosed = false;
  #connecting = 0;
  /** Monotonic time of the last sign of life; null before the first. */
  #activeAt: number | null = null;

  /** `bytesMax`: both directions together; `before`: what the ticket carried before this process started. */
  constructor(ticket: Ticket, bytesMax: number, before: CarriedBytes = { bytes_sent: 0, bytes_received: 0 }) {
    this.ticket = ticket;
    this.#bytesMax = bytesMax;
    this.#bytesSent = before.bytes_sent;
    this.#bytesReceived = before.bytes_received;
  }

  get carried(): CarriedBytes {
    return { bytes_sent: this.#bytesSent, bytes_received: this.#bytesReceived };
  }

  get bytes(): number {
    return this.#bytesSent + this.#bytesReceived;
  }

  get isFull(): boolean {
    return this.bytes > this.#bytesMax;
  }

  /** Whether the ticket was deleted or has expired, or all that it may carry is carried. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A request or tunnel was asked for. `url` has no credentials and no fragment. */
  noteRequest(method: string, url: string, atMs: number): void {
    if (this.#requests.length >= REQUESTS_MAX) return;
    this.#requests.push({ method, url: this.#recorded(url), at_ms: atMs });
  }

  /** A connection was tried; `address` is what was dialled. */
  noteConnection({ host, port }: Destination, address: string | null, outcome: GatewayOutcome): void {
    const key = `${host} ${port}`;
    const known = this.#hosts.get(key);
    if (!known && this.#hosts.size >= HOSTS_MAX) return;
    const connections = (known?.connections ?? 0) + 1;
    this.#hosts.set(key, { host, port, address: address ?? known?.address ?? null, outcome, connections });
  }

  /** A connection that was reached came to another end than it looked. */
  noteOutcome({ host, port }: Destination, outcome: GatewayOutcome): void {
    const known = this.#hosts.get(`${host} ${port}`);
    if (known) known.outcome = outcome;
  }

  /** Bytes moved. Once there are too many, nothing of this ticket stays open. */
  add(sent: number, received: number): void {
    this.#active();
    this.#bytesSent += sent;
    this.#bytesReceived += received;
    if (this.isFull) this.closeAll('too_large');
  }

  /** A target is being resolved and dialled for a new stream; every call is followed by one of {@link connectEnded}. */
  connectBegan(): void {
    this.#connecting += 1;
    this.#active();
  }

  connectEnded(): void {
    this.#connecting -= 1;
    this.#active();
  }

  opened(stream: CountedStream): void {
    this.#streams.add(stream);
  }

  closed(stream: CountedStream): void {
    this.#streams.delete(stream);
    this.#active();
  }

  /** Brings the figures of open connections up to date. */
  count(): void {
    for (const stream of this.#streams) stream.count();
  }

  /** Closes what is open, for good. */
  closeAll(outcome: GatewayOutcome = 'ok'): void {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.end(outcome);
  }

  present(): TicketTraffic {
    this.count();
    return {
      ticket_id: this.ticket.id,
      ...this.carried,
      open_streams: this.#connecting + this.#streams.size,
      connecting_streams: this.#connecting,
      quiet_ms: this.#quietMs(),
      hosts: [...this.#hosts.values()],
      requests: this.#requests,
    };
  }

  #recorded(url: string): string {
    const clipped = url.slice(0, CAPTURE_URL_LENGTH_MAX);
    this.#urlCharacters += clipped.length;
    if (this.#urlCharacters <= URL_CHARACTERS_MAX) return clipped;
    const pathAt = url.indexOf('/', 'https://'.length);
    return url.slice(0, pathAt + 1);
  }

  #active(): void {
    this.#activeAt = performance.now();
  }

  #quietMs(): number {
    return this.#activeAt === null ? Number.MAX_SAFE_INTEGER : Math.floor(performance.now() - this.#activeAt);
  }
}
