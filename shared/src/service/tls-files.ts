import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { Type } from 'typebox';
import { useCertificate } from './certificates-in-use.ts';
import { ConfigError } from './load-config.ts';
import type { Logger } from './logger.ts';
import { OperatorError } from './operator-error.ts';

/**
 * Paths of PEM files: a certificate with those of its issuers, its key, and the authorities of the certificates that
 * clients need, '' for none.
 */
export type TlsFiles = { certificate: string; key: string; clients?: string };

/** What the files contain. `ca`: clients need a certificate by one of these authorities. */
export type TlsPair = { cert: string; key: string; ca?: string; requestCert?: true; rejectUnauthorized?: true };

/** How often the files are read again, in ms: certificates are renewed weeks before they expire. */
const READ_EVERY_MS = 10_000;

/** The setting that names a listener's certificate; `of`: what it serves, such as `the node API`. */
export const certificateSetting = (of: string) =>
  Type.String({
    default: '',
    description: `Path of a PEM file with the certificate of ${of} and those of its issuers, read again when it changes. Empty: http.`,
  });

/** The setting that names the certificate's key. */
export const keySetting = (of: string) =>
  Type.String({ default: '', description: `Path of a PEM file with the key of the certificate of ${of}.` });

/** The setting that names the authorities of clients. */
export const clientCaSetting = (of: string) =>
  Type.String({
    default: '',
    description: `Path of a PEM file with authorities: each client of ${of} must show a certificate by one of them. Read again when it changes. Empty: clients need none.`,
  });

/**
 * A listener's files by its settings, null: it serves http. Throws ConfigError when a certificate or its key is
 * missing.
 */
export function tlsFilesOf<Name extends string>(
  config: Record<Name, string>,
  certificate: Name,
  key: Name,
  clients: Name,
): TlsFiles | null {
  if ((config[certificate] === '') !== (config[key] === ''))
    throw new ConfigError([`${certificate} and ${key} are set together or not at all`]);
  if (config[certificate] === '' && config[clients] !== '') throw new ConfigError([`${clients} needs ${certificate}`]);
  if (config[certificate] === '') return null;
  return { certificate: config[certificate], key: config[key], clients: config[clients] };
}

/** Reads the files. Throws an OperatorError when one cannot be read, or they do not fit together. */
export function readTlsFiles({ certificate, key, clients = '' }: TlsFiles): TlsPair {
  try {
    const pair: TlsPair = { cert: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') };
    if (clients !== '')
      Object.assign(pair, { ca: readFileSync(clients, 'utf8'), requestCert: true, rejectUnauthorized: true });
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    throw new OperatorError(`the certificate ${certificate} with the key ${key}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

const versionOf = ({ cert, key, ca = '' }: TlsPair): string =>
  createHash('sha256').update(`${cert}\0${key}\0${ca}`).digest('hex');

/**
 * Hands the files' contents to `use`, now and each time they have changed. Files that cannot be used are logged once,
 * and the last good ones stay in use. Returns the function that stops it.
 */
export function followTlsFiles(
  files: TlsFiles,
  use: (pair: TlsPair) => void,
  logger: Logger,
  everyMs = READ_EVERY_MS,
): () => void {
  let version = '';
  let problem = '';
  let cert = '';
  const read = () => {
    try {
      const pair = readTlsFiles(files);
      problem = '';
      if (versionOf(pair) === version) return;
      use(pair);
      cert = pair.cert;
      if (version !== '') logger.info({ certificate: files.certificate }, 'a new certificate is in use');
      version = versionOf(pair);
    } catch (cause) {
      const { message } = cause as Error;
      if (message !== problem) logger.error({ cause }, 'the new certificate cannot be used, the last good one is');
      problem = message;
    }
  };
  read();
  const timer = setInterval(read, everyMs);
  const unuse = useCertificate(files.certificate, () => cert);
  return () => {
    clearInterval(timer);
    unuse();
  };
}
