import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Passage } from './passage.ts';

/** Lets bytes through between the client and the target until either is done. What was read of either too early goes first. */
export function join(client: Socket | Duplex, passage: Passage): void {
  const target = passage.socket;
  oneWay(client, target);
  oneWay(target, client);
  passage.countFrom(client, target);
}

function oneWay(from: Duplex, to: Duplex): void {
  from.pipe(to);
  // Errors carry no news here: the close that follows ends the other side.
  from.on('error', () => to.destroy());
  from.on('close', () => endAfterWriting(to));
}

/** Ends a side whose peer is gone, once what was received for it has been written; the idle limit ends one that does not read. */
function endAfterWriting(stream: Duplex): void {
  stream.resume();
  stream.end(() => stream.destroy());
}
