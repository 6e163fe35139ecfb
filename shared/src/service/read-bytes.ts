import type { IncomingMessage } from 'node:http';

/** A body has more bytes than the operation accepts. */
export class BodyTooLarge extends Error {
  constructor(bytesMax: number) {
    super(`The body may have at most ${bytesMax} bytes.`);
  }
}

/** The client closed the connection before its request was complete. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super('the client closed the connection', { cause });
  }
}

/**
 * A request's whole body. Throws {@link BodyTooLarge} above `bytesMax` bytes and {@link ConnectionLost}. The server
 * discards the rest of a body that is too large, so that the client can read the refusal.
 */
export function readBytes(stream: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (Number(stream.headers['content-length'] ?? 0) > bytesMax) return Promise.reject(new BodyTooLarge(bytesMax));
  // Lost before it was to be read: no event would say so again.
  if (stream.destroyed) return Promise.reject(new ConnectionLost(stream.errored));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
      else settle(() => reject(new BodyTooLarge(bytesMax)));
    };
    const settle = (then: () => void) => {
      stream.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      stream.on('error', () => {}).resume();
      then();
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks)));
    const onBroken = (cause?: Error) => settle(() => reject(new ConnectionLost(cause)));
    stream.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}
