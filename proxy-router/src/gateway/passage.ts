import type { Socket } from 'node:net';
import type { GatewayOutcome } from '@adsweep/shared/targeting/exit-ticket.ts';

/** What a passage tells of itself: bytes since the last time, and its end, once, with the outcome it came to. */
export type PassageWatcher = {
  moved(sent: number, received: number): void;
  ended(outcome: GatewayOutcome): void;
};

/** One connection to a target under a ticket: counted while it is open, ended from whichever side gives up first. */
export class Passage {
  readonly socket: Socket;
  readonly #watcher: PassageWatcher;
  #sent = 0;
  #received = 0;
  #outcome: GatewayOutcome = 'ok';

  /** `idleMs`: how long nothing may move in either direction. */
  constructor(socket: Socket, idleMs: number, watcher: PassageWatcher) {
    this.socket = socket;
    this.#watcher = watcher;
    // A target that has answered may fall silent or hang up; one that never said a word failed.
    const unheard = (failure: GatewayOutcome) => (socket.bytesRead === 0 ? failure : 'ok');
    socket.setTimeout(idleMs, () => this.end(unheard('timeout')));
    socket.on('error', () => this.end(unheard('connection_failed')));
    socket.once('close', () => {
      this.count();
      watcher.ended(this.#outcome);
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
    if (sent > 0 || received > 0) this.#watcher.moved(sent, received);
  }

  /** Closes the connection. The first outcome that is not `ok` stays. */
  end(outcome: GatewayOutcome = 'ok'): void {
    if (this.#outcome === 'ok') this.#outcome = outcome;
    this.socket.destroy();
  }
}
