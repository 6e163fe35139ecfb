import { setTimeout as sleep } from 'node:timers/promises';
import { isFinal, type ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { DEMO_PAGE, DEMO_SWEEP } from './exits.ts';

type Scan = {
  id: string;
  status: ScanStatus;
  error: string;
  public_report_url: string;
  redirect_chain: unknown[];
  elapsed_ms: number;
};
type Tag = { tag_slug: string; severity: string };

/** What a scan that stays in a state may lack. */
const ADVICE: Partial<Record<ScanStatus, string>> = {
  pending:
    ': no browser node takes it. GET /api/v1/fleet/nodes lists the nodes with what they wait for, their logs say more',
  crawled: ': no control plane with the role `checks` analyses it',
};

/** The shell command that sweeps the front page of the local ad world. */
export const sweepCommand = (baseUrl: string, apiKey: string): string =>
  `curl -s ${baseUrl}/api/v1/scans -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(DEMO_SWEEP)}'`;

const PAUSE_MS = 200;
/** How long a scan stays in one state before its wait is explained, and before it is given up: an attempt takes at most two minutes and a half. */
const WAITS = { silentMs: 15_000, endMs: 300_000 };

/**
 * Scans a page of the local ad world as a client would, prints the result and returns the report's URL. Throws if the API refuses a request, and if
 * the scan stays in one state for too long.
 */
export async function demoScan(
  baseUrl: string,
  apiKey: string,
  say: (text: string) => void,
  { silentMs, endMs } = WAITS,
): Promise<string> {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const answer = await fetch(baseUrl + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!answer.ok) throw new Error(`${method} ${path} returned ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  say(`scanning ${DEMO_PAGE.url} of the local ad world ...`);
  const geos = await call<{ country_code: string }[]>('GET', '/api/v1/geos');
  const isServed = geos.some(({ country_code }) => country_code === DEMO_PAGE.country_code);
  const country_code = isServed ? DEMO_PAGE.country_code : geos[0]?.country_code;
  if (country_code === undefined) throw new Error('the catalogue has no exits: GET /api/v1/geos returned none');
  let scan = await call<Scan>('POST', '/api/v1/scans', { ...DEMO_PAGE, country_code });
  let since = performance.now();
  for (let isSaid = false; !isFinal(scan.status); await sleep(PAUSE_MS)) {
    const before = scan.status;
    scan = await call<Scan>('GET', `/api/v1/scans/${scan.id}`);
    if (scan.status !== before) [since, isSaid] = [performance.now(), false];
    const waitedMs = performance.now() - since;
    const words = `scan ${scan.id} has been ${scan.status} for ${Math.round(waitedMs / 1_000)} s${ADVICE[scan.status] ?? ''}`;
    if (waitedMs >= silentMs && !isSaid) {
      isSaid = true;
      say(`  waiting: ${words}`);
    }
    if (waitedMs > endMs) throw new Error(words);
  }
  const tags = await call<Tag[]>('GET', `/api/v1/scans/${scan.id}/tags`);
  const found = tags.length === 0 ? 'no tags' : tags.map((tag) => `${tag.tag_slug} (${tag.severity})`).join(', ');
  say(
    `  ${scan.status}${scan.error ? ` ${scan.error}` : ''}: ${scan.redirect_chain.length} hops, ${found}, ${scan.elapsed_ms} ms`,
  );
  say(`  report: ${scan.public_report_url}`);
  return scan.public_report_url;
}
