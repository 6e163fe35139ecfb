import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { CatalogueStore } from './catalogue-store.ts';
import type { ReadCatalogue } from './lookup.ts';

/** A copy of the proxy-router's catalogue; the last valid copy is kept while the router is unavailable, across restarts too. */
export type CatalogueMirror = Loop & { read: ReadCatalogue };

/** How often a copy is saved at the most. */
const SAVE_EVERY_MS = 60_000;

/**
 * Starts to mirror what `fetchCatalogue` answers, every `everyMs`, from the copy that was saved before; `refreshed` is told of each good
 * copy. A catalogue of which nothing is known yet is as none.
 */
export async function mirrorCatalogue(
  fetchCatalogue: () => Promise<Catalogue>,
  copies: CatalogueStore,
  everyMs: number,
  logger: Logger,
  refreshed: () => void = () => {},
): Promise<CatalogueMirror> {
  let catalogue = await copies.load();
  let savedAt = Number.NEGATIVE_INFINITY;
  const loop = startLoop(logger, {
    name: 'catalogue mirror',
    everyMs,
    turn: async () => {
      const fetched = await fetchCatalogue();
      if (fetched.pools.length === 0 && fetched.refreshed_at === null)
        throw new Error('the proxy-router has read no catalogue of a provider yet');
      catalogue = fetched;
      refreshed();
      if (performance.now() - savedAt < SAVE_EVERY_MS) return;
      await copies.save(fetched, new Date());
      savedAt = performance.now();
    },
  });
  return { read: () => catalogue, stop: loop.stop };
}
