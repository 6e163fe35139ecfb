import { readFileSync } from 'node:fs';
import { createServer, isIP, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext } from 'node:tls';
import { Type } from 'typebox';
import { withoutBrackets } from '../urls/public-host.ts';
import { useCertificate } from './certificates-in-use.ts';
import { ConfigError } from './load-config.ts';
import type { Logger } from './logger.ts';
import { OperatorError } from './operator-error.ts';

/** Settings of a service that connects to others over TLS. */
export const tlsClientProperties = {
  ADSWEEP_TLS_CA: Type.String({
    default: '',
    description:
      'Path of a PEM file with the authorities whose certificates the other Adsweep services may have, read again when it changes. Empty: those that Node.js trusts, and `NODE_EXTRA_CA_CERTS`.',
  }),
  ADSWEEP_TLS_CLIENT_CERTIFICATE: Type.String({
    default: '',
    description:
      'Path of a PEM file with the certificate that this service shows to the others, read again when it changes. Empty: none.',
  }),
  ADSWEEP_TLS_CLIENT_KEY: Type.String({
    default: '',
    description: 'Path of a PEM file with the key of that certificate.',
  }),
};

/** Paths of PEM files, '' for none. */
export type TlsClientFiles = { ca: string; certificate: string; key: string };

/** The files by their settings. Throws ConfigError for a certificate without its key. */
export function tlsClientFiles(config: Record<keyof typeof tlsClientProperties, string>): TlsClientFiles {
  const { ADSWEEP_TLS_CLIENT_CERTIFICATE: certificate, ADSWEEP_TLS_CLIENT_KEY: key } = config;
  if ((certificate === '') !== (key === ''))
    throw new ConfigError(['ADSWEEP_TLS_CLIENT_CERTIFICATE and ADSWEEP_TLS_CLIENT_KEY are set together or not at all']);
  return { ca: config.ADSWEEP_TLS_CA, certificate, key };
}

/** Leads to other services over TLS. */
export type TlsClient = {
  /**
   * A URL under which `url` is reached: `url` itself for http, and for https without files of our own; otherwise that
   * of a tunnel, a port of the loopback interface whose connections go on over TLS. `isProxy`: always a tunnel for
   * https, for a browser, which takes no such files.
   */
  reach(url: string, isProxy?: boolean): Promise<string>;
  close(): void;
};

/** How often files are read again at most, in ms. */
const READ_EVERY_MS = 10_000;
/** Maximum time for a connection and its handshake. */
const CONNECT_MS = 10_000;
const FAILURE_LOGGED_EVERY_MS = 60_000;

/**
 * Opens a client with these files. `failure`: what a browser is sent when a proxy cannot be reached, or its certificate
 * is not trusted; the connections of others are closed. Throws OperatorError for files that cannot be used.
 */
export function openTlsClient(
  files: TlsClientFiles,
  failure: string,
  logger: Logger,
  readEveryMs = READ_EVERY_MS,
): TlsClient {
  const contents = followContents(files, logger, readEveryMs);
  const unuse = files.certificate === '' ? () => {} : useCertificate(files.certificate, () => contents().cert);
  const hasFiles = Object.values(files).some((path) => path !== '');
  const tunnels = new Map<string, Promise<{ url: string; close: () => void }>>();
  return {
    async reach(url, isProxy = false) {
      const { origin, protocol } = new URL(url);
      if (protocol !== 'https:' || !(hasFiles || isProxy)) return url;
      const name = `${origin} ${isProxy}`;
      const tunnel = tunnels.get(name) ?? openTunnel(origin, () => contents().context, isProxy ? failure : '', logger);
      tunnels.set(name, tunnel);
      // The next caller tries again.
      tunnel.catch(() => tunnels.delete(name));
      return (await tunnel).url + url.slice(origin.length);
    },
    close() {
      unuse();
      for (const tunnel of tunnels.values())
        tunnel.then(
          ({ close }) => close(),
          () => undefined,
        );
    },
  };
}

/**
 * Returns the files' contents and the context with them; later contents that cannot be used are logged once, and the
 * last good ones stay in use.
 */
function followContents(
  { ca, certificate, key }: TlsClientFiles,
  logger: Logger,
  readEveryMs: number,
): () => { context: SecureContext; cert: string } {
  const read = () => {
    const [authorities, cert, secret] = [ca, certificate, key].map((path) =>
      path === '' ? '' : readFileSync(path, 'utf8'),
    );
    return { ...(authorities && { ca: authorities }), ...(cert && { cert, key: secret }) };
  };
  const first = contentsOrProblem(read);
  if (first.context === undefined)
    throw new OperatorError(`the files of ADSWEEP_TLS_... cannot be used: ${first.problem}`, { cause: first.cause });
  let current = first;
  let problem = '';
  let readAt = performance.now();
  return () => {
    if (performance.now() - readAt < readEveryMs) return current;
    readAt = performance.now();
    const next = contentsOrProblem(read);
    if (next.context !== undefined) {
      if (next.version !== current.version) current = next;
      problem = '';
    } else if (next.problem !== problem) {
      problem = next.problem;
      logger.error({ cause: next.cause }, 'the new files for TLS cannot be used, the last good ones are');
    }
    return current;
  };
}

type Contents = { ca?: string; cert?: string; key?: string };

function contentsOrProblem(read: () => object) {
  try {
    const contents: Contents = read();
    return { context: createSecureContext(contents), version: JSON.stringify(contents), cert: contents.cert ?? '' };
  } catch (cause) {
    return { problem: (cause as Error).message, cause };
  }
}

/** Opens a tunnel to the host and port of `origin`. */
async function openTunnel(origin: string, context: () => SecureContext, failure: string, logger: Logger) {
  const { hostname, port } = new URL(origin);
  const host = withoutBrackets(hostname);
  let session: Buffer | undefined;
  let loggedAt = Number.NEGATIVE_INFINITY;

  const forward = (client: Socket) => {
    let isConnected = false;
    const name = isIP(host) ? {} : { servername: host };
    const peer = connect({
      host,
      port: Number(port || 443),
      secureContext: context(),
      ...name,
      ...(session && { session }),
    });
    peer.on('session', (next) => {
      session = next;
    });
    peer.setTimeout(CONNECT_MS, () => peer.destroy(new Error('it did not answer in time')));
    peer.on('secureConnect', () => {
      isConnected = true;
      peer.setTimeout(0);
      client.pipe(peer).pipe(client);
    });
    peer.on('error', (cause) => {
      session = undefined;
      if (isConnected) return void client.destroy();
      client.end(failure);
      if (performance.now() - loggedAt < FAILURE_LOGGED_EVERY_MS) return;
      loggedAt = performance.now();
      logger.error({ origin, cause }, 'a service cannot be reached over TLS');
    });
    peer.on('close', () => client.destroySoon());
    client.on('error', () => peer.destroy()).on('close', () => peer.destroy());
  };

  const connections = new Set<Socket>();
  const server = createServer((client) => {
    connections.add(client.on('close', () => connections.delete(client)));
    forward(client);
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, '127.0.0.1', resolve);
  await listening;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a tunnel has no port');
  const close = () => {
    server.close();
    for (const connection of connections) connection.destroy();
  };
  return { url: `http://127.0.0.1:${address.port}`, close };
}
