import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newApiKey, newSecret } from '@adsweep/shared/ids.ts';

/**
 * `node infra/compose/secrets.ts`: makes the secrets of a deployment that are missing, and gives each service the ones
 * that it needs, in a volume of its own. `/secrets/all` holds all of them, `/secrets/<service>` those of a service.
 * `... show` prints the API key, `... show <name>` another secret; `... set <name>` first replaces a secret by what it reads from standard input.
 */

const FOLDER = '/secrets';
const BYTES = 32;

/** A secret of letters and digits, for programs that take it on a command line or as base64. */
const letters = (bytes: number): string => newSecret(bytes).replaceAll(/[-_]/g, 'A');

/** What is made once and kept. */
const MADE: Record<string, () => string> = {
  'api-key': newApiKey,
  'node-token': () => newSecret(BYTES),
  'lease-secret': () => newSecret(BYTES),
  'ticket-secret': () => newSecret(BYTES),
  'secrets-key': () => newSecret(BYTES),
  'metrics-token': () => newSecret(BYTES),
  'mongodb-password': () => letters(BYTES),
  // The members of a replica set authenticate with it: base64, 6 to 1024 characters.
  'mongodb-keyfile': () => letters(BYTES),
  'redis-password': () => letters(BYTES),
  'grafana-password': () => newSecret(16),
};

type Secrets = Record<string, string>;

/** What follows from the others. A password that somebody has chosen may have any characters. */
export const derived = (made: Secrets): Secrets => ({
  'mongodb-url': `mongodb://adsweep:${encodeURIComponent(made['mongodb-password'] ?? '')}@mongodb:27017/adsweep?replicaSet=rs0&authSource=admin`,
  'redis-url': `redis://:${encodeURIComponent(made['redis-password'] ?? '')}@redis:6379`,
  // Redis holds the index of work: no key may be evicted.
  'redis.conf': [
    `requirepass ${JSON.stringify(made['redis-password'])}`,
    'appendonly yes',
    'save ""',
    'maxmemory-policy noeviction',
    'dir /data',
    '',
  ].join('\n'),
});

/** The user id that each service's processes have in their images, and the secrets that they read. */
const READERS: Record<string, { uid: number; reads: string[] }> = {
  'control-plane': {
    uid: 10_001,
    reads: ['api-key', 'node-token', 'lease-secret', 'secrets-key', 'metrics-token', 'mongodb-url', 'redis-url'],
  },
  'proxy-router': { uid: 10_001, reads: ['node-token', 'ticket-secret', 'metrics-token'] },
  'browser-node': { uid: 10_001, reads: ['node-token', 'metrics-token'] },
  demo: { uid: 10_001, reads: ['api-key'] },
  mongodb: { uid: 999, reads: ['mongodb-password', 'mongodb-keyfile'] },
  redis: { uid: 999, reads: ['redis-password', 'redis.conf'] },
  prometheus: { uid: 65_534, reads: ['metrics-token'] },
  grafana: { uid: 472, reads: ['grafana-password'] },
};

if (import.meta.main) main(process.argv[2], process.argv[3]);

function main(verb: string | undefined, name = ''): void {
  if (verb === 'show') {
    console.log(readSecret(join(FOLDER, 'all'), name || 'api-key'));
    return;
  }
  if (verb === 'set') replaceSecret(join(FOLDER, 'all'), name, readFileSync(0, 'utf8'));
  const all = makeMissing(join(FOLDER, 'all'));
  for (const [service, { uid, reads }] of Object.entries(READERS)) handOut(join(FOLDER, service), uid, reads, all);
}

/** A secret that was made. Throws for a name that no secret has. */
export function readSecret(folder: string, name: string): string {
  requireKnown(name);
  return readFileSync(join(folder, name), 'utf8').trim();
}

/** Throws for a name that no secret has, and for an empty text. Line breaks at the end of the text are not part of the secret. */
export function replaceSecret(folder: string, name: string, text: string): void {
  requireKnown(name);
  if (text.trim() === '') throw new Error(`standard input has no text for ${name}`);
  replaceFile(join(folder, name), text.trim(), 0);
}

function requireKnown(name: string): void {
  if (!Object.hasOwn(MADE, name)) throw new Error(`${name} is none of the secrets: ${Object.keys(MADE).join(', ')}`);
}

/** All secrets in a folder; those that are missing are made. */
export function makeMissing(folder: string): Secrets {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  const made: Secrets = {};
  for (const [name, make] of Object.entries(MADE)) {
    const file = join(folder, name);
    if (!existsSync(file)) replaceFile(file, make(), 0);
    made[name] = readFileSync(file, 'utf8').trim();
  }
  return { ...made, ...derived(made) };
}

function handOut(folder: string, uid: number, reads: string[], all: Secrets): void {
  if (!existsSync(folder)) return;
  for (const name of reads) replaceFile(join(folder, name), all[name] ?? '', uid);
}

/** Only its owner can read the file. Written beside and renamed, so that no reader ever sees half of it. */
function replaceFile(file: string, text: string, uid: number): void {
  const fresh = `${file}.new`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, text, { mode: 0o400, flush: true });
  if (uid !== 0) chownSync(fresh, uid, uid);
  renameSync(fresh, file);
}
