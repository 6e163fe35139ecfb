import { domainToUnicode } from 'node:url';

/**
 * One character as UTF-8 bytes in percent-encoding. Overlong forms and surrogates are among them: decoding refuses
 * these.
 */
const ENCODED_CHARACTER =
  /%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}/gi;

/**
 * A URL as people read it: the host in Unicode, percent-encoded characters decoded once, `+` in the query as a space.
 * What is not valid percent-encoded UTF-8 stays as it is.
 */
export function decodeUrl(url: string): string {
  const [, before = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  return decoded(withUnicodeHost(before)) + decoded(query.replaceAll('+', ' ')) + decoded(fragment);
}

function withUnicodeHost(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  const readable = host.includes('xn--') ? domainToUnicode(host) : '';
  return readable === '' ? url : url.replace(host, readable);
}

const decoded = (text: string): string => text.replaceAll(ENCODED_CHARACTER, decodedOrSame);

function decodedOrSame(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
