import type { Client, ScanState } from '../client.ts';
import { pause } from '../send-patiently.ts';
import { isFinal, untilAnswered } from '../wait-for-scan.ts';
import type { Terminal } from './terminal.ts';
import type { Outcome } from './verdict.ts';

const POLL_MS = 2_000;
/** The longest page of a list. */
const PAGE = 200;
const PARALLEL_REQUESTS = 8;

/** Waits for scans and the scans of the ads that they find, and resolves to what became of each, in their order. */
export async function followScans(api: Client, ids: string[], terminal: Terminal): Promise<Outcome[]> {
  await waitForAll(api, ids, terminal);
  const outcomes = await readOutcomes(api, ids);
  const ads: string[] = [];
  for (const { scan } of outcomes)
    if (scan.ad_discovery) for await (const { id } of api.listScanChildren.each(scan.id, { limit: PAGE })) ads.push(id);
  if (ads.length === 0) return outcomes;
  await waitForAll(api, ads, terminal);
  return [...outcomes, ...(await readOutcomes(api, ads))];
}

/** One scan by its events. Several by their list: a stream for each would be too many. */
async function waitForAll(api: Client, ids: string[], terminal: Terminal): Promise<void> {
  const [only, ...others] = ids;
  if (only !== undefined && others.length === 0) {
    const onState = ({ status, retry_attempt }: ScanState) =>
      terminal.progress(`${status}${retry_attempt > 0 ? `, attempt ${retry_attempt + 1}` : ''} ...`);
    await api.scans.wait(only, { onState });
    return terminal.progress(null);
  }
  const open = new Set(ids);
  while (open.size > 0) {
    for (const some of chunks([...open], PAGE)) {
      const { items } = await untilAnswered(() => api.listScans({ scan_id: some.join(','), limit: PAGE }));
      for (const scan of items) if (isFinal(scan)) open.delete(scan.id);
    }
    terminal.bar(ids.length - open.size, ids.length, 'scans');
    if (open.size > 0) await pause(POLL_MS);
  }
  terminal.progress(null);
}

async function readOutcomes(api: Client, ids: string[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const some of chunks(ids, PARALLEL_REQUESTS))
    outcomes.push(
      ...(await Promise.all(
        some.map(async (id) => {
          const [scan, tags] = await Promise.all([api.getScan(id), api.listScanTags(id)]);
          return { scan, tags };
        }),
      )),
    );
  return outcomes;
}

function chunks<T>(all: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
}
