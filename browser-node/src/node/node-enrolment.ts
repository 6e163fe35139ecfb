import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS, MINUTE_MS } from '@adsweep/shared/durations.ts';
import { type LeaseClient, NodeApiError } from '@adsweep/shared/lease/client.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

/** A credential is replaced when it is this old; it is valid for a month. */
const ROTATED_AFTER_MS = DAY_MS;
/** How often that is checked. */
const CHECKED_EVERY_MS = 10 * MINUTE_MS;
const RETRY_MS = 1_000;

const FILE = 'node-credential.json';

/** What the node offers for a token, until the control plane has confirmed it. */
const PENDING_FILE = 'node-credential.pending.json';

/**
 * What the file holds. `token_sha256`: the token that was exchanged for it. `since`: when it was made. `next`: what the
 * node was about to rotate to.
 */
const StoredSchema = Type.Object({
  node_id: Type.String(),
  token_sha256: Type.String(),
  credential: Type.String({ minLength: 32 }),
  since: Type.String({ format: 'date-time' }),
  next: Type.Union([Type.String({ minLength: 32 }), Type.Null()]),
});
type Stored = Static<typeof StoredSchema>;

/** The calls of the node API that an enrolment needs. */
export type EnrolmentApi = Pick<LeaseClient, 'enrol' | 'rotate'>;

const newCredential = (): string => `adn_${randomBytes(32).toString('base64url')}`;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export type EnrolmentSettings = {
  /** The node's data folder, which is made if it is missing. */
  folder: string;
  nodeId: string;
  /** The one-time token; '': the node was enrolled before. */
  token: string;
};

/**
 * The credential of an enrolled node, in a file of its data folder that its user alone can read. It is written before
 * the control plane gets its hash, so that neither a crash nor a lost answer ends the enrolment.
 */
export class NodeEnrolment {
  readonly #path: string;
  readonly #api: EnrolmentApi;
  readonly #logger: Logger;
  #stored: Stored;
  #timer: NodeJS.Timeout | null = null;
  #rotating = false;

  private constructor(path: string, api: EnrolmentApi, stored: Stored, logger: Logger) {
    this.#path = path;
    this.#api = api;
    this.#stored = stored;
    this.#logger = logger;
  }

  /**
   * Reads the credential, or exchanges the token for one unless that was done before; waits for a control plane that
   * cannot be reached. Null: the folder has none, and there is no token. Throws an OperatorError if the token is
   * refused, the file is another node's or the folder cannot be used.
   */
  static async open({ folder, nodeId, token }: EnrolmentSettings, api: EnrolmentApi, logger: Logger) {
    await usable(folder, mkdir(folder, { recursive: true, mode: 0o700 }));
    const path = join(folder, FILE);
    const found = await readStored(path);
    const isTokenNew = token !== '' && found?.token_sha256 !== sha256(token);
    if (!isTokenNew && !found) return null;
    if (isTokenNew) {
      const pending = join(folder, PENDING_FILE);
      const offered = await usable(folder, offeredFor(pending, nodeId, token));
      await exchange(api, offered, token, logger);
      await usable(folder, writeStored(path, offered));
      await rm(pending);
      return new NodeEnrolment(path, api, offered, logger);
    }
    if (found!.node_id !== nodeId)
      throw new OperatorError(`${path} has the credential of the node ${found!.node_id}, and this is ${nodeId}`);
    return new NodeEnrolment(path, api, found!, logger);
  }

  /** The credential that registers the node. */
  get credential(): string {
    return this.#stored.credential;
  }

  /** Begins to replace the credential when it is old. */
  start(): void {
    this.#timer ??= setInterval(() => void this.rotateIfOld(new Date()), CHECKED_EVERY_MS);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  /**
   * Replaces the credential if it is a day old, or if the clock was set back since: its age is unknown then, and it
   * would expire. Never throws: it is tried again later.
   */
  async rotateIfOld(now: Date): Promise<void> {
    const { since, node_id, credential } = this.#stored;
    if (this.#rotating || Math.abs(now.getTime() - Date.parse(since)) < ROTATED_AFTER_MS) return;
    this.#rotating = true;
    try {
      const next = this.#stored.next ?? newCredential();
      await this.#store({ ...this.#stored, next });
      await this.#api.rotate(node_id, credential, sha256(next));
      await this.#store({ ...this.#stored, credential: next, next: null, since: now.toISOString() });
      this.#logger.info('the credential of the node was rotated');
    } catch (cause) {
      this.#logger.warn({ cause }, 'the credential of the node could not be rotated');
    } finally {
      this.#rotating = false;
    }
  }

  async #store(stored: Stored): Promise<void> {
    await writeStored(this.#path, stored);
    this.#stored = stored;
  }
}

/** What `work` in the folder returns. Throws an OperatorError if the folder cannot be used. */
async function usable<T>(folder: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    throw new OperatorError(`${folder} cannot be used, check ADSWEEP_NODE_DATA_DIR: ${(cause as Error).message}`);
  }
}

/**
 * What an earlier start has offered for this token, otherwise a new credential, which is written before it is offered.
 */
async function offeredFor(pending: string, nodeId: string, token: string): Promise<Stored> {
  const earlier = await readStored(pending);
  if (earlier?.token_sha256 === sha256(token) && earlier.node_id === nodeId) return earlier;
  const since = new Date().toISOString();
  const made = { node_id: nodeId, token_sha256: sha256(token), credential: newCredential(), since, next: null };
  await writeStored(pending, made);
  return made;
}

async function exchange(api: EnrolmentApi, { node_id, credential }: Stored, token: string, logger: Logger) {
  for (let isLogged = false; ; await pause(RETRY_MS)) {
    try {
      await api.enrol(node_id, token, sha256(credential));
      return logger.info('the node was enrolled');
    } catch (cause) {
      if (cause instanceof NodeApiError && cause.status < 500)
        throw new OperatorError(`ADSWEEP_ENROLMENT_TOKEN was refused: ${cause.message}`);
      if (!isLogged) logger.warn({ cause }, 'the control plane cannot be reached to enrol the node');
      isLogged = true;
    }
  }
}

/**
 * Writes the file beside its place and renames it, so that there is a whole one at every moment; only its user can read
 * it.
 */
async function writeStored(path: string, stored: Stored): Promise<void> {
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  const file = await open(fresh, 'wx', 0o600);
  try {
    await file.writeFile(JSON.stringify(stored));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
  // Without it, a power cut could lose a credential whose hash the control plane has.
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}

async function readStored(path: string): Promise<Stored | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new OperatorError(`${path} cannot be read: ${error.message}`);
  });
  if (text === null) return null;
  try {
    return Value.Parse(StoredSchema, JSON.parse(text)) as Stored;
  } catch {
    throw new OperatorError(`${path} is not the credential of a node: remove it and enrol the node again`);
  }
}
