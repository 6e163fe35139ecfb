import { HOUR_MS, MINUTE_MS } from '@adsweep/shared/durations.ts';
import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue, CatalogueTimes } from '@adsweep/shared/targeting/catalogue.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { CatalogueStore } from './catalogue-store.ts';
import { parseCatalogue, parseTimes } from './catalogue-text.ts';
import type { ReadCatalogue } from './lookup.ts';

/**
 * A copy of the proxy-router's catalogue; the last valid copy is kept while the router is unavailable, also across
 * restarts. `start` loads the saved copy and starts to refresh it; roles of one process that both start it share one
 * loop.
 */
export type CatalogueMirror = { read: ReadCatalogue; start(): Promise<Loop> };

/** Minimum time between two saved copies, and between two of which only the times differ: a copy has megabytes. */
const [SAVE_EVERY_MS, SAVE_TIMES_EVERY_MS] = [MINUTE_MS, HOUR_MS];

/**
 * Copies the result of `fetchCatalogue` every `everyMs`; `refreshed` is called after each valid copy. An empty
 * catalogue that was never verified is ignored: the proxy-router has not read the catalogues of its providers yet.
 */
export function catalogueMirror(
  fetchCatalogue: () => Promise<Catalogue>,
  copies: CatalogueStore,
  everyMs: number,
  logger: Logger,
  refreshed: () => void = () => {},
): CatalogueMirror {
  let catalogue: Catalogue | null = null;
  let saved: Catalogue | null = null;
  let savedAt = Number.NEGATIVE_INFINITY;
  let started: Promise<Loop> | null = null;

  const step = async () => {
    const fetched = await fetchCatalogue();
    if (fetched.pools.length === 0 && fetched.refreshed_at === null)
      throw new Error('the proxy-router has not read a catalogue of a provider yet');
    catalogue = fetched;
    refreshed();
    const everyMs = saved && hasSameLists(fetched, saved) ? SAVE_TIMES_EVERY_MS : SAVE_EVERY_MS;
    if (fetched === saved || performance.now() - savedAt < everyMs) return;
    await copies.save(fetched, new Date());
    [saved, savedAt] = [fetched, performance.now()];
  };
  const startOnce = async () => {
    catalogue = await copies.load();
    return startLoop(logger, { name: 'catalogue mirror', everyMs, step });
  };
  return {
    read: () => catalogue,
    start: () => {
      started ??= startOnce();
      return started;
    },
  };
}

/** Whether two catalogues differ in their times alone: {@link withTimes} keeps the lists. */
const hasSameLists = (one: Catalogue, other: Catalogue): boolean =>
  one.pools.length === other.pools.length &&
  one.pools.every(({ cities }, index) => cities === other.pools[index]?.cities);

const DEADLINE_MS = 5_000;

/**
 * Reads the proxy-router's catalogue: its times each time, and its lists when they have changed. Resolves to the same
 * object while nothing has changed. Rejects if the router does not respond in time, refuses the request or returns
 * something else.
 */
export function catalogueReader(proxyUrl: string, nodeToken: string): () => Promise<Catalogue> {
  let last: { etag: string | null; times: string; catalogue: Catalogue } | null = null;
  const read = async (path: string) => {
    const headers = { authorization: `Bearer ${nodeToken}` };
    const { isOk, status, headers: received, text } = await fetchInTime(proxyUrl + path, { headers }, DEADLINE_MS);
    if (!isOk) throw new Error(`the proxy-router responded with ${status} to GET ${path}`);
    return { text, etag: received.get('etag') };
  };
  return async () => {
    const { text } = await read('/catalogue/times');
    if (last?.times === text) return last.catalogue;
    const times = parseTimes(text);
    const etag = JSON.stringify(times.version);
    if (last?.etag === etag) last = { ...last, times: text, catalogue: withTimes(last.catalogue, times) };
    else {
      // Another replica may have other lists, which have another version than the times.
      const lists = await read('/catalogue');
      last = { times: lists.etag === etag ? text : '', etag: lists.etag, catalogue: await parseCatalogue(lists.text) };
    }
    return last.catalogue;
  };
}

/** The same lists, verified at other times. */
const withTimes = ({ pools }: Catalogue, { refreshed_at, countries }: CatalogueTimes): Catalogue => ({
  refreshed_at,
  pools: pools.map((pool) => ({ ...pool, refreshed_at: countries[pool.country_code] ?? pool.refreshed_at })),
});
