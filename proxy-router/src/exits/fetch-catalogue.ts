import type { Place } from '../providers/place.ts';
import { readCatalogue } from '../providers/read-catalogue.ts';

const DEADLINE_MS = 60_000;
const BYTES_MAX = 100_000_000;

/**
 * A vendor's catalogue at a URL; credentials in it are sent as Basic ones. Rejects when it is not answered in time, refused, too large or
 * no catalogue; no message has the URL in it, which may be a secret.
 */
export async function fetchCatalogue(url: string): Promise<Place[]> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('the catalogue was not answered in time')), DEADLINE_MS);
  try {
    const { address, headers } = withCredentialsApart(url);
    const answer = await fetch(address, { headers, signal: late.signal });
    if (!answer.ok) throw new Error(`the catalogue was answered ${answer.status}`);
    return readCatalogue(await readText(answer));
  } finally {
    clearTimeout(timer);
  }
}

/** fetch takes no URL with credentials. */
function withCredentialsApart(text: string): { address: URL; headers: Record<string, string> } {
  const address = new URL(text);
  const { username, password } = address;
  address.username = '';
  address.password = '';
  if (!username && !password) return { address, headers: {} };
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { address, headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } };
}

async function readText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) throw new Error(`the catalogue has more than ${BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
