import { Readable, Writable } from 'node:stream';
import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { jsonOrNull } from '@adsweep/shared/validation/json-or-null.ts';
import { WebSocket } from 'ws';
import { remoteFlags } from './chromium-flags.ts';
import type { ConnectedChromium } from './chromium-process.ts';
import { MESSAGE_BYTES_MAX } from './message-limits.ts';

/**
 * A service that offers Chromium over the DevTools protocol. `cdpUrl`: its endpoint, which contains its token and is in
 * no message; `isShared`: all connections get the same browser. `gatewayHosts`: the hosts of the gateways that contexts
 * use.
 */
export type RemoteChromium = { cdpUrl: string; isShared: boolean; gatewayHosts: readonly string[] };

const CONNECT_DEADLINE_MS = 15_000;
const CLOSE_DEADLINE_MS = 1_000;
const MESSAGE_END = Buffer.from([0]);

/**
 * Connects to a remote Chromium. Where each connection gets a browser of its own, that ends with the connection;
 * otherwise the contexts of the connection do. Throws when it cannot be reached in time; no message contains the
 * endpoint.
 */
export async function connectRemote(remote: RemoteChromium): Promise<ConnectedChromium> {
  const endpoint = await endpointOf(remote);
  const socket = new WebSocket(endpoint, {
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    handshakeTimeout: CONNECT_DEADLINE_MS,
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.on('error', (error) => reject(unreachable(reasonOf(error))));
  });
  const kill = async () => {
    socket.close();
    await withDeadline(closed, CLOSE_DEADLINE_MS, 'the end of a connection').catch(() => socket.terminate());
  };
  return { pid: null, write: writeTo(socket), read: readFrom(socket), kill };
}

/** What arrives, as a pipe delivers it; reading pauses while the consumer is busy. */
function readFrom(socket: WebSocket): Readable {
  const read = new Readable({ read: () => socket.resume() });
  socket.on('message', (data: Buffer) => {
    read.push(data);
    if (!read.push(MESSAGE_END)) socket.pause();
  });
  socket.once('close', () => read.destroy());
  return read;
}

/** Each write is one message and the zero byte at its end. */
function writeTo(socket: WebSocket): Writable {
  return new Writable({
    write(message: Buffer, _encoding, written) {
      socket.send(message.subarray(0, -MESSAGE_END.length), { binary: false }, (error) => written(error));
    },
    final(ended) {
      socket.close();
      ended();
    },
  });
}

/** The WebSocket of the endpoint: its own URL, or the one that it names over HTTP. */
async function endpointOf({ cdpUrl, gatewayHosts }: RemoteChromium): Promise<URL> {
  const url = new URL(cdpUrl);
  const socket = url.protocol.startsWith('ws') ? url : namedBy(url, await versionOf(url));
  return withFlags(socket, gatewayHosts);
}

/** As browserless takes them; a Chromium's own endpoint has a path of its own, and takes none. */
function withFlags(url: URL, gatewayHosts: readonly string[]): URL {
  if (url.pathname.startsWith('/devtools/') || url.searchParams.has('launch')) return url;
  const flagged = new URL(url);
  flagged.searchParams.set('launch', JSON.stringify({ args: remoteFlags(gatewayHosts) }));
  return flagged;
}

async function versionOf(url: URL): Promise<string> {
  const at = new URL(url);
  at.pathname = `${url.pathname.replace(/\/$/, '')}/json/version`;
  try {
    const { status, text } = await fetchInTime(at.href, { redirect: 'error' }, CONNECT_DEADLINE_MS);
    if (status === 200) return text;
    throw new Error(`it answered ${status}`);
  } catch (error) {
    throw unreachable(reasonOf(error as Error));
  }
}

/** Chromium names itself by the address it listens on, which only its own machine can reach. */
function namedBy(url: URL, version: string): URL {
  const named = URL.parse(
    String((jsonOrNull(version) as { webSocketDebuggerUrl?: unknown } | null)?.webSocketDebuggerUrl),
  );
  if (!named?.protocol.startsWith('ws')) throw unreachable('it names no WebSocket at /json/version');
  const endpoint = new URL(named.pathname, url);
  endpoint.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  endpoint.search = named.search || url.search;
  return endpoint;
}

const unreachable = (reason: string) => new Error(`the remote browser cannot be reached: ${reason}`);

/** The system's code, or the HTTP status. Messages of other errors may contain the endpoint, with its token. */
function reasonOf(error: Error): string {
  const code = codeOf(error) ?? codeOf(error.cause);
  if (code !== undefined) return code;
  return (
    /(Unexpected server response|it answered): \d{3}|it answered \d{3}/.exec(error.message)?.[0] ?? 'no usable answer'
  );
}

const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
};
