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

/** The shell command that sweeps the front page of the local ad world. */
export const sweepCommand = (baseUrl: string, apiKey: string): string =>
  `curl -s ${baseUrl}/api/v1/scans -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(DEMO_SWEEP)}'`;

/** Scans a page of the local ad world as a client would, prints the result and returns the report's URL. Throws if the API refuses a request. */
export async function demoScan(baseUrl: string, apiKey: string, say: (text: string) => void): Promise<string> {
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
  let scan = await call<Scan>('POST', '/api/v1/scans', { ...DEMO_PAGE, country_code });
  while (!isFinal(scan.status)) {
    await sleep(200);
    scan = await call<Scan>('GET', `/api/v1/scans/${scan.id}`);
  }
  const tags = await call<Tag[]>('GET', `/api/v1/scans/${scan.id}/tags`);
  const found = tags.length === 0 ? 'no tags' : tags.map((tag) => `${tag.tag_slug} (${tag.severity})`).join(', ');
  say(
    `  ${scan.status}${scan.error ? ` ${scan.error}` : ''}: ${scan.redirect_chain.length} hops, ${found}, ${scan.elapsed_ms} ms`,
  );
  say(`  report: ${scan.public_report_url}`);
  return scan.public_report_url;
}
