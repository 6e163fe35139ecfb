import type { Socket } from 'node:net';
import { ConnectionFailure } from './connection-failure.ts';
import type { Destination } from './provider.ts';
import type { UpstreamAnswer } from './upstream-refusal.ts';

const HTTP = 'HTTP/1.';
const HEAD_BYTES_MAX = 32_768;
/** Limit of interim responses before the final one. */
const INTERIM_MAX = 5;
const BODY_BYTES_MAX = 4_096;
/** How long to wait for the body of a refusal after its head. */
const BODY_MS = 2_000;

/** `host:port` as a request target, IPv6 in brackets. */
const authorityOf = ({ host, port }: Destination): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/**
 * Asks the HTTP proxy at the other end of `socket` for a tunnel (RFC 9110 9.3.6). null: the tunnel is open, and the
 * socket is paused with the first bytes of the target. Otherwise the proxy's response. Throws ConnectionFailure
 * `upstream_failed`.
 */
export async function requestTunnel(
  socket: Socket,
  destination: Destination,
  authorization: string,
): Promise<UpstreamAnswer | null> {
  const authority = authorityOf(destination);
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (authorization) lines.push(`Proxy-Authorization: ${authorization}`);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const { answer, rest } = await readFinalHead(socket);
  if (answer.status >= 200 && answer.status < 300) {
    if (rest.length > 0) socket.unshift(rest);
    return null;
  }
  const length = Number(answer.headers.get('content-length') ?? BODY_BYTES_MAX);
  const body = await readSome(socket, Math.min(length, BODY_BYTES_MAX) - rest.length, BODY_MS);
  return { ...answer, body: Buffer.concat([rest, body]).toString('latin1') };
}

/** The first head that is not an interim one (1xx, RFC 9110 15.2), and the bytes after it. */
async function readFinalHead(socket: Socket): Promise<{ answer: UpstreamAnswer; rest: Buffer }> {
  for (let interim = 0; interim <= INTERIM_MAX; interim += 1) {
    const { head, rest } = await readHead(socket);
    const answer = parseHead(head);
    if (answer.status >= 200) return { answer, rest };
    if (rest.length > 0) socket.unshift(rest);
  }
  throw failure('the upstream answers without an end');
}

/** Reads up to the empty line; the socket is paused afterwards. */
function readHead(socket: Socket): Promise<{ head: string; rest: Buffer }> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const settle = (then: () => void) => {
      socket.pause().off('data', onData).off('close', onClose).off('end', onClose).off('error', onClose);
      then();
    };
    const onClose = (cause?: unknown) => settle(() => reject(closedWithoutAnswer(cause)));
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      const end = bytes.indexOf('\r\n\r\n');
      if (end >= 0)
        return settle(() =>
          resolve({ head: bytes.subarray(0, end).toString('latin1'), rest: bytes.subarray(end + 4) }),
        );
      if (!isHttp(bytes)) settle(() => reject(failure('the upstream does not speak HTTP')));
      else if (bytes.length > HEAD_BYTES_MAX) settle(() => reject(failure('the upstream’s answer has no end')));
    };
    // Reading the previous head has paused it.
    socket.on('data', onData).on('close', onClose).on('end', onClose).on('error', onClose).resume();
  });
}

/** Whether the bytes can begin an HTTP response; servers of other protocols send a greeting and then wait. */
const isHttp = (bytes: Buffer): boolean => {
  const begin = bytes.toString('latin1', 0, HTTP.length);
  return begin === HTTP.slice(0, begin.length);
};

/** The bytes received within `ms`, at most about `bytesMax`; none if that is not a positive number. */
async function readSome(socket: Socket, bytesMax: number, ms: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  if (!(bytesMax > 0)) return Buffer.alloc(0);
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      socket.off('data', onData).off('end', done).off('close', done);
      resolve(Buffer.concat(chunks));
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunks.reduce((sum, { length }) => sum + length, 0) >= bytesMax) done();
    };
    const timer = setTimeout(done, ms);
    socket.on('data', onData).on('end', done).on('close', done).on('error', done).resume();
  });
}

function parseHead(head: string): UpstreamAnswer {
  const [first = '', ...lines] = head.split('\r\n');
  const [, status, reason = ''] = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/.exec(first) ?? [];
  if (status === undefined) throw failure('the upstream does not speak HTTP');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^([^:\s]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) headers.set(name.toLowerCase(), value ?? '');
  }
  return { status: Number(status), reason, headers, body: '' };
}

const failure = (text: string) => new ConnectionFailure('upstream_failed', text);

/** Some proxies close where others answer a 502: it may be the target that they could not reach. */
const closedWithoutAnswer = (cause: unknown) =>
  new ConnectionFailure('upstream_failed', 'the upstream closed without an answer', { cause, mayBeTargets: true });
