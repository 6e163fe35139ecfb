import http from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { once } from '../providers/connect-to.ts';
import { ConnectionFailure } from '../providers/connection-failure.ts';
import type { ExitSession } from '../providers/exit.ts';
import type { Destination } from '../providers/provider.ts';
import { isExitFault } from './exit-health.ts';
import type { ExitSource } from './exit-source.ts';
import { mappedAddress } from './host-mapping.ts';

const SESSIONS_MAX = 10_000;

/** Checks exits once per exit and session and caches the results. `url` '': exits are not checked. */
export class ExitCheck {
  readonly #source: ExitSource;
  readonly #url: URL | null;
  readonly #known = new Map<string, Promise<ExitEvidence>>();

  constructor(source: ExitSource, url: string) {
    this.#source = source;
    this.#url = url === '' ? null : new URL(url);
  }

  /** The result for an exit and session. Throws ConnectionFailure if the exit is at fault; the next call checks again then. */
  async evidenceOf(use: ExitSession): Promise<ExitEvidence> {
    if (this.#url === null) return NO_EVIDENCE;
    const key = `${use.exit.id}\n${use.session}`;
    const asked = this.#known.get(key) ?? readEvidence(this.#source, this.#url, use);
    this.#remember(key, asked);
    try {
      return await asked;
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }

  #remember(key: string, asked: Promise<ExitEvidence>): void {
    this.#known.set(key, asked);
    const [oldest] = this.#known.keys();
    if (this.#known.size > SESSIONS_MAX && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** The address of an exit and where it is, as the check service reported; null: not known. */
export type ExitEvidence = {
  ip: string | null;
  observed_country_code: string | null;
  asn: string | null;
  isp: string | null;
};

const NO_EVIDENCE: ExitEvidence = { ip: null, observed_country_code: null, asn: null, isp: null };

const Nullable = (schema: Parameters<typeof Type.Union>[0][number]) => Type.Optional(Type.Union([schema, Type.Null()]));
const AnswerSchema = Type.Object({
  ip: Type.String({ maxLength: 50 }),
  country_code: Type.String({ pattern: '^[A-Za-z]{2}$' }),
  asn: Nullable(Type.Union([Type.Integer({ minimum: 0 }), Type.String({ maxLength: 50 })])),
  isp: Nullable(Type.String({ maxLength: 200 })),
});

const ANSWER_BYTES_MAX = 65_536;
const DEADLINE_MS = 6_000;

/**
 * Fetches the check service at `url` through an exit; it responds with the client address it sees, as JSON. If the service fails or responds
 * with anything else, everything is unknown. Throws ConnectionFailure if the exit is at fault.
 */
export async function readEvidence(source: ExitSource, url: URL, use: ExitSession): Promise<ExitEvidence> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new ConnectionFailure('timeout', 'the check took too long')), DEADLINE_MS);
  const sockets: Socket[] = [];
  late.signal.addEventListener('abort', () => destroyAll(sockets));
  try {
    sockets.push(await dialService(source, url, use, late.signal));
    if (url.protocol === 'https:') sockets.push(await encrypt(url, sockets[0]!, late.signal));
    return evidenceOf(await get(url, sockets.at(-1)!));
  } catch (error) {
    if (error instanceof ConnectionFailure && isExitFault(error)) throw error;
    return NO_EVIDENCE;
  } finally {
    clearTimeout(timer);
    destroyAll(sockets);
  }
}

const destroyAll = (sockets: Socket[]): void => {
  for (const socket of sockets) socket.destroy();
};

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** The operator chose the service, so it may have a private address. */
async function dialService(source: ExitSource, url: URL, use: ExitSession, signal: AbortSignal): Promise<Socket> {
  const destination = { host: hostOf(url), port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) };
  const provider = source.provider(use.exit.provider);
  if (!provider) throw new ConnectionFailure('upstream_failed', 'the provider of the exit is no longer listed');
  if (provider.resolvesNames) return dialDirectly(mappedAddress(source.hosts, destination) ?? destination, signal);
  return (await provider.dial(use, destination, signal)).socket;
}

const encrypt = (url: URL, socket: Socket, signal: AbortSignal): Promise<Socket> =>
  once(tls.connect({ socket, servername: hostOf(url) }), 'secureConnect', signal);

const dialDirectly = ({ host, port }: Destination, signal: AbortSignal): Promise<Socket> =>
  once(connect({ host, port, signal }), 'connect', signal);

function get(url: URL, socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host: url.host, accept: 'application/json', connection: 'close' };
    const request = http.get({ path: url.pathname + url.search, headers, createConnection: () => socket });
    process.nextTick(() => socket.resume());
    socket.on('close', () => reject(new Error('the check service closed')));
    request.on('error', reject);
    request.on('response', (response) => {
      if (Number(response.headers['content-length'] ?? 0) > ANSWER_BYTES_MAX) return void socket.destroy();
      text(response).then(resolve, reject);
    });
  });
}

/** Parses the service's response; all fields null if it is not valid. */
export function evidenceOf(answer: string): ExitEvidence {
  const value = parse(answer);
  if (!Value.Check(AnswerSchema, value)) return NO_EVIDENCE;
  const { ip, country_code, asn, isp } = value as {
    ip: string;
    country_code: string;
    asn?: string | number;
    isp?: string;
  };
  return {
    ip,
    observed_country_code: country_code.toUpperCase(),
    asn: typeof asn === 'number' ? `AS${asn}` : asn || null,
    isp: isp || null,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
