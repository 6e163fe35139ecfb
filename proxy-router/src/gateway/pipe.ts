import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TunnelSocket } from '../providers/tunnel-socket.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

/** Pipes bytes between the client and the target until either closes. Bytes that were returned with `unshift` on either side go first. */
export function pipe(client: Socket | Duplex, connection: UpstreamConnection): void {
  const target = connection.socket;
  client.pipe(target);
  joinEnds(client, target);
  joinEnds(target, client);
  connection.countFrom(client);
  if (target instanceof TunnelSocket) target.forwardTo(client, () => connection.count());
  else connection.countFrom(target.pipe(client) && target);
}

function joinEnds(from: Duplex, to: Duplex): void {
  // The error itself is of no use here: the close that follows it ends the other side.
  from.on('error', () => to.destroy());
  from.on('close', () => endAfterWriting(to));
}

/** Ends a side whose peer has closed, once what was received for it is written; the idle limit closes one that does not read. */
function endAfterWriting(stream: Duplex): void {
  stream.resume();
  stream.end(() => stream.destroy());
}
