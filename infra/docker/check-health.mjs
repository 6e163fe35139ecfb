import { readFileSync } from 'node:fs';
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

/**
 * `node check-health.mjs <url> [<certificate> <key>]`: exits with 0 if the URL answers 200 within 4 s, and otherwise with 1, with the reason on standard error. An
 * image of its own kind, such as one with curl, would be larger by more than this file. Over https it shows the client
 * certificate of these PEM files; whose certificate it sees is no question, since a container asks itself.
 */
const [url = '', certificate, key] = process.argv.slice(2);

/** @type {(reason: string) => void} */
const fail = (reason) => {
  console.error(`${url}: ${reason}`);
  process.exit(1);
};

try {
  const shown = certificate && key ? { cert: readFileSync(certificate), key: readFileSync(key) } : {};
  const get = url.startsWith('https:') ? getHttps : getHttp;
  get(url, { ...shown, rejectUnauthorized: false, signal: AbortSignal.timeout(4_000) }, async (answer) => {
    const text = (await answer.toArray()).join('');
    if (answer.statusCode !== 200) fail(`${answer.statusCode} ${text}`);
    process.exit(0);
  }).on('error', (error) => fail(error.message));
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}
