import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { MongoClient } from 'mongodb';

/** A server to test against; `isStandIn`: it speaks MongoDB's protocol and is not MongoDB. */
export type MongodbServer = { url: string; isStandIn: boolean; stop: () => Promise<void> };

const LAUNCHER = resolve(import.meta.dirname, '../../../../shared/mongodb/start');
const START_TIMEOUT_MS = 20_000;

/**
 * Gives a fresh database: on the server that `MONGODB_URL` names, else on a stand-in that is started from beside the
 * checkout. Text instead of a server says why there is none; a test prints it and is left out.
 */
export async function startMongodbServer(env: NodeJS.ProcessEnv = process.env): Promise<MongodbServer | string> {
  if (env.MONGODB_URL) return freshDatabase(env.MONGODB_URL);
  if (!existsSync(LAUNCHER)) return 'no MONGODB_URL, and no server to start beside the checkout (../shared/mongodb)';
  if (!isOnPath('java', env.PATH ?? '')) return 'no MONGODB_URL, and no Java to run the server beside the checkout';
  return startStandIn();
}

const isOnPath = (program: string, path: string): boolean =>
  path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, program)));

function freshDatabase(deployment: string): MongodbServer {
  const name = `adsweep_test_${randomUUID().slice(0, 8)}`;
  const url = deployment.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${name}`);
  const stop = async (): Promise<void> => {
    await using client = await MongoClient.connect(url);
    await client.db(name).dropDatabase();
  };
  return { url, isStandIn: false, stop };
}

async function startStandIn(): Promise<MongodbServer> {
  const folder = await mkdtemp(join(tmpdir(), 'adsweep-mongodb-'));
  const child = spawn(LAUNCHER, ['0', join(folder, 'store.h2')], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const address = await readyAddress(child);
    return { url: `${address}/adsweep_test`, isStandIn: true, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits for the line `ready mongodb://...`. */
async function readyAddress(child: ChildProcessByStdio<null, Readable, Readable>): Promise<string> {
  const signal = AbortSignal.timeout(START_TIMEOUT_MS);
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += String(chunk);
  });
  for await (const line of createInterface({ input: child.stdout, signal })) {
    const address = /^ready (mongodb:\S+)/.exec(line)?.[1];
    if (address) return address;
  }
  throw new Error(`the MongoDB-speaking server did not start: ${errors}`);
}
