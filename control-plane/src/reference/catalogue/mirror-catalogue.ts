import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { CatalogueStore } from './catalogue-store.ts';
import { parseCatalogue } from './catalogue-text.ts';
import type { ReadCatalogue } from './lookup.ts';

/**
 * A copy of the proxy-router's catalogue; the last valid copy is kept while the router is unavailable, also across restarts. `start` loads
 * the saved copy and starts to refresh it; roles of one process that both start it share one loop.
 */
export type CatalogueMirror = { read: ReadCatalogue; start(): Promise<Loop> };

/** Minimum time between two saved copies. */
const SAVE_EVERY_MS = 60_000;

/**
 * Copies the result of `fetchCatalogue` every `everyMs`; `refreshed` is called after each valid copy. An empty catalogue that was never
 * verified is ignored: the proxy-router has not read the catalogues of its providers yet.
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
    if (fetched === saved || performance.now() - savedAt < SAVE_EVERY_MS) return;
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

const DEADLINE_MS = 5_000;

/**
 * Reads the proxy-router's catalogue; a response that equals the previous one is not parsed again. Rejects if the router does not respond
 * in time, refuses the request or returns something else.
 */
export function catalogueReader(proxyUrl: string, nodeToken: string): () => Promise<Catalogue> {
  let last: { text: string; catalogue: Catalogue } | null = null;
  return async () => {
    const text = await fetchText(proxyUrl, nodeToken);
    if (last?.text !== text) last = { text, catalogue: await parseCatalogue(text) };
    return last.catalogue;
  };
}

async function fetchText(proxyUrl: string, nodeToken: string): Promise<string> {
  const headers = { authorization: `Bearer ${nodeToken}` };
  const { isOk, status, text } = await fetchInTime(`${proxyUrl}/catalogue`, { headers }, DEADLINE_MS);
  if (!isOk) throw new Error(`the proxy-router responded with ${status} to a request for its catalogue`);
  return text;
}
