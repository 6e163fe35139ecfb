import type { GatewayOutcome, TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { Destination } from '../providers/provider.ts';
import type { Passage } from './passage.ts';

const REQUESTS_MAX = 5_000;
/** Characters of all recorded URLs together: a page chooses how long its URLs are. */
const URL_CHARACTERS_MAX = 4_000_000;
const HOSTS_MAX = 5_000;

/** What one ticket carried. Its memory is bounded, whatever a page does. */
export class TicketAccount {
  readonly #ticketId: string;
  readonly #bytesMax: number;
  readonly #hosts = new Map<string, TicketTraffic['hosts'][number]>();
  readonly #requests: TicketTraffic['requests'] = [];
  readonly #passages = new Set<Passage>();
  #urlCharacters = 0;
  #bytesSent = 0;
  #bytesReceived = 0;
  #connecting = 0;
  /** Monotonic time of the last sign of life; null before the first. */
  #activeAt: number | null = null;

  constructor(ticketId: string, bytesMax: number) {
    this.#ticketId = ticketId;
    this.#bytesMax = bytesMax;
  }

  get isFull(): boolean {
    return this.#bytesSent + this.#bytesReceived > this.#bytesMax;
  }

  noteRequest(method: string, url: string, atMs: number): void {
    this.#urlCharacters += url.length;
    if (this.#requests.length >= REQUESTS_MAX || this.#urlCharacters > URL_CHARACTERS_MAX) return;
    this.#requests.push({ method, url, at_ms: atMs });
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

  opened(passage: Passage): void {
    this.#passages.add(passage);
  }

  closed(passage: Passage): void {
    this.#passages.delete(passage);
    this.#active();
  }

  /** Brings the figures of open connections up to date. */
  count(): void {
    for (const passage of this.#passages) passage.count();
  }

  closeAll(outcome: GatewayOutcome = 'ok'): void {
    for (const passage of this.#passages) passage.end(outcome);
  }

  present(): TicketTraffic {
    this.count();
    return {
      ticket_id: this.#ticketId,
      bytes_sent: this.#bytesSent,
      bytes_received: this.#bytesReceived,
      open_streams: this.#connecting + this.#passages.size,
      connecting_streams: this.#connecting,
      quiet_ms: this.#quietMs(),
      hosts: [...this.#hosts.values()],
      requests: this.#requests,
    };
  }

  #active(): void {
    this.#activeAt = performance.now();
  }

  #quietMs(): number {
    return this.#activeAt === null ? Number.MAX_SAFE_INTEGER : Math.floor(performance.now() - this.#activeAt);
  }
}
