import http from 'node:http';
import { connect, type Socket } from 'node:net';
import tls from 'node:tls';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { BodyTooLarge, readBytes } from '@adsweep/shared/service/read-bytes.ts';
import { setNewest } from '@adsweep/shared/service/set-newest.ts';
import { withoutBrackets } from '@adsweep/shared/urls/public-host.ts';
import { jsonOrNull } from '@adsweep/shared/validation/json-or-null.ts';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import type { RouterMetrics } from '../metrics.ts';
import { EACH_ADDRESS, once } from '../providers/connect-to.ts';
import { ConnectionFailure } from '../providers/connection-failure.ts';
import type { ExitSession } from '../providers/exit.ts';
import type { Destination } from '../providers/provider.ts';
import type { ExitHealth } from './exit-health.ts';
import type { ExitSource } from './exit-source.ts';
import { mappedAddress } from './host-mapping.ts';
import { isExitFault } from './outages.ts';

const SESSIONS_MAX = 10_000;

type CheckDependencies = { source: ExitSource; health: ExitHealth; metrics: RouterMetrics; logger: Logger };

/**
 * Checks exits once per exit and session and caches the results of those that it could verify. One that could not be
 * verified may be used, but counts against its vendor. `url` '': exits are not checked.
 */
export class ExitCheck {
  readonly #dependencies: CheckDependencies;
  readonly #url: URL | null;
  readonly #known = new Map<string, Promise<ExitEvidence>>();

  constructor(dependencies: CheckDependencies, url: string) {
    this.#dependencies = dependencies;
    this.#url = url === '' ? null : new URL(url);
  }

  /**
   * The result for an exit and session. Throws ConnectionFailure if the exit is at fault; the next call checks again
   * then.
   */
  async evidenceOf(use: ExitSession): Promise<ExitEvidence> {
    if (this.#url === null) return NOT_CHECKED;
    const key = `${use.exit.id}\n${use.session}`;
    const known = this.#known.get(key);
    const asked = known ?? this.#check(this.#url, use);
    if (!known) setNewest(this.#known, key, asked, SESSIONS_MAX);
    try {
      const evidence = await asked;
      if (!evidence.verified) this.#known.delete(key);
      return evidence;
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }

  async #check(url: URL, use: ExitSession): Promise<ExitEvidence> {
    const { source, health, metrics, logger } = this.#dependencies;
    const { exit } = use;
    const { provider } = exit;
    const { outcome, evidence, cause } = await readEvidence(source, url, use);
    metrics.exitChecks.inc({ provider, outcome });
    if (outcome === 'failed') throw cause;
    // An exit of this machine cannot have changed the answer.
    const isDistrusted = outcome === 'garbled' && source.provider(provider)?.resolvesNames === false;
    if (outcome === 'verified') health.verified(exit);
    else if (isDistrusted) health.distrusted(exit);
    if (outcome !== 'verified') logger.warn({ exit_id: exit.id, outcome, cause }, 'an exit could not be verified');
    return evidence;
  }
}

/**
 * The address of an exit and where it is, as the check service reported; null: not known. `verified` null: exits are
 * not checked.
 */
export type ExitEvidence = {
  verified: boolean | null;
  ip: string | null;
  observed_country_code: string | null;
  asn: string | null;
  isp: string | null;
};

const NOT_CHECKED: ExitEvidence = { verified: null, ip: null, observed_country_code: null, asn: null, isp: null };
const NOT_VERIFIED: ExitEvidence = { ...NOT_CHECKED, verified: false };

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
 * The result of one check. `garbled`: a response came through the exit that is not the service's; `unanswered`: none
 * did, or an error; `failed`: the exit is at fault, by the ConnectionFailure in `cause`.
 */
type Checked = {
  outcome: 'verified' | 'garbled' | 'unanswered' | 'failed';
  evidence: ExitEvidence;
  cause?: unknown;
};

/** Fetches the check service at `url` through an exit; it responds with the client address it sees, as JSON. */
async function readEvidence(source: ExitSource, url: URL, use: ExitSession): Promise<Checked> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new ConnectionFailure('timeout', 'the check took too long')), DEADLINE_MS);
  const sockets: Socket[] = [];
  late.signal.addEventListener('abort', () => destroyAll(sockets));
  try {
    sockets.push(await dialService(source, url, use, late.signal));
    if (url.protocol === 'https:') sockets.push(await encrypt(url, sockets[0]!, late.signal));
    const evidence = evidenceOf(await get(url, sockets.at(-1)!));
    return evidence ? { outcome: 'verified', evidence } : { outcome: 'garbled', evidence: NOT_VERIFIED };
  } catch (error) {
    const isFailed = error instanceof ConnectionFailure && isExitFault(error);
    const other = error instanceof BodyTooLarge ? 'garbled' : 'unanswered';
    return { outcome: isFailed ? 'failed' : other, evidence: NOT_VERIFIED, cause: error };
  } finally {
    clearTimeout(timer);
    destroyAll(sockets);
  }
}

const destroyAll = (sockets: Socket[]): void => {
  for (const socket of sockets) socket.destroy();
};

const hostOf = ({ hostname }: URL): string => withoutBrackets(hostname);

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
  once(connect({ host, port, signal, ...EACH_ADDRESS }), 'connect', signal);

function get(url: URL, socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host: url.host, accept: 'application/json', connection: 'close' };
    const request = http.get({ path: url.pathname + url.search, headers, createConnection: () => socket });
    process.nextTick(() => socket.resume());
    socket.on('close', () => reject(new Error('the check service closed')));
    request.on('error', reject);
    request.on('response', (response) => {
      if (response.statusCode !== 200) return reject(new Error(`the check service answered ${response.statusCode}`));
      readBytes(response, ANSWER_BYTES_MAX).then((bytes) => resolve(bytes.toString()), reject);
    });
  });
}

/** Parses the service's response; null: it is not valid. */
export function evidenceOf(answer: string): ExitEvidence | null {
  const value = jsonOrNull(answer);
  if (!Value.Check(AnswerSchema, value)) return null;
  const { ip, country_code, asn, isp } = value as {
    ip: string;
    country_code: string;
    asn?: string | number;
    isp?: string;
  };
  return {
    verified: true,
    ip,
    observed_country_code: country_code.toUpperCase(),
    asn: typeof asn === 'number' ? `AS${asn}` : asn || null,
    isp: isp || null,
  };
}
