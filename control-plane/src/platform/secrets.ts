import { createHash, hkdfSync } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSecret } from '@adsweep/shared/ids.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { readIfPresent } from '@adsweep/shared/service/read-if-present.ts';
import { seal, unseal } from './seal.ts';

/**
 * Encrypts the secrets of clients that must be read again, such as a webhook's. `context` binds a secret to the field
 * that it is stored in (`webhook <id>`): copied into another record it cannot be decrypted.
 */
export type Secrets = {
  seal(text: string, context: string): string;
  /** Throws {@link SecretError}. */
  open(sealed: string, context: string): string;
};

/** A stored secret that cannot be decrypted: its key is missing, or it was changed or moved. */
export class SecretError extends Error {
  readonly code: 'unknown_key' | 'changed';

  constructor(code: SecretError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SecretError';
    this.code = code;
  }
}

const FORM = /^v1:([0-9a-f]{8}):([A-Za-z0-9+/=]+)$/;
const KEY_FILE = 'secrets.key';
const KEY_PATTERN = /^[\x21-\x2b\x2d-\x7e]{16,}$/;

/**
 * Encrypts with the first key; decrypts with any of them, so that a key can be replaced. `keys`: texts of at least 16
 * characters.
 */
export function secretsUnder(keys: readonly string[]): Secrets {
  const ring = keys.map((text) => ({
    id: idOf(text),
    key: new Uint8Array(hkdfSync('sha256', text, '', 'secrets', 32)),
  }));
  const [first] = ring;
  if (!first) throw new TypeError('no key for secrets');
  return {
    seal: (text, context) => `v1:${first.id}:${seal(first.key, text, context)}`,
    open(sealed, context) {
      const [, id, bytes] = FORM.exec(sealed) ?? [];
      if (id === undefined || bytes === undefined) throw changed(context);
      const one = ring.find((each) => each.id === id);
      if (!one) throw unknownKey(context, id);
      try {
        return unseal(one.key, bytes, context);
      } catch (cause) {
        throw changed(context, cause);
      }
    },
  };
}

/** Tells keys apart without revealing them. */
const idOf = (key: string): string => createHash('sha256').update(`id of a key\n${key}`).digest('hex').slice(0, 8);

const changed = (context: string, cause?: unknown) =>
  new SecretError('changed', `the stored secret of ${context} was changed, or belongs to another record`, { cause });

const unknownKey = (context: string, id: string) =>
  new SecretError(
    'unknown_key',
    `the stored secret of ${context} was encrypted with the key ${id}, which is not in ADSWEEP_SECRETS_KEY: set the key that was used before as the second one`,
  );

/**
 * The secrets of a deployment. `setting`: `ADSWEEP_SECRETS_KEY`, one or two keys separated by a comma; '': the key in
 * the data folder, which the first process makes. Throws OperatorError if there is none and none can be made.
 */
export const openSecrets = (setting: string, dataDir: string): Secrets =>
  secretsUnder(setting === '' ? [keyInFolder(dataDir)] : setting.split(','));

function keyInFolder(dataDir: string): string {
  const file = join(dataDir, KEY_FILE);
  const key = readKey(file) ?? makeKey(file);
  if (!KEY_PATTERN.test(key))
    throw new OperatorError(
      `${file} does not contain a key: restore it from a backup, or remove it if no secret was stored`,
    );
  return key;
}

function readKey(file: string): string | null {
  try {
    return readIfPresent(file)?.trim() ?? null;
  } catch (error) {
    throw unusable(file, error);
  }
}

/** Of several processes that start together, one makes the key: a link to a whole file is created once. */
function makeKey(file: string): string {
  const whole = `${file}.${newSecret(8)}`;
  try {
    writeFileSync(whole, newSecret(32), { mode: 0o600, flag: 'wx', flush: true });
    linkSync(whole, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(file, error);
  } finally {
    rmSync(whole, { force: true });
  }
  return readFileSync(file, 'utf8').trim();
}

const unusable = (file: string, cause: unknown) =>
  new OperatorError(`${file} cannot be used: ${(cause as Error).message}; set ADSWEEP_SECRETS_KEY`, { cause });
