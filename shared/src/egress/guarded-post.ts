import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { withoutBrackets } from '../urls/public-host.ts';
import { ADDRESS_ATTEMPT_MS, checkedAddresses, type Resolve, resolveNames } from './checked-addresses.ts';
import { EgressError } from './egress-error.ts';
import type { EgressPolicy } from './egress-policy.ts';

/** Bytes of an answer that are read before the connection is closed, and how many of them are kept. */
const READ_BYTES_MAX = 64 * 1024;
const KEPT_BYTES_MAX = 2 * 1024;
/** Bytes of the headers of an answer. */
const HEADER_BYTES_MAX = 16 * 1024;
/** Idle connections that are kept for a server, and how long. */
const IDLE_CONNECTIONS_MAX = 256;
const IDLE_MS = 30_000;

/** A POST to a client's server. `timeoutMs`: until the whole answer is there. */
export type GuardedRequest = {
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array;
  timeoutMs: number;
  signal?: AbortSignal;
};

/**
 * An answer, whatever its status: redirects are not followed. `body`: at most 2 KB as text. `elapsedMs`: until it was
 * read.
 */
export type GuardedAnswer = { status: number; body: string; retryAfter: string | null; elapsedMs: number };

/** Sends POSTs to addresses that the policy allows alone. */
export type GuardedPost = {
  /** Throws EgressError if no answer comes, and the signal's reason when it aborts. */
  post(request: GuardedRequest): Promise<GuardedAnswer>;
  /** Closes all connections. */
  close(): void;
};

/**
 * A sender of POSTs. Each name is resolved once for a connection, all its addresses are checked, and one of them is
 * dialled; connections are reused. A request waits for no other one: the callers bound how many there are. Certificates
 * are verified.
 */
export function guardedPost(
  policy: EgressPolicy,
  { resolve = resolveNames() }: { resolve?: Resolve } = {},
): GuardedPost {
  const agentOptions = (protocol: string) => ({
    keepAlive: true,
    maxFreeSockets: IDLE_CONNECTIONS_MAX,
    timeout: IDLE_MS,
    lookup: checkedLookup(policy, resolve, protocol),
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
  });
  const agents = { 'http:': new http.Agent(agentOptions('http:')), 'https:': new https.Agent(agentOptions('https:')) };
  return {
    async post(request) {
      const url = new URL(request.url);
      const { protocol } = url;
      if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError(`no http(s) URL: ${protocol}`);
      const host = withoutBrackets(url.hostname);
      // Node.js dials an address without looking it up.
      if (isIP(host) !== 0 && !policy.allowsAddress(host, protocol)) throw blocked();
      return send({ url, agent: agents[protocol] }, request);
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

const blocked = () => new EgressError('blocked_address', 'the host has an address that may not be reached');

/** Node.js calls it for each new connection, and dials only what it returns. */
function checkedLookup(policy: EgressPolicy, resolve: Resolve, protocol: string): LookupFunction {
  return (host, { all }, done) => {
    checkedAddresses(host, resolve, (address) => policy.allowsAddress(address, protocol)).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (all) done(null, found);
        else done(null, found[0]!.address, found[0]!.family);
      },
      (error: Error) => done(error, ''),
    );
  };
}

type Target = { url: URL; agent: http.Agent };

async function send(target: Target, request: GuardedRequest): Promise<GuardedAnswer> {
  const { timeoutMs, signal } = request;
  signal?.throwIfAborted();
  const startedAt = performance.now();
  const ending = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  for (;;) {
    const answer = await sendOnce(target, request, ending);
    if (answer !== 'closed while idle') return { ...answer, elapsedMs: performance.now() - startedAt };
  }
}

/**
 * One try. A server may close a connection that was idle at the moment at which it is used again: as a rule it has not
 * seen the request then, and it takes it on another connection.
 */
async function sendOnce(
  { url, agent }: Target,
  { headers, body, signal }: GuardedRequest,
  ending: AbortSignal,
): Promise<Omit<GuardedAnswer, 'elapsedMs'> | 'closed while idle'> {
  const isSecure = url.protocol === 'https:';
  let [isConnected, wasIdle] = [false, false];
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const length = Buffer.byteLength(body);
      const options = { agent, method: 'POST', headers: { ...headers, 'content-length': length }, signal: ending };
      const request = (isSecure ? https : http).request(url, { ...options, maxHeaderSize: HEADER_BYTES_MAX });
      request.on('response', (response) => {
        wasIdle = false;
        resolve(response);
      });
      request.on('error', reject);
      request.on('socket', (socket) => {
        const connected = () => (isConnected = true);
        wasIdle = request.reusedSocket;
        if (wasIdle) connected();
        else socket.once(isSecure ? 'secureConnect' : 'connect', connected);
      });
      request.end(body);
    });
    const text = await readAnswer(answer, ending);
    const retryAfter = answer.headers['retry-after'] ?? null;
    return { status: answer.statusCode ?? 0, body: text, retryAfter };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (wasIdle && !ending.aborted && CLOSED.has((error as NodeJS.ErrnoException).code)) return 'closed while idle';
    throw asEgressError(error, { isTimeout: ending.aborted, isConnected });
  }
}

/** Reads an answer up to its bound, and closes the connection of one that goes on. */
async function readAnswer(answer: IncomingMessage, ending: AbortSignal): Promise<string> {
  const kept: Buffer[] = [];
  let [read, keptBytes] = [0, 0];
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    ending.throwIfAborted();
    read += chunk.length;
    if (keptBytes < KEPT_BYTES_MAX) {
      const part = chunk.subarray(0, KEPT_BYTES_MAX - keptBytes);
      kept.push(part);
      keptBytes += part.length;
    }
    if (read > READ_BYTES_MAX) break;
  }
  return Buffer.concat(kept).toString('utf8');
}

/** Errors of a connection that the server has closed. */
const CLOSED = new Set(['ECONNRESET', 'EPIPE'] as unknown[]);

/** Errors of OpenSSL and of Node.js' check of certificates. */
const TLS_ERROR = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH|INVALID_CA)/;

function asEgressError(
  error: unknown,
  { isTimeout, isConnected }: { isTimeout: boolean; isConnected: boolean },
): EgressError {
  if (error instanceof EgressError) return error;
  if (isTimeout) return new EgressError('timeout', 'no answer came in time', { cause: error });
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (TLS_ERROR.test(code)) return new EgressError('tls', `the TLS connection failed: ${code}`, { cause: error });
  const what = isConnected ? 'the connection was closed before an answer came' : 'no connection could be made';
  return new EgressError('connect', `${what}: ${code || message.slice(0, 200)}`, { cause: error });
}
