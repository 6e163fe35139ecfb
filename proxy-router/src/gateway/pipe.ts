import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { UpstreamConnection } from './upstream-connection.ts';

/** Pipes bytes between the client and the target until either closes. What was put back with `unshift` on either goes first. */
export function pipe(client: Socket | Duplex, connection: UpstreamConnection): void {
  const target = connection.socket;
  pipeOneWay(client, target);
  pipeOneWay(target, client);
  connection.countFrom(client, target);
}

function pipeOneWay(from: Duplex, to: Duplex): void {
  from.pipe(to);
  // The error itself is of no use here: the close that follows it ends the other side.
  from.on('error', () => to.destroy());
  from.on('close', () => endAfterWriting(to));
}

/** Ends a side whose peer has closed, once what was received for it is written; the idle limit closes one that does not read. */
function endAfterWriting(stream: Duplex): void {
  stream.resume();
  stream.end(() => stream.destroy());
}
