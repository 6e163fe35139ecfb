import type { Socket } from 'node:net';
import { type GatewayOutcome, STALLED_MS } from '@adsweep/shared/targeting/exit-ticket.ts';

/** `onBytes` gets the bytes since its last call, `onStall` is called when nothing was received for STALLED_MS, `onClose` once. */
export type UpstreamObserver = {
  onBytes(sent: number, received: number): void;
  onStall(): void;
  onClose(outcome: GatewayOutcome): void;
};

/** A connection to a target: its bytes are counted while it is open, and it is closed when it is idle or either side gives up. */
export class UpstreamConnection {
  readonly socket: Socket;
  readonly #observer: UpstreamObserver;
  #sent: number;
  #received: number;
  #receivedAt = performance.now();
  #outcome: GatewayOutcome = 'ok';

  /** `idleMs`: how long no byte may move in either direction. */
  constructor(socket: Socket, idleMs: number, observer: UpstreamObserver) {
    this.socket = socket;
    this.#observer = observer;
    // What an upstream proxy was asked and answered before is not the target's.
    const { bytesRead, bytesWritten } = socket;
    this.#sent = bytesWritten;
    this.#received = bytesRead - socket.readableLength;
    // A target that has answered may fall silent or hang up; one that never sent a byte has failed.
    const unlessAnswered = (failure: GatewayOutcome) => (socket.bytesRead === bytesRead ? failure : 'ok');
    socket.setTimeout(idleMs, () => this.close(unlessAnswered('timeout')));
    socket.on('error', () => this.close(unlessAnswered('connection_failed')));
    // One that was asked for something, and hung up before we did.
    socket.once('end', () => {
      if (socket.bytesWritten > bytesWritten && !socket.writableEnded && this.#outcome === 'ok')
        this.#outcome = unlessAnswered('connection_failed');
    });
    socket.once('close', () => {
      this.count();
      observer.onClose(this.#outcome);
    });
  }

  get outcome(): GatewayOutcome {
    return this.#outcome;
  }

  /** Counts with every chunk. The caller must have begun to read the socket: a listener alone makes it flow. */
  countFrom(...streams: NodeJS.ReadableStream[]): void {
    for (const stream of streams) stream.on('data', () => this.count());
  }

  count(): void {
    const sent = this.socket.bytesWritten - this.#sent;
    const received = this.socket.bytesRead - this.#received;
    this.#sent += sent;
    this.#received += received;
    if (received > 0) this.#receivedAt = performance.now();
    else if (performance.now() - this.#receivedAt >= STALLED_MS) this.#observer.onStall();
    if (sent > 0 || received > 0) this.#observer.onBytes(sent, received);
  }

  /** Closes the connection. The first outcome that is not `ok` stays. */
  close(outcome: GatewayOutcome = 'ok'): void {
    if (this.#outcome === 'ok') this.#outcome = outcome;
    this.socket.destroy();
  }
}
