import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type GatewayOutcome, STALLED_MS } from '@adsweep/shared/targeting/exit-ticket.ts';
import { TunnelSocket } from '../providers/tunnel-socket.ts';

/**
 * `onBytes` receives the bytes since its last call; `onStall` is called when nothing was received for STALLED_MS;
 * `onClose` once.
 */
export type UpstreamObserver = {
  onBytes(sent: number, received: number): void;
  onStall(): void;
  onClose(outcome: GatewayOutcome): void;
};

/**
 * A connection to a target. Its bytes are counted while it is open; it is closed when it is idle or either side closes.
 */
export class UpstreamConnection {
  readonly socket: Socket;
  readonly #observer: UpstreamObserver;
  #sent: number;
  #received: number;
  #receivedAt = performance.now();
  #outcome: GatewayOutcome = 'ok';

  /** `idleMs`: time without a byte in either direction after which the connection is closed. */
  constructor(socket: Socket, idleMs: number, observer: UpstreamObserver) {
    this.socket = socket;
    this.#observer = observer;
    // The bytes of the CONNECT exchange with an upstream proxy are not counted.
    const { bytesRead, bytesWritten } = socket;
    this.#sent = bytesWritten;
    this.#received = bytesRead - socket.readableLength;
    // A target that has sent bytes may go idle or close; one that never did has failed.
    const unlessAnswered = (failure: GatewayOutcome) => (socket.bytesRead === bytesRead ? failure : 'ok');
    socket.setTimeout(idleMs, () => this.close(unlessAnswered('timeout')));
    socket.on('error', () => this.close(unlessAnswered('connection_failed')));
    // It got a request and closed before us.
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

  /** Counts with every chunk. The caller must already read the socket: a 'data' listener alone makes it flow. */
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
  close(outcome: GatewayOutcome): void {
    if (this.#outcome === 'ok') this.#outcome = outcome;
    this.socket.destroy();
  }
}

/**
 * Pipes bytes between the client and the target until either closes. Bytes returned with `unshift` on either side are
 * sent first.
 */
export function pipe(client: Duplex, connection: UpstreamConnection): void {
  client.pipe(connection.socket);
  connection.countFrom(client);
  pipeAnswer(client, connection);
}

/** Pipes bytes from the target to the client until either closes. Bytes returned with `unshift` are sent first. */
export function pipeAnswer(client: Duplex, connection: UpstreamConnection): void {
  const target = connection.socket;
  joinEnds(client, target);
  joinEnds(target, client);
  if (target instanceof TunnelSocket) target.forwardTo(client, () => connection.count());
  else {
    target.pipe(client);
    connection.countFrom(target);
  }
}

function joinEnds(from: Duplex, to: Duplex): void {
  // The error needs no handling here: the 'close' after it ends the other side.
  from.on('error', () => to.destroy());
  from.on('close', () => endAfterWriting(to));
}

/**
 * Ends a side whose peer has closed, after the pending bytes are written; the idle limit closes one that does not read.
 */
function endAfterWriting(stream: Duplex): void {
  stream.resume();
  // `end` would make an error with a stack for a stream that has ended: most have.
  if (stream.destroyed || stream.writableFinished) stream.destroy();
  else stream.end(() => stream.destroy());
}
